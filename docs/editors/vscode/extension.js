'use strict';

// The client of ufbuild lsp: one server for the window, which finds the campaign of each file itself.
const { workspace } = require('vscode');
const { LanguageClient } = require('vscode-languageclient/node');

let client;

function activate() {
  const settings = workspace.getConfiguration('ufbuild');
  const server = { command: settings.get('path', 'ufbuild'), args: ['lsp', ...settings.get('arguments', [])] };
  client = new LanguageClient('ufbuild', 'ufbuild', server, {
    documentSelector: [
      { scheme: 'file', language: 'ufbuild' },
      { scheme: 'file', language: 'markdown' },
    ],
  });
  return client.start();
}

function deactivate() {
  return client ? client.stop() : undefined;
}

module.exports = { activate, deactivate };

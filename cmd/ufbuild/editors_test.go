package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

var editorDir = filepath.Join("..", "..", "docs", "editors")

// TestNeovimSetup loads the file that docs/editors hands out into a real Neovim and waits for a problem in a
// prompt of a campaign that needs no configuration of its own.
func TestNeovimSetup(t *testing.T) {
	if _, err := exec.LookPath("nvim"); err != nil {
		t.Skip("there is no neovim")
	}
	setup, err := filepath.Abs(filepath.Join(editorDir, "neovim.lua"))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte("task \"a\" {\n  command = [\"true\"]\n}\n"), 0o644))
	cmd := exec.Command("nvim", "--headless", "--clean", "-n", "-c", "luafile "+setup, "-c", "edit campaign.hcl",
		"-c", `call setline(2, '  comand = ["true"]')`,
		"-c", `lua print(vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 20), vim.diagnostic.get(0)[1].message)`, "-c", "qall!")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), `Did you mean "command"?`)
}

// TestVSCodeExtension reads what the extension hands to the editor: every file it names is there and is JSON,
// the grammar knows the blocks and symbols of the language, and the client starts the server.
func TestVSCodeExtension(t *testing.T) {
	dir := filepath.Join(editorDir, "vscode")
	read := func(name string) map[string]any {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		require.NoError(t, err)
		var doc map[string]any
		require.NoError(t, json.Unmarshal(text, &doc), name)
		return doc
	}
	manifest := read("package.json")
	contributes := manifest["contributes"].(map[string]any)
	for _, g := range contributes["grammars"].([]any) {
		grammar := read(strings.TrimPrefix(g.(map[string]any)["path"].(string), "./"))
		require.Equal(t, g.(map[string]any)["scopeName"], grammar["scopeName"])
	}
	language := contributes["languages"].([]any)[0].(map[string]any)
	read(strings.TrimPrefix(language["configuration"].(string), "./"))
	grammar, err := os.ReadFile(filepath.Join(dir, "syntaxes", "ufbuild.tmLanguage.json"))
	require.NoError(t, err)
	symbols := regexp.MustCompile(`\(var\|[a-z|]+\)`).FindString(string(grammar))
	for _, one := range []string{"task", "group", "each", "matrix", "loop", "item", "self", "vars", "profile", "reference"} {
		require.NotEmpty(t, lang.RootDoc(one))
		require.Contains(t, symbols, one)
	}
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("there is no node to run the client")
	}
	require.Equal(t, `ufbuild ["lsp","--preset","p"] [{"scheme":"file","language":"ufbuild"},{"scheme":"file","language":"markdown"}]`, startClient(t, dir))
}

// startClient activates the extension with the editor's modules made up, and returns what it starts.
func startClient(t *testing.T, dir string) string {
	t.Helper()
	modules := t.TempDir()
	for name, text := range map[string]string{
		"vscode/index.js": `exports.workspace = { getConfiguration: () => ({ get: (name, other) => name === 'arguments' ? ['--preset', 'p'] : other }) };`,
		"vscode-languageclient/node.js": `exports.LanguageClient = class {
  constructor(id, name, server, options) { this.text = server.command + ' ' + JSON.stringify(server.args) + ' ' + JSON.stringify(options.documentSelector); }
  start() { process.stdout.write(this.text); }
};`,
	} {
		path := filepath.Join(modules, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	cmd := exec.Command("node", "-e", "require('./extension.js').activate()")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NODE_PATH="+modules)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

// TestHelixSetup reads the settings that the page shows.
func TestHelixSetup(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(editorDir, "README.md"))
	require.NoError(t, err)
	for _, b := range docBlocks(string(page)) {
		if b.info != "toml" {
			continue
		}
		var settings struct {
			Server map[string]struct {
				Command string
				Args    []string
			} `toml:"language-server"`
			Language []struct {
				Name    string
				Servers []string `toml:"language-servers"`
			}
		}
		require.NoError(t, toml.Unmarshal([]byte(b.text), &settings))
		require.Equal(t, []string{"lsp"}, settings.Server["ufbuild"].Args)
		require.Len(t, settings.Language, 2)
		return
	}
	t.Fatal("the page shows no settings")
}

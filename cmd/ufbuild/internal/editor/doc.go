// Package editor speaks the Language Server Protocol: it carries what an editor asks to a session of
// package lsp and the answers back.
//
// # The nouns
//
// A [Server] is one connection, most often the standard input and output of a process that the editor
// started.
//
// # The promises
//
// Messages are handled one after the other, in their order. Diagnostics are sent when no message waits, so
// a burst of keys is one look: first at the blocks that were edited, then, when nobody types, at the whole
// campaign. A mistake of ours in one answer is an error of that request, and the next one
// is answered.
//
// # The dangers
//
// Only file: addresses are known; other documents are ignored.
package editor

// Package lsp is what an editor can ask about campaigns: diagnostics as somebody types, completion, hover,
// signatures, definition, references, rename, symbols, semantic tokens, formatting and fixes. It knows nothing of how
// questions arrive.
//
// # The nouns
//
// A [Session] holds the files that are open in an editor and, for each campaign one of them belongs to, the
// campaign as it was last understood. Positions are those of the Language Server Protocol: lines from 0,
// columns in UTF-16 units, and the types here marshal to the protocol's JSON.
//
// # The promises
//
// What is open counts instead of what is on disk. A load after an edit parses only what changed. Broken
// files are the usual case: while one block does not parse, the others are still known, and names are
// completed from the last campaign that did parse. No text makes a session panic.
//
// # The dangers
//
// A Session is used by one goroutine. Files that are not open are read from disk at every load, so the
// caller decides how often that is: once for a burst of keys.
package lsp

// Package web is the page of a campaign: what `ufbuild report` writes to a file, what `ufbuild graph
// --format html` prints, and what `ufbuild ui` serves.
//
// # The nouns
//
// A [Document] is everything the page shows, as plain data; package main makes it from the journal, the
// ledger and the store. Texts (logs, prompts, outputs, patches) are not in it: a report carries bounded
// copies beside it, the live page asks for them. [Write] makes one self-contained file of a document and
// its texts. [Server] serves the same page over loopback and keeps it up to date.
//
// # The promises
//
// The page asks nothing of the outside: styles and scripts are in it, and a content security policy with
// their digests forbids everything else, also what a log or a finding may try to smuggle in. A file works
// from file://. All text is put in as text.
//
// # The dangers
//
// The server can spend money (a retry) on behalf of whoever speaks to it. Every call but the empty page
// needs the token, in a header that no other site can make a browser send; calls for another host name or
// from another origin are refused, so a name that is bound anew to 127.0.0.1 gets nothing.
package web

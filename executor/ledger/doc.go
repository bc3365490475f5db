// Package ledger keeps accounts across builds: what each attempt took and what hits saved.
//
// # The nouns
//
// An [Entry] is one line: an attempt with its outcome, time and usage, or what the hits of one build
// saved for one task. A [Ledger] appends entries; [Read] gives them back; a [History] answers what a
// node is likely to take, as an [Estimate] from past good attempts.
//
// # The promises
//
// A ledger is a directory of append-only logs below the store, so it knows all campaigns of a user
// and survives the loss of any of them. Several builds write at once, each to a log of its own; logs
// are reused, so their number is bounded by how many builds ever ran at the same time. Appending is
// one write, whatever the size of the ledger, and nothing is synced to disk for it: the store has
// the same facts durably. An attempt that is accounted twice counts once.
//
// Usage that is unknown stays unknown: a [Sum] says whether it is a lower bound.
//
// # The dangers
//
// Times are display only, and the order of entries of different builds means nothing. Accounts are
// not proof: nothing decides by them whether a node is fresh.
package ledger

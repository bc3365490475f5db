// Package journal keeps what belongs to one campaign: which attempt each address reads, what a person
// retried or took back, and the history of builds.
//
// # The promises
//
// The journal is an append-only file, .ufbuild/journal.log, one checked line a record. A torn last
// line is cut by the next writer; damage in the middle is skipped and reported. [Read] never writes
// and never waits, so any verb may look while a build writes. Records count in the order in which
// they stand; the times in them are for people.
//
// Beside it lies .ufbuild/checkpoint, what the records come to, left by the writer that closes the journal. Reading
// costs what counts now and what came since; builds, decisions and the attempts of an address are read when a
// method of [View] is asked for them. It is a hint: any doubt means that the journal is read.
//
// Deleting the journal loses selections and history, never results: the store still has every
// attempt, and the next build selects from it again and pays nothing.
//
// # The dangers
//
// A writer holds the campaign's lock ([Acquire]); two writers would interleave decisions.
package journal

// Package tiered puts a store on this machine in front of one that machines share, so that what one machine made no other has
// to pay for.
//
// [Store] is a cache.Store: everything is read from and written to the local store, as if there were no other. Beside that,
// [Store.Fetch] looks under a key in the shared store and takes what it finds into the local one, and [Store.Publish] sends an
// attempt of this machine there, in the background. Who decides about nodes calls Fetch before anything is paid for, and
// Publish when an attempt was found good.
//
// The promises:
//
//   - The shared store is never a reason for a task to fail or to wait for long. The first trouble is told, once; then the
//     store is left alone until the process ends, and only the local one counts.
//   - An attempt is visible when all its blobs are here, and verified. Where it came from stays with it, in cache.From.
//   - An attempt that this machine has is not taken again: a retry that discarded it stands. Only blobs that it lost are
//     fetched again.
//   - Nothing is remembered of what the shared store did not have: the next look may find it.
//   - What could not be sent, since the store was down or the process was killed, is in the outbox, a directory with a small file
//     for each, and is sent by a later Flush.
//   - Nothing is believed: who fetches says with a function whether what an attempt left is possible, and judges it by its
//     own contracts.
//
// A Store made with [Options.Virtual] writes nothing anywhere, for verbs that only look: what Fetch finds is there until it
// is closed, and its blobs are read from the shared store as they are asked for.
package tiered

// Package cache says what ufbuild remembers: blobs by digest (the CAS) and attempts by key (the action cache).
//
// The nouns:
//
//   - A blob is an immutable byte string named by its [digest.Digest]. A tree is a directory listing, itself a blob.
//   - A [Key] is the digest of a manifest: everything in an action that can change its outputs.
//   - An [Attempt] is one execution under a key, with an ordinal from 1 that no other attempt of the key ever has. It is
//     not stored as such: small [Record] values are appended as things happen, and [Fold] turns the records of a key
//     into its attempts. A record is never changed or removed.
//   - A [Verdict] says what a contract thought of an attempt's outputs. It is keyed apart, by the contract and the
//     digests it judged, so that an edited contract judges again and pays nobody.
//   - A [Discard] says that a person retried: the attempt is no longer chosen by key. A restore record takes it back.
//   - A [Store] holds all of it for every campaign of a user.
//
// The promises:
//
//   - Records carry their own order (ordinals, rounds, retry ids). Folding is a function of the set of records alone: not
//     of their order, not of a clock, so several processes and machines may append at once.
//   - What was appended is visible to every handle of the store at once, and durable after [Store.Sync].
//   - Bytes handed out were verified against their digest. A blob that is gone is [ErrMissing], one that was damaged is
//     [ErrCorrupt]; neither is terminal, both are misses with a reason.
//   - Readers keep kinds, fields and outcomes they do not know.
//
// The dangers: a record may name a blob that is not there (power loss, a deleted file), so presence is asked of the CAS
// and never concluded from a record; and times in records are for display, nothing may be decided by them.
package cache

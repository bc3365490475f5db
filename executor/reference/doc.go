// Package reference fetches pinned outside material into the store and records it in the lock file.
//
// # The nouns
//
// A reference is declared by a campaign: paths of one commit of a repository, or the bytes at an address
// with their SHA-256. A [Pin] says what a fetch of it found: the digest of a tree or of a blob. The
// [Lock] is all pins of a campaign; its file is text made for diffs and lies in version control. A
// [Fetcher] makes pins.
//
// # The promises
//
// Only a Fetcher uses the network, and only ufbuild lock uses a Fetcher: a build reads the lock file and
// the store. What was fetched is what was asked for, to the byte: git names trees by their content, and
// an address without the right SHA-256 stores nothing. The same pins give the same file, whatever the
// order of fetching.
//
// # The dangers
//
// The bytes live in the store alone. Another machine, or a store that was trimmed, needs ufbuild lock
// once more; it fetches what is not there and the file stays as it is. Fetching a repository runs git
// with the user's configuration and credentials.
package reference

// Package source names the content of source files: files that no task produces.
//
// A [Files] answers with the digest, permission bits and link target of files below one root. It
// remembers digests under the stat signature of a file (device, inode, size, mtime, ctime, mode), so
// an untouched file is never read twice. The racy rule of git's index holds: a file as new as the
// moment it was hashed is hashed again next time.
//
// Dangers: digests are true for the instant they were taken. Whoever copies the bytes later checks
// them against the digest (see package workspace).
package source

import "github.com/ufbuild/ufbuild/cache/digest"

// File is one source file as it was when it was looked at.
type File struct {
	Path   string        // slash path below the root; also its place in a workspace
	Digest digest.Digest // of its bytes; zero for a link
	Mode   uint32        // permission bits
	Target string        // target of a symbolic link; "" for a regular file
}

// Exec reports whether the owner may execute the file.
func (f File) Exec() bool { return f.Mode&0o100 != 0 }

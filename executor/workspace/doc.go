// Package workspace makes the directory of one attempt and takes its files out again.
//
// [Materialize] lays bytes into a new directory; [Capture] stores what a process left there; [Reap]
// removes it. A workspace is <attempt>/ws, beside it lies the log.
//
// Promises:
//   - Every byte of a source is checked against its digest on the way; a source that is not what it was
//     hashed as is a [Changed] error, and nothing runs on it.
//   - What is laid depends on the key alone: a source is 0644, or 0755 when executable, a mount has no write
//     bits, an inherited file has the mode it was captured with; the umask changes none of it.
//   - No file is written or read outside of the directory, whatever links the task or a stored tree holds.
//   - Capture takes regular files, links and directories, with permission bits. Anything it cannot take, or
//     must not, is a line in Problems that names the path; a pipe or socket never blocks it.
//   - A secret value in an output is a problem, and it is *** in what is stored.
//   - The reserved .uf/ and .git are in no tree and no list of leftovers.
//
// Dangers: [Reap] deletes. Call it only when everything was captured.
package workspace

import (
	"fmt"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
)

// Names inside the directory of an attempt.
const (
	Dir = "ws"  // the workspace
	Log = "log" // what the process printed
	Tmp = "tmp" // for temporary files, outside of what is captured
)

// Reserved is the directory in a workspace that belongs to ufbuild.
const Reserved = ".uf"

// MountDir is where mounts lie, read-only.
const MountDir = Reserved + "/in"

// Spec says what is laid. On equal paths later fields win over earlier ones: trees, sources, mounts, files.
type Spec struct {
	Root    string // absolute directory that Sources are below
	Trees   []Mount
	Sources []source.File
	Mounts  []Mount
	Files   []File
}

// Mount is stored bytes to lay.
type Mount struct {
	Path   string // slash path in the workspace; "" for a tree at its root
	Digest digest.Digest
	Tree   bool   // Digest names an encoded cache.Tree
	Mode   uint32 // permission bits of a file
}

// File is given bytes to lay.
type File struct {
	Path  string
	Bytes []byte
	Mode  uint32 // permission bits
}

// Output is what to capture: one file, or all files that match one of globs.
type Output struct {
	Name string
	Path string
	Tree []string
}

// Captured is what Capture took.
type Captured struct {
	Outputs   []cache.Output // one for each Output, in their order
	Leftovers digest.Digest  // encoded cache.Tree of what was not declared, or zero
	Truncated bool           // Leftovers is not everything
	Given     digest.Digest  // encoded cache.Tree of the sources that trees changed or deleted, or zero
	Problems  []string       // why an output is not what it was declared to be, one line each, the first hundred
}

// Changed says that a source is not what it was hashed as.
type Changed struct{ Path string }

// Error implements error.
func (e *Changed) Error() string {
	return fmt.Sprintf("materialize %s: the file changed since it was hashed", e.Path)
}

package cache

import (
	"github.com/ufbuild/ufbuild/cache/digest"
)

// EntryKind is what a tree entry is.
type EntryKind string

// The kinds of entries.
const (
	File EntryKind = "file"
	Dir  EntryKind = "dir"
	Link EntryKind = "link"
)

// Entry is one path of a Tree.
type Entry struct {
	Path   string // slash-separated, satisfies CleanPath
	Kind   EntryKind
	Mode   uint32        // permission bits of a File or Dir, 0 for a Link
	Digest digest.Digest // of a File
	Target string        // of a Link, as stored in it; may lead anywhere, see LinkInside
}

// Tree is a whole snapshot of files. Parents of a path need no entry of their own. A path below a File or a Link cannot be
// written, so no tree can write through a link.
type Tree struct {
	Entries []Entry
	// Deleted and Changed are paths that this tree deleted or changed relative to what it inherited.
	Deleted, Changed []string
}

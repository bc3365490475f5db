package source

import (
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/ufbuild/ufbuild/executor/stamp"
)

// FS returns the directory as others look at it: links are followed wherever they lead, and nothing is left out but what
// ufbuild and git keep. What is asked of it is remembered like the looks of f itself.
func (f *Files) FS() fs.FS { return watchedFS{f, os.DirFS(f.root)} }

type watchedFS struct {
	files *Files
	disk  fs.FS
}

// Open implements [fs.FS].
func (w watchedFS) Open(name string) (fs.File, error) {
	w.see(name, true)
	return w.disk.Open(name)
}

// Stat implements [fs.StatFS].
func (w watchedFS) Stat(name string) (fs.FileInfo, error) {
	w.see(name, true)
	return fs.Stat(w.disk, name)
}

// Lstat and ReadLink implement [fs.ReadLinkFS].
func (w watchedFS) Lstat(name string) (fs.FileInfo, error) {
	w.see(name, false)
	return fs.Lstat(w.disk, name)
}

func (w watchedFS) ReadLink(name string) (string, error) {
	w.see(name, false)
	return fs.ReadLink(w.disk, name)
}

// ReadDir implements [fs.ReadDirFS].
func (w watchedFS) ReadDir(name string) ([]fs.DirEntry, error) {
	if kept(name) {
		return nil, nil // our own work changes it all the time
	}
	names, err := w.files.list(name)
	if err == nil {
		entries := make([]fs.DirEntry, len(names))
		for i := range names {
			entries[i] = watchedName{w, name, &names[i]}
		}
		return entries, nil
	}
	entries, err := fs.ReadDir(w.disk, name)
	if err == nil {
		w.files.observe(name, true, torn) // a link leads out of the directory, or it changes
	}
	return entries, err
}

// watchedName implements [fs.DirEntry].
type watchedName struct {
	fs  watchedFS
	dir string
	of  *dirName
}

func (n watchedName) Name() string { return n.of.name }
func (n watchedName) IsDir() bool  { return n.of.dir }

func (n watchedName) Type() fs.FileMode {
	switch {
	case n.of.dir:
		return fs.ModeDir
	case n.of.link:
		return fs.ModeSymlink
	case n.of.file:
		return 0
	}
	return fs.ModeIrregular
}

func (n watchedName) Info() (fs.FileInfo, error) { return n.fs.Lstat(path.Join(n.dir, n.of.name)) }

// see comes before the look itself: what changes in between is seen as it was before, and does not hold.
func (w watchedFS) see(name string, follow bool) {
	if !kept(name) && w.files.ready() == nil {
		w.files.observe(name, follow, stamp.Stat(w.files.dirFD, name, follow))
	}
}

// kept reports whether a path is in a directory of ufbuild or git.
func kept(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return first == ".git" || first == ".ufbuild"
}

package source

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"time"

	"golang.org/x/sys/unix"

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
	if info, ok := w.info(name, true); ok {
		return info, nil
	}
	return fs.Stat(w.disk, name)
}

// Lstat and ReadLink implement [fs.ReadLinkFS].
func (w watchedFS) Lstat(name string) (fs.FileInfo, error) {
	if info, ok := w.info(name, false); ok {
		return info, nil
	}
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
func (w watchedFS) see(name string, follow bool) (sig signature) {
	if !kept(name) && w.files.ready() == nil {
		sig = stamp.Stat(w.files.dirFD, name, follow)
		w.files.observe(name, follow, sig)
	}
	return sig
}

// info answers with what is seen. It is false where that is nothing, of which the disk says why.
func (w watchedFS) info(name string, follow bool) (fs.FileInfo, bool) {
	sig := w.see(name, follow)
	return seen{path.Base(name), sig}, sig != absent && fs.ValidPath(name)
}

// seen implements [fs.FileInfo].
type seen struct {
	name string
	sig  signature
}

func (s seen) Name() string       { return s.name }
func (s seen) Size() int64        { return s.sig.Size }
func (s seen) ModTime() time.Time { return time.Unix(0, s.sig.Mtime) }
func (s seen) IsDir() bool        { return s.Mode().IsDir() }
func (s seen) Sys() any           { return nil }

func (s seen) Mode() fs.FileMode {
	mode := fs.FileMode(s.sig.Mode & 0o777)
	for _, b := range [...]struct {
		bit uint32
		is  fs.FileMode
	}{{unix.S_ISUID, fs.ModeSetuid}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISVTX, fs.ModeSticky}} {
		if s.sig.Mode&b.bit != 0 {
			mode |= b.is
		}
	}
	switch s.sig.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	default:
		mode |= fs.ModeIrregular
	}
	return mode
}

// kept reports whether a path is in a directory of ufbuild or git.
func kept(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return first == ".git" || first == ".ufbuild"
}

package workspace

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/source"
)

// found is one path met below a directory.
type found struct {
	path  string
	st    unix.Stat_t
	empty bool // a directory without entries
}

func (f *found) kind() uint32 { return f.st.Mode & unix.S_IFMT }
func (f *found) mode() uint32 { return f.st.Mode & 0o777 }

// scanner lists what is below a directory, once.
type scanner struct {
	dir     int                    // just opened: it is read itself
	of      uint64                 // its inode, where that is asked for; see sealOf
	laid    *Laid                  // what was laid there, so that directories which stayed as they were are not listed; nil for none
	enter   func(path string) bool // whether to look into a directory
	closed  closed                 // the directory is ours: open what its maker closed, and note it here; nil where it is not
	found   []found
	trouble []string // directories that cannot be read
	long    []string // directories whose path is too long for the system
}

// scan lists everything below dir for which enter is true, sorted by path.
func (s *scanner) scan() error {
	if _, err := s.in("", opensDir); err != nil {
		return err
	}
	slices.SortFunc(s.found, func(a, b found) int { return strings.Compare(a.path, b.path) })
	return nil
}

// inodeOf is the number of what is open; 0 when it cannot be had.
func inodeOf(fd int) uint64 {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return 0
	}
	return st.Ino
}

// regular returns what the scan saw at a path that is a regular file, else nil.
func (s *scanner) regular(path string) *unix.Stat_t {
	i, ok := slices.BinarySearchFunc(s.found, path, func(f found, path string) int { return strings.Compare(f.path, path) })
	if !ok || s.found[i].kind() != unix.S_IFREG {
		return nil
	}
	return &s.found[i].st
}

// size is that of all files that were found, in bytes.
func (s *scanner) size() (n int64) {
	for i := range s.found {
		if s.found[i].kind() == unix.S_IFREG {
			n += s.found[i].st.Size
		}
	}
	return n
}

// in lists one directory, which has mode, and says whether it is empty. A directory that vanishes is an empty one.
func (s *scanner) in(dir string, mode uint32) (empty bool, err error) {
	fd, err := s.open(dir, mode)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR):
		return true, nil
	case errors.Is(err, unix.EACCES) && dir != "":
		s.trouble = append(s.trouble, dir)
		return false, nil
	case errors.Is(err, unix.ENAMETOOLONG):
		s.long = append(s.long, dir)
		return false, nil
	case err != nil:
		return false, wrap("read directory", name(dir), err)
	}
	if dir != "" {
		defer unix.Close(fd)
	}
	entries, err := effect.ReadDir(fd)
	if err != nil {
		return false, wrap("read directory", name(dir), err)
	}
	slices.SortFunc(entries, func(a, b effect.DirEntry) int { return strings.Compare(a.Name, b.Name) })
	looks := lookAt(fd, entries)
	s.found = slices.Grow(s.found, len(entries))
	prefix := ""
	if dir != "" {
		prefix = dir + "/"
	}
	for i, e := range entries {
		err := s.one(fd, prefix+e.Name, e.Name, looks.of(i))
		if errors.Is(err, unix.EACCES) && s.closed != nil { // it may be listed and not searched
			err = s.closed.unlock(dir, mode, func(mode uint32) error { return effect.Fchmod(fd, mode, name(dir)) })
			if err == nil {
				err = s.one(fd, prefix+e.Name, e.Name, nil)
			}
		}
		if errors.Is(err, unix.EACCES) && dir != "" {
			s.trouble = append(s.trouble, dir)
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return len(entries) == 0, nil
}

func name(dir string) string {
	if dir == "" {
		return "."
	}
	return dir
}

// looks are at the entries of a directory, on all processors; nil where they are few. One that failed is made once more by who needs it.
type looks []struct {
	st unix.Stat_t
	ok bool
}

// manyEntries is how many are looked at on all processors.
const manyEntries = 64

func lookAt(dir int, entries []effect.DirEntry) looks {
	if len(entries) < manyEntries {
		return nil
	}
	out := make(looks, len(entries))
	_ = source.Each(len(entries), func(i int) error {
		out[i].ok = effect.Fstatat(dir, entries[i].Name, &out[i].st, unix.AT_SYMLINK_NOFOLLOW) == nil
		return nil
	})
	return out
}

func (l looks) of(i int) *unix.Stat_t {
	if l == nil || !l[i].ok {
		return nil
	}
	return &l[i].st
}

// one takes in one directory entry, which is called base below an open directory, and looks at it where nobody did.
func (s *scanner) one(dir int, p, base string, looked *unix.Stat_t) error {
	if path.Base(base) == ".git" || p == Reserved {
		return nil
	}
	f := found{path: p}
	if looked != nil {
		f.st = *looked
	} else if err := effect.Fstatat(dir, base, &f.st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		if errors.Is(err, unix.ENOENT) {
			return nil
		}
		return wrap("read", p, err)
	}
	if s.closed != nil {
		s.closed.meet(&f)
	}
	isDir := f.kind() == unix.S_IFDIR
	if isDir && !s.enter(p) {
		return nil
	}
	at := len(s.found)
	s.found = append(s.found, f)
	if !isDir {
		return nil
	}
	empty, err := false, error(nil)
	if s.laid.isDir(&f) {
		empty, err = s.known(p)
	} else {
		empty, err = s.in(p, f.mode())
	}
	s.found[at].empty = empty
	return err
}

// known is in of a directory that holds what was laid in it.
func (s *scanner) known(dir string) (empty bool, err error) {
	empty = true
	for p := range s.laid.children(dir) {
		empty = false
		if err := s.one(s.dir, p, p, nil); err != nil {
			return false, err
		}
	}
	return empty, nil
}

// open opens a directory, which has mode, never through a link. The first is open.
func (s *scanner) open(dir string, mode uint32) (int, error) {
	if dir == "" {
		return s.dir, nil
	}
	const flags = unix.O_RDONLY | unix.O_DIRECTORY
	fd, err := openBeneath(s.dir, dir, flags, 0, unix.RESOLVE_NO_SYMLINKS)
	if errors.Is(err, unix.EACCES) && s.closed != nil {
		err = s.closed.unlock(dir, mode, func(mode uint32) error { return effect.Fchmodat(s.dir, dir, mode, 0) })
		if err != nil {
			return -1, err
		}
		fd, err = openBeneath(s.dir, dir, flags, 0, unix.RESOLVE_NO_SYMLINKS)
	}
	return fd, err
}

// unwrap strips the path that os puts around a system error.
func unwrap(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

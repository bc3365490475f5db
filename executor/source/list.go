package source

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

// dirName is one entry of a directory.
type dirName struct {
	name string
	dir  bool
	file bool // a regular file or a link
	link bool
}

// listing is what was in a directory, sorted, for as long as the directory does not change.
type listing struct {
	sig   signature
	at    int64
	names []dirName
}

// list returns the sorted entries of a directory. A listing is kept as long as the signature of the
// directory, so that many globs over one tree read it once; the racy rule holds here too.
func (f *Files) list(dir string) ([]dirName, error) {
	if dir == "" {
		dir = "."
	}
	fd, err := f.openAt(dir, unix.O_PATH|unix.O_DIRECTORY)
	if err != nil {
		f.observe(dir, true, absent)
		return nil, err
	}
	defer unix.Close(fd)
	now := coarseNow()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, pathError("read directory", dir, err)
	}
	sig := stamp.SignatureOf(&st)
	f.observe(dir, true, sig)
	f.mu.RLock()
	known := f.listings[dir]
	f.mu.RUnlock()
	if known != nil && known.sig == sig && sig.Newest() < known.at {
		return known.names, nil
	}
	names, err := f.readNames(dir)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	f.listings[dir] = &listing{sig: sig, at: now, names: names}
	f.mu.Unlock()
	return names, nil
}

// Listed reports whether somebody was told what is in a directory below the root, "." for it.
func (f *Files) Listed(dir string) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.listings[dir] != nil
}

// listingsSettled reports whether every directory that was listed within the tick of its last change still holds what was
// seen: another name may have come after the look without a trace.
func (f *Files) listingsSettled() bool {
	young := map[string]*listing{}
	f.mu.RLock()
	for dir, l := range f.listings {
		if l.sig.Newest() >= l.at {
			young[dir] = l
		}
	}
	f.mu.RUnlock()
	for dir, l := range young {
		now := coarseNow()
		names, err := f.readNames(dir)
		if err != nil || l.sig.Newest() >= now || !slices.Equal(names, l.names) || stamp.Stat(f.dirFD, dir, true) != l.sig {
			return false
		}
	}
	return true
}

// readNames reads a directory.
func (f *Files) readNames(dir string) ([]dirName, error) {
	fd, err := f.openAt(dir, unix.O_RDONLY|unix.O_DIRECTORY)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	found, err := effect.ReadDir(fd)
	if err != nil {
		return nil, fmt.Errorf("read directory %s: %w", dir, err)
	}
	names := make([]dirName, 0, len(found))
	for _, e := range found {
		kind := e.Kind
		if kind == unix.DT_UNKNOWN {
			if kind, err = kindAt(fd, e.Name); errors.Is(err, unix.ENOENT) {
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("read directory %s: %s: %w", dir, e.Name, err)
			}
		}
		link := kind == unix.DT_LNK
		names = append(names, dirName{name: e.Name, dir: kind == unix.DT_DIR, file: kind == unix.DT_REG || link, link: link})
	}
	slices.SortFunc(names, func(a, b dirName) int { return strings.Compare(a.name, b.name) })
	return names, nil
}

// kindAt is what a name in a directory is, where the directory does not say.
func kindAt(dir int, name string) (byte, error) {
	var st unix.Stat_t
	err := effect.Fstatat(dir, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return byte(st.Mode & unix.S_IFMT >> 12), err // that is how the kinds are numbered
}

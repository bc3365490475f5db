package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// Options says how to open a store.
type Options struct {
	// ReadOnly opens it without ever writing below it. Methods that write return ErrReadOnly.
	ReadOnly bool
}

// ErrReadOnly is what writing methods of a read-only handle return.
var ErrReadOnly = errors.New("the store was opened for reading only")

// formatName and formatText mark a directory as a store of this layout. A later layout has a greater number.
const (
	formatName = "format"
	formatText = "ufbuild store 1\n"
)

// Store is an open store. Its methods may be called concurrently.
type Store struct {
	dir      string
	readOnly bool

	actions  actionIndex
	packs    packIndex
	commits  commits
	locks    keyLocks
	damaged  damagedFiles
	suspects suspects
	use      use

	writing sync.Mutex
	writer  *writer // nil until the first write
	closed  bool
}

var _ cache.Store = (*Store)(nil)

// Open opens the store in the absolute directory dir. A directory that does not exist is made when something is first
// written. It is an error when dir holds something else, or a layout newer than this version reads.
func Open(dir string, o Options) (*Store, error) {
	if !filepath.IsAbs(dir) {
		return nil, fmt.Errorf("open store %s: the path is not absolute", dir)
	}
	s := &Store{dir: filepath.Clean(dir), readOnly: o.ReadOnly}
	s.actions.init(s.dir)
	s.packs.init(s.dir)
	s.commits.init(s)
	if err := s.checkFormat(); err != nil {
		return nil, err
	}
	if err := s.actions.open(); err != nil {
		_ = s.Close()
		return nil, fault("open", s.dir, err)
	}
	return s, nil
}

// Dir returns the store's directory.
func (s *Store) Dir() string { return s.dir }

// Workdir implements cache.Store. Make it with mode 0700.
func (s *Store) Workdir() string { return filepath.Join(s.dir, "work") }

func (s *Store) checkFormat() error {
	text, err := effect.ReadRegular(filepath.Join(s.dir, formatName))
	switch {
	case err == nil && string(text) == formatText:
		return nil
	case err == nil && strings.HasPrefix(string(text), "ufbuild store "):
		return fmt.Errorf("open store %s: its format is %q, newer than this version reads\nhint: use the ufbuild that wrote it, or a newer one",
			s.dir, strings.TrimSpace(string(text)))
	case err == nil:
		return fmt.Errorf("open store %s: %s says %.40q, which is not a store's", s.dir, formatName, text)
	case errors.Is(err, os.ErrNotExist):
		return s.checkUnmarked()
	}
	return fault("open", s.dir, err)
}

// ours are the names a store that lost its mark may hold.
var ours = map[string]bool{"log": true, "pack": true, "blobs": true, "tmp": true, "locks": true, "campaigns": true, "work": true, "ledger": true, trimmedName: true, damagedName: true}

// checkUnmarked refuses a directory that holds what no store holds: somebody named the wrong one.
func (s *Store) checkUnmarked() error {
	entries, err := os.ReadDir(s.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fault("open", s.dir, err)
	}
	for _, e := range entries {
		if !ours[e.Name()] && !strings.HasPrefix(e.Name(), formatName) {
			return fmt.Errorf("open store %s: not a store: it holds %s\nhint: name a directory that is empty or does not exist", s.dir, e.Name())
		}
	}
	return nil
}

// Close implements cache.Store.
func (s *Store) Close() error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	errs := []error{s.actions.close(), s.packs.close(), s.locks.close()}
	if s.writer != nil { // last, as it gives up the lock on what the others wrote
		errs = append(errs, s.writer.close())
	}
	return errors.Join(errs...)
}

// fault wraps the world's fault with the verb, the store and what to do about it.
func fault(verb, dir string, err error) error {
	hint := ""
	switch {
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.EDQUOT):
		hint = "\nhint: free some space; what is stored stays good, and what was not stored is still in its workspace"
	case errors.Is(err, unix.EACCES) && (verb == "open" || verb == "read" || verb == "verify"):
		hint = "\nhint: make what is in the directory readable, or name another store with UFBUILD_STORE"
	case errors.Is(err, unix.EROFS), errors.Is(err, unix.EACCES), errors.Is(err, unix.EPERM):
		hint = "\nhint: make the directory writable, or name another store with UFBUILD_STORE"
	}
	var path *os.PathError
	if errors.As(err, &path) && err == error(path) && path.Path == dir {
		err = path.Err
	}
	return fmt.Errorf("%s store %s: %w%s", verb, dir, err, hint)
}

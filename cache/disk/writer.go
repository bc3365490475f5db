package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/recordlog"
)

// writer is what a handle that writes holds: a locked log and, once a small blob came, the pack of the same number.
type writer struct {
	id   int
	log  *recordlog.Writer
	pack *effect.File // nil until the first small blob
	temp atomic.Int64 // files made below tmp so far
}

// The kinds of files that a writer has, by how their names end.
const (
	logSuffix  = ".log"
	packSuffix = ".pack"
)

// numbered is the name of a file of writer id.
func numbered(id int, suffix string) string { return fmt.Sprintf("%05d%s", id, suffix) }

func logPath(dir string, id int) string {
	return filepath.Join(dir, "log", numbered(id, logSuffix))
}

func packPath(dir string, id int) string {
	return filepath.Join(dir, "pack", numbered(id, packSuffix))
}

// listIDs returns the writer numbers among the names of a directory, in ascending order. No directory means none.
func listIDs(dir, suffix string) ([]int, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var ids []int
	for _, e := range entries {
		id, bad := strconv.Atoi(strings.TrimSuffix(e.Name(), suffix))
		if bad == nil && id > 0 && e.Name() == numbered(id, suffix) { // a stray 1.log is nobody's, and 00001.log may not be there
			ids = append(ids, id)
		}
	}
	return ids, err
}

// write returns the handle's writer, becoming one at the first call.
func (s *Store) write() (*writer, error) {
	s.writing.Lock()
	defer s.writing.Unlock()
	switch {
	case s.closed:
		return nil, fault("write", s.dir, os.ErrClosed)
	case s.readOnly:
		return nil, fault("write", s.dir, ErrReadOnly)
	case s.writer != nil:
		return s.writer, nil
	}
	w, err := s.becomeWriter()
	if err != nil {
		return nil, fault("write", s.dir, err)
	}
	s.writer = w
	return w, nil
}

func (s *Store) becomeWriter() (*writer, error) {
	if err := s.makeLayout(); err != nil {
		return nil, err
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	// A new number is always the one after the greatest, never one in a gap: readers look for no other.
	ids, err := listIDs(filepath.Join(s.dir, "log"), logSuffix)
	if err != nil {
		return nil, err
	}
	for i := 0; ; i++ {
		if i == len(ids) {
			ids = append(ids, lastOf(ids)+1)
		}
		w, err := s.takeLog(ids[i])
		if errors.Is(err, recordlog.ErrLocked) {
			continue
		}
		return w, err
	}
}

// takeLog becomes the writer of log id. The error is recordlog.ErrLocked when it has one.
func (s *Store) takeLog(id int) (*writer, error) {
	log, err := recordlog.OpenWriter(logPath(s.dir, id))
	if err != nil {
		return nil, err
	}
	s.commits.directory(filepath.Join(s.dir, "log"))
	w := &writer{id: id, log: log}
	if err := errors.Join(s.actions.adopt(w), s.sweepTemp(id)); err != nil {
		_ = log.Close()
		return nil, err
	}
	return w, nil
}

func lastOf(ids []int) int {
	if len(ids) == 0 {
		return 0
	}
	return ids[len(ids)-1]
}

// makeLayout makes what every store has. It may run in several processes at once.
func (s *Store) makeLayout() error {
	if err := effect.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	for _, name := range []string{"log", "pack", "blobs", "tmp"} {
		if err := effect.Mkdir(filepath.Join(s.dir, name), 0o700); err != nil && !errors.Is(err, os.ErrExist) {
			return err
		}
	}
	// Whoever made these names may have died before they were durable. So it is with all names here, whether they were there or not.
	s.commits.directory(filepath.Dir(s.dir), s.dir)
	_, err := os.Lstat(filepath.Join(s.dir, formatName))
	if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return effect.ReplaceDurably(filepath.Join(s.dir, formatName), []byte(formatText))
}

// openPack opens the writer's pack for appending and cuts what a dead predecessor left half written. packs.mu is held.
func (w *writer) openPack(s *Store) error {
	f, err := effect.OpenFile(packPath(s.dir, w.id), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	s.commits.directory(filepath.Join(s.dir, "pack"))
	if err := s.packs.adopt(w.id, f); err != nil {
		_ = f.Close()
		return err
	}
	w.pack = f
	return nil
}

// tempPrefix begins the names of files that writer id has below tmp.
func tempPrefix(id int) string { return fmt.Sprintf("%05d-", id) }

// sweepTemp removes what a dead predecessor of writer id left below tmp. Its lock is ours, so nobody writes them.
func (s *Store) sweepTemp(id int) error {
	tmp := filepath.Join(s.dir, "tmp")
	entries, err := os.ReadDir(tmp)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix(id)) {
			if err := effect.Remove(filepath.Join(tmp, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *writer) close() error {
	if w.pack == nil {
		return w.log.Close()
	}
	return errors.Join(w.pack.Close(), w.log.Close())
}

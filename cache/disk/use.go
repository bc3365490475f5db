package disk

import (
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache/filelock"
)

// useOffset is the byte of the locks file that says whether the store is used or trimmed. It lies behind the
// bytes that stand for keys, which have 62 bits.
const useOffset = int64(1) << 62

// use is the shared lock of a handle that writes, or that relies on what it read to stay: while anyone has it
// nothing is trimmed.
type use struct {
	mu   sync.Mutex
	held bool
	step func(name string) // called between the steps of Trim; nil but in tests
}

// enter takes the lock once and keeps it until the handle is closed. It waits for a trim to end, which takes as
// long as copying the small blobs that stay. What was trimmed since this handle looked is forgotten.
func (s *Store) enter() error {
	s.use.mu.Lock()
	defer s.use.mu.Unlock()
	if s.use.held {
		return nil
	}
	f, err := s.locks.open(s.dir)
	if err != nil {
		return err
	}
	for {
		ok, err := filelock.TryShared(f, useOffset, 1)
		if err != nil {
			return err
		}
		if ok {
			break
		}
		time.Sleep(lastPoll)
	}
	s.use.held = true
	s.packs.mu.Lock()
	defer s.packs.mu.Unlock()
	if !s.packs.opened {
		return nil
	}
	return s.packs.refresh()
}

// alone takes the lock for trimming. It does not wait: false says that somebody uses the store.
func (s *Store) alone() (bool, error) {
	s.use.mu.Lock()
	defer s.use.mu.Unlock()
	f, err := s.locks.open(s.dir)
	if err != nil {
		return false, err
	}
	ok, err := filelock.Try(f, useOffset, 1)
	s.use.held = s.use.held || ok
	return ok, err
}

// leave lets others use the store again. This handle goes on as one of them.
func (s *Store) leave() error {
	_, err := filelock.TryShared(s.locks.file, useOffset, 1) // nobody has it, so it is given
	return err
}

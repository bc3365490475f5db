package disk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/filelock"
)

// keyLocks holds the locks of this handle. Within it a key waits on a channel; the kernel only arbitrates between handles.
type keyLocks struct {
	mu   sync.Mutex
	file *os.File // nil until the first Lock
	held map[cache.Key]chan struct{}
}

// Contended locks are polled: the kernel can wait for a lock, but not for a context. A holder runs for a minute or for
// hours, so a quarter of a second does not count.
const (
	firstPoll = 2 * time.Millisecond
	lastPoll  = 250 * time.Millisecond
)

// Lock implements cache.Store.
func (s *Store) Lock(ctx context.Context, k cache.Key) (func(), error) {
	if _, err := s.write(); err != nil {
		return nil, err
	}
	l := &s.locks
	leave, err := l.enter(ctx, k)
	if err != nil {
		return nil, fmt.Errorf("lock key %s: %w", k.Short(), err)
	}
	if err := l.lockFile(ctx, s.dir, k); err != nil {
		leave()
		if ctx.Err() != nil {
			return nil, fmt.Errorf("lock key %s: %w", k.Short(), err)
		}
		return nil, fault("lock", s.dir, err)
	}
	return sync.OnceFunc(func() {
		// A failure to unlock leaves the key locked until the handle is closed; nobody can do more about it.
		_ = filelock.Unlock(l.file, offsetOf(k), 1)
		leave()
	}), nil
}

// enter waits until no other goroutine of this handle has k.
func (l *keyLocks) enter(ctx context.Context, k cache.Key) (leave func(), err error) {
	for {
		l.mu.Lock()
		if l.held == nil {
			l.held = map[cache.Key]chan struct{}{}
		}
		busy, taken := l.held[k]
		if !taken {
			mine := make(chan struct{})
			l.held[k] = mine
			l.mu.Unlock()
			return func() {
				l.mu.Lock()
				defer l.mu.Unlock()
				delete(l.held, k)
				close(mine)
			}, nil
		}
		l.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// lockFile waits until no other handle has k.
func (l *keyLocks) lockFile(ctx context.Context, dir string, k cache.Key) error {
	f, err := l.open(dir)
	if err != nil {
		return err
	}
	for wait := firstPoll; ; wait = min(2*wait, lastPoll) {
		if ok, err := filelock.Try(f, offsetOf(k), 1); ok || err != nil {
			return err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		}
	}
}

func (l *keyLocks) open(dir string) (*os.File, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		f, err := effect.OpenFile(filepath.Join(dir, "locks"), os.O_RDWR|os.O_CREATE, 0o600)
		if err != nil {
			return nil, err
		}
		l.file = f.File
	}
	return l.file, nil
}

// offsetOf is the byte that stands for k. Offsets have 63 bits; two keys that share 62 would wait for each other, no more.
func offsetOf(k cache.Key) int64 { return int64(binary.LittleEndian.Uint64(k[:8]) >> 2) }

func (l *keyLocks) close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

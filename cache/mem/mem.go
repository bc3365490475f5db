// Package mem is a store in memory, for tests and for builds that shall leave nothing behind.
//
// A store is shared by its handles: [New] makes one with a first handle, [Store.Handle] gives another, and handles behave
// to each other as processes do with a store on disk. Everything is durable at once and gone with the last handle.
// [Store.Corrupt] and [Store.Remove] damage it on purpose.
package mem

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// Store is a handle of a store in memory. Its methods may be called concurrently.
type Store struct {
	*shared
	work string
}

var _ cache.Store = (*Store)(nil)

// shared is what all handles see.
type shared struct {
	mu        sync.Mutex
	blobs     map[digest.Digest][]byte
	records   map[cache.Key][][]byte
	locks     map[cache.Key]chan struct{} // closed on release
	campaigns map[string]bool
}

// New makes an empty store. workdir is what Workdir returns; it is not looked at.
func New(workdir string) *Store {
	return &Store{work: workdir, shared: &shared{
		blobs:     map[digest.Digest][]byte{},
		records:   map[cache.Key][][]byte{},
		locks:     map[cache.Key]chan struct{}{},
		campaigns: map[string]bool{},
	}}
}

// Handle returns another handle of the same store.
func (s *Store) Handle() *Store { return &Store{shared: s.shared, work: s.work} }

// Put implements cache.CAS.
func (s *Store) Put(r io.Reader) (digest.Digest, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return digest.Digest{}, fmt.Errorf("put blob: %w", err)
	}
	d := digest.Of(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.blobs[d]; !ok {
		s.blobs[d] = b
	}
	return d, nil
}

// Open implements cache.CAS.
func (s *Store) Open(d digest.Digest) (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[d]
	if !ok {
		return nil, cache.ErrMissing{Digest: d}
	}
	if have := digest.Of(b); have != d {
		delete(s.blobs, d) // so that it can be put again
		return nil, cache.ErrCorrupt{Digest: d, Detail: fmt.Sprintf("memory holds %s", have)}
	}
	return blob{bytes.NewReader(b)}, nil
}

// blob is bytes that were verified.
type blob struct{ *bytes.Reader }

// Close implements io.Closer.
func (blob) Close() error { return nil }

// Has implements cache.CAS.
func (s *Store) Has(d digest.Digest) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.blobs[d]
	return ok, nil
}

// Append implements cache.Actions. Records pass through their text, as they do on disk.
func (s *Store) Append(records ...cache.Record) error {
	texts := make([][]byte, len(records))
	for i := range records {
		var err error
		if texts[i], err = records[i].Encode(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range records {
		k := records[i].Key
		s.records[k] = append(s.records[k], texts[i])
	}
	return nil
}

// Attempts implements cache.Actions.
func (s *Store) Attempts(k cache.Key) ([]cache.Attempt, error) {
	s.mu.Lock()
	texts := slices.Clone(s.records[k])
	s.mu.Unlock()
	records := make([]cache.Record, 0, len(texts))
	for _, b := range texts {
		r, err := cache.DecodeRecord(b)
		if err != nil {
			return nil, fmt.Errorf("read attempts of %s: %w", k.Short(), err)
		}
		records = append(records, r)
	}
	return cache.Fold(k, records), nil
}

// Sync implements cache.Store.
func (s *Store) Sync() error { return nil }

// Lock implements cache.Store.
func (s *Store) Lock(ctx context.Context, k cache.Key) (func(), error) {
	for {
		s.mu.Lock()
		busy, taken := s.locks[k]
		if !taken {
			mine := make(chan struct{})
			s.locks[k] = mine
			s.mu.Unlock()
			return sync.OnceFunc(func() { s.unlock(k, mine) }), nil
		}
		s.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, fmt.Errorf("lock key %s: %w", k.Short(), context.Cause(ctx))
		}
	}
}

func (s *Store) unlock(k cache.Key, mine chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.locks, k)
	close(mine)
}

// Workdir implements cache.Store.
func (s *Store) Workdir() string { return s.work }

// RegisterCampaign implements cache.Store.
func (s *Store) RegisterCampaign(root string) error {
	if !filepath.IsAbs(root) {
		return fmt.Errorf("register campaign %s: the path is not absolute", root)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.campaigns[filepath.Clean(root)] = true
	return nil
}

// Campaigns implements cache.Store.
func (s *Store) Campaigns() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var roots []string
	for root := range s.campaigns {
		roots = append(roots, root)
	}
	slices.Sort(roots)
	return roots, nil
}

// Close implements cache.Store. Other handles stay good.
func (s *Store) Close() error { return nil }

// Corrupt changes a byte of d, or adds one to the empty blob. It panics when d is not there.
func (s *Store) Corrupt(d digest.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[d]
	if !ok {
		panic("BUG: corrupt blob: not in the store")
	}
	b = append(bytes.Clone(b), 'x')
	if len(b) > 1 {
		b[0] ^= 1
		b = b[:len(b)-1]
	}
	s.blobs[d] = b
}

// Remove takes d away.
func (s *Store) Remove(d digest.Digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.blobs, d)
}

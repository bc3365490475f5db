package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// damagedName is the file of blobs that were found damaged, one line each, the last one of a blob counts. It is a hint and can
// be deleted: what it names is read before it is believed, so a wrong line costs a read and never a result, and without
// a line the damage is met again by who reads the bytes.
const damagedName = "damaged"

// The words of its lines.
const (
	damagedWord = "damaged"
	soundWord   = "sound" // good bytes took their place
)

// suspects are the blobs that somebody, at some time, found damaged.
type suspects struct {
	mu    sync.Mutex
	known map[digest.Digest]bool // nil until read
}

// suspected reports whether d is to be read before it is believed.
func (s *Store) suspected(d digest.Digest) bool {
	s.suspects.mu.Lock()
	defer s.suspects.mu.Unlock()
	s.readSuspects()
	return s.suspects.known[d]
}

// readSuspects reads the file once. Lines that are not readable are left out. mu is held.
func (s *Store) readSuspects() {
	if s.suspects.known != nil {
		return
	}
	s.suspects.known = map[digest.Digest]bool{}
	b, err := effect.ReadRegular(filepath.Join(s.dir, damagedName))
	if err != nil {
		return
	}
	for line := range strings.Lines(string(b)) {
		word, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		d, err := digest.Parse(name)
		switch {
		case err != nil:
		case word == damagedWord:
			s.suspects.known[d] = true
		case word == soundWord:
			delete(s.suspects.known, d)
		}
	}
}

// noteDamaged remembers, for later processes too, that the bytes of d are not to be believed. A handle that only reads
// remembers it for itself, as its index does.
func (s *Store) noteDamaged(d digest.Digest) {
	s.suspects.mu.Lock()
	defer s.suspects.mu.Unlock()
	s.readSuspects()
	if s.suspects.known[d] {
		return
	}
	s.suspects.known[d] = true
	s.writeSuspect(damagedWord, d)
}

// noteSound takes a note back: the store has good bytes of d.
func (s *Store) noteSound(d digest.Digest) {
	s.suspects.mu.Lock()
	defer s.suspects.mu.Unlock()
	s.readSuspects()
	if !s.suspects.known[d] {
		return
	}
	delete(s.suspects.known, d)
	s.writeSuspect(soundWord, d)
}

// writeSuspect appends a line and makes it durable. A line that cannot be written costs that the next process meets the
// damage anew, so failures are not told.
func (s *Store) writeSuspect(word string, d digest.Digest) {
	if s.readOnly {
		return
	}
	f, err := effect.OpenFile(filepath.Join(s.dir, damagedName), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	// A line that a crash cut short must not swallow the next one.
	_, err = f.WriteString("\n" + word + " " + d.String() + "\n")
	_ = errors.Join(err, f.Sync(), f.Close(), syncDir(s.dir))
}

// soundNow reads d to its end and reports whether its bytes are good.
func (s *Store) soundNow(d digest.Digest) (bool, error) {
	r, err := s.Open(d)
	if err == nil {
		_, err = io.Copy(io.Discard, r)
		err = errors.Join(err, r.Close())
	}
	switch {
	case cache.IsCorrupt(err), cache.IsMissing(err):
		return false, nil
	case err != nil:
		return false, err
	}
	s.noteSound(d)
	return true, nil
}

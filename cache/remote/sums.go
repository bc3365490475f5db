package remote

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// Sums remembers the SHA256 sum of blobs whose BLAKE3 digest is known. Pairs enter only when both were computed here from one
// reading of the bytes; a pair that another machine names is never taken. Its methods may be called concurrently.
type Sums struct {
	mu    sync.Mutex
	known map[digest.Digest][32]byte
	fresh []Pair
}

// Pair is what Sums remembers.
type Pair struct {
	Digest digest.Digest
	SHA256 [32]byte
}

// NewSums returns a memory that knows the given pairs.
func NewSums(pairs ...Pair) *Sums {
	s := &Sums{known: make(map[digest.Digest][32]byte, len(pairs))}
	for _, p := range pairs {
		s.known[p.Digest] = p.SHA256
	}
	return s
}

// Fresh returns the pairs that were learned since it was called last, for who keeps them.
func (s *Sums) Fresh() []Pair {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.fresh
	s.fresh = nil
	return out
}

func (s *Sums) get(d digest.Digest) ([32]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	sum, ok := s.known[d]
	return sum, ok
}

func (s *Sums) learn(d digest.Digest, sum [32]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.known[d]; !ok {
		s.known[d] = sum
		s.fresh = append(s.fresh, Pair{d, sum})
	}
}

// ofBytes returns the SHA256 digest of d, whose bytes a store read and verified: b.
func (s *Sums) ofBytes(d digest.Digest, b []byte) Digest {
	w := SHA256.Of(b)
	s.learn(d, w.Sum)
	return w
}

// inMemory is the greatest blob that is read whole to be hashed: making two hashes costs more than hashing so little by them.
const inMemory = 16 << 10

// of returns the SHA256 digest of d, reading the bytes when it is not known.
func (s *Sums) of(d digest.Digest, open func() (io.ReadCloser, error)) (Digest, error) {
	if sum, ok := s.get(d); ok {
		return Digest{sum, d.Size}, nil
	}
	r, err := open()
	if err != nil {
		return Digest{}, err
	}
	var have digest.Digest
	var sum [32]byte
	if d.Size <= inMemory {
		var b []byte
		b, err = readSized(r, d.Size)
		have, sum = digest.Of(b), sha256.Sum256(b)
	} else {
		both := &twice{own: digest.NewHasher(), other: sha256.New()}
		_, err = io.CopyBuffer(both, struct{ io.Reader }{r}, make([]byte, 256<<10))
		have = both.own.Digest()
		both.other.Sum(sum[:0])
	}
	if err = errors.Join(err, r.Close()); err != nil {
		return Digest{}, err
	}
	if have != d {
		return Digest{}, cache.ErrCorrupt{Digest: d, Detail: fmt.Sprintf("read %s", have)}
	}
	s.learn(d, sum)
	return Digest{sum, d.Size}, nil
}

// readSized returns what r yields. Of one that yields more than size bytes it returns one byte too many, of one that yields fewer
// those: their digest tells.
func readSized(r io.Reader, size int64) ([]byte, error) {
	b := make([]byte, size+1)
	n, err := digest.Fill(r, b)
	return b[:n], err
}

// twice hashes by both functions.
type twice struct {
	own   *digest.Hasher
	other hash.Hash
}

// Write implements io.Writer. It never fails.
func (t *twice) Write(b []byte) (int, error) {
	_, _ = t.own.Write(b)
	return t.other.Write(b)
}

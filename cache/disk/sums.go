package disk

import (
	"encoding/binary"
	"iter"
	"math/rand/v2"
)

// sums is a map from sums to numbers other than 0. A store has one for each blob and each key that came since its tables were
// written, so it takes half of what a map of Go's takes. The zero value is empty.
type sums struct {
	seed  uint64 // nobody else knows it, so nobody can choose what lies beside what
	shift int    // what is left of a product is the number of a slot
	slots []uint32
	rows  [][]sumRow // in pieces, which stay where they are
	n     int
}

type sumRow struct {
	sum [32]byte
	at  int32
}

// leastSums is how many slots there are at first, and rowsPiece how many rows a piece has.
const (
	leastSums = 64
	rowsPiece = 256
)

// newSums returns an empty one with room for about n.
func newSums(n int) (s sums) {
	slots := leastSums
	for slots*3/4 < n {
		slots *= 2
	}
	s.resize(slots)
	return s
}

// get returns the number of a sum; 0 for none.
func (s *sums) get(sum *[32]byte) int32 {
	if s.n == 0 {
		return 0
	}
	if i := s.slots[s.find(sum)]; i != 0 {
		return s.row(int(i - 1)).at
	}
	return 0
}

// set gives a sum another number, which is not 0.
func (s *sums) set(sum *[32]byte, at int32) {
	if s.n >= len(s.slots)*3/4 {
		s.resize(max(leastSums, 2*len(s.slots)))
	}
	slot := s.find(sum)
	if i := s.slots[slot]; i != 0 {
		s.row(int(i - 1)).at = at
		return
	}
	if s.n == len(s.rows)*rowsPiece {
		s.rows = append(s.rows, make([]sumRow, rowsPiece))
	}
	*s.row(s.n) = sumRow{*sum, at}
	s.n++
	s.slots[slot] = uint32(s.n)
}

// all are the sums and their numbers, in the order in which they came.
func (s *sums) all() iter.Seq2[*[32]byte, int32] {
	return func(yield func(*[32]byte, int32) bool) {
		for i := range s.n {
			if r := s.row(i); !yield(&r.sum, r.at) {
				return
			}
		}
	}
}

func (s *sums) row(i int) *sumRow { return &s.rows[i/rowsPiece][i%rowsPiece] }

// find returns the slot of a sum, or the one where it would be. There is always one that is free.
func (s *sums) find(sum *[32]byte) int {
	at := int((binary.LittleEndian.Uint64(sum[:]) ^ s.seed) * 0x9e3779b97f4a7c15 >> s.shift)
	for {
		i := s.slots[at]
		if i == 0 || s.row(int(i-1)).sum == *sum {
			return at
		}
		if at++; at == len(s.slots) {
			at = 0
		}
	}
}

// resize makes the number of slots n, a power of two.
func (s *sums) resize(n int) {
	if s.seed == 0 {
		s.seed = rand.Uint64()
	}
	s.slots, s.shift = make([]uint32, n), 64
	for ; n > 1; n /= 2 {
		s.shift--
	}
	for i := range s.n {
		s.slots[s.find(&s.row(i).sum)] = uint32(i + 1)
	}
}

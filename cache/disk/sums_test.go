package disk

import (
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSums holds them to a map of Go's, over sums that are alike in their first bytes too.
func TestSums(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	sum := func() (b [32]byte) {
		binary.LittleEndian.PutUint64(b[:], r.Uint64N(3000))
		b[31] = byte(r.Uint64N(2))
		return b
	}
	for _, room := range []int{0, 1, 1000} {
		s, want := newSums(room), map[[32]byte]int32{}
		if room == 0 {
			s = sums{}
		}
		for i := range int32(4000) {
			k := sum()
			require.Equal(t, want[k], s.get(&k))
			want[k] = i + 1
			s.set(&k, i+1)
		}
		for range 4000 {
			k := sum()
			require.Equal(t, want[k], s.get(&k))
		}
		got := map[[32]byte]int32{}
		for k, at := range s.all() {
			got[*k] = at
		}
		require.True(t, maps.Equal(want, got))
		require.Len(t, want, s.n)
	}
}

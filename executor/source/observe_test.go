package source

import (
	"math/rand"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// An entry that speaks for a look says what a list of all looks would say.
func TestObservationsAreThoseOfAList(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 300 {
		f := Open(t.TempDir(), "")
		f.Watch()
		require.NoError(t, f.ready())
		list := map[watchKey]signature{}
		sums := map[string]*entry{}
		for range 40 {
			path, sig := strconv.Itoa(r.Intn(3)), signature{Mtime: 1 + int64(r.Intn(2))}
			follow := r.Intn(4) == 0
			switch k := (watchKey{path, follow}); r.Intn(3) {
			case 0:
				if r.Intn(8) == 0 {
					sig = torn
				}
				f.observe(path, follow, sig)
				if old, ok := list[k]; ok && old != sig {
					sig = torn
				}
				list[k] = sig
			case 1:
				e := &entry{sig: sig, at: settled, sum: [32]byte{byte(r.Intn(3))}}
				sums[path] = e
				f.remember(path, e)
			case 2:
				f.rewritten(path, sig)
				delete(list, watchKey{path, true})
				list[watchKey{path, false}] = sig
			}
		}
		seen, ok := f.Observed()
		require.True(t, ok)
		require.Len(t, seen, len(list))
		for _, o := range seen {
			sig := list[watchKey{o.Path, o.Follow}]
			require.Equal(t, sig, o.Sig)
			want := [32]byte{}
			if e, ok := sums[o.Path]; ok && e.sig == sig {
				want = e.sum
			}
			require.Equal(t, want, o.Sum)
		}
		require.NoError(t, f.Close())
	}
}

package disk

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// TestSmallLeavesOutWhatIsNotSound: Small reads what Open would of small blobs, of all packs, and leaves the rest to it.
func TestSmallLeavesOutWhatIsNotSound(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s, other := open(t, dir), open(t, dir)
	put := func(in *Store, b []byte) digest.Digest {
		d, err := cache.PutBytes(in, b)
		require.NoError(t, err)
		return d
	}
	var asked []digest.Digest
	for i := range 300 {
		in := s
		if i%3 == 0 {
			in = other
		}
		asked = append(asked, put(in, bytes.Repeat([]byte{byte(i)}, i*i/2)))
	}
	damaged, large := asked[4], put(s, make([]byte, smallBlob+1))
	damage(t, s, damaged, flip)
	slices.Reverse(asked)
	asked = append(asked, large, digest.Of([]byte("nowhere")), digest.Digest{}, asked[0])
	found, err := s.Small(asked)
	require.NoError(t, err)
	require.Len(t, found, len(asked))
	for i, d := range asked {
		want, err := cache.ReadAll(s, d, smallBlob)
		if d == damaged || err != nil {
			require.Nil(t, found[i])
			continue
		}
		require.NotNil(t, found[i])
		require.True(t, bytes.Equal(want, found[i]))
	}
}

func TestDamageIsRememberedByLaterHandles(t *testing.T) {
	for _, test := range []struct {
		name string
		n    int
	}{{"in a pack", 100}, {"a file", smallBlob + 1000}} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "store")
			b := bytes.Repeat([]byte("0123456789"), test.n/10)
			d := digest.Of(b)
			has := func(s *Store) bool {
				ok, err := s.Has(d)
				require.NoError(t, err)
				return ok
			}
			reads := func(s *Store) error {
				_, err := cache.ReadAll(s, d, -1)
				return err
			}
			s := open(t, dir)
			_, err := cache.PutBytes(s, b)
			require.NoError(t, err)
			damage(t, s, d, flip)
			require.NoError(t, s.Close())

			// One that only reads writes nothing, so the next one believes names and lengths.
			s, err = Open(dir, Options{ReadOnly: true})
			require.NoError(t, err)
			require.True(t, cache.IsCorrupt(reads(s)))
			require.False(t, has(s))
			require.NoError(t, s.Close())
			s = open(t, dir)
			require.True(t, has(s))
			require.True(t, cache.IsCorrupt(reads(s)))
			require.NoError(t, s.Close())

			// From then on nobody believes them, without having read them himself.
			for _, o := range []Options{{}, {ReadOnly: true}} {
				s, err = Open(dir, o)
				require.NoError(t, err)
				require.False(t, has(s))
				require.NoError(t, s.Close())
			}

			// Good bytes that were put again are believed, and the note is taken back for whoever comes later.
			s = open(t, dir)
			_, err = s.Put(io.MultiReader(bytes.NewReader(b)))
			require.NoError(t, err)
			require.True(t, has(s))
			require.NoError(t, s.Close())
			s = open(t, dir)
			require.False(t, s.suspected(d))
			require.True(t, has(s))
			require.NoError(t, reads(s))
			text, err := os.ReadFile(filepath.Join(dir, damagedName))
			require.NoError(t, err)
			require.Equal(t, "\ndamaged "+d.String()+"\n\nsound "+d.String()+"\n", string(text))

			// A line that names a good blob costs a read and no result; one that is no line costs nothing.
			require.NoError(t, s.Close())
			require.NoError(t, os.WriteFile(filepath.Join(dir, damagedName), []byte("damaged "+d.String()+"\ndamaged b3:tor"), 0o600))
			s = open(t, dir)
			require.True(t, s.suspected(d))
			require.True(t, has(s))
		})
	}
}

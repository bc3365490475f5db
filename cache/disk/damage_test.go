package disk

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

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

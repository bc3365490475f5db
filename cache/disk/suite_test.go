package disk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/cachetest"
	"github.com/ufbuild/ufbuild/cache/digest"
)

func open(t *testing.T, dir string) *Store {
	t.Helper()
	s, err := Open(dir, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func TestStore(t *testing.T) {
	cachetest.TestStoreWith(t, cachetest.Hooks{
		Open: func(t *testing.T) cache.Store { return open(t, filepath.Join(t.TempDir(), "store")) },
		Again: func(t *testing.T, s cache.Store) cache.Store {
			return open(t, s.(*Store).Dir())
		},
		Corrupt: func(t *testing.T, s cache.Store, d digest.Digest) { damage(t, s.(*Store), d, flip) },
		Remove:  func(t *testing.T, s cache.Store, d digest.Digest) { damage(t, s.(*Store), d, cut) },
	})
}

// flip and cut are what damage does to the file that holds a blob, whose bytes begin at offset.
func flip(t *testing.T, path string, offset int64) {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[offset] ^= 0x40
	require.NoError(t, os.Chmod(path, 0o600))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteAt(b[offset:offset+1], offset)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

func cut(t *testing.T, path string, offset int64) {
	if offset == 0 {
		require.NoError(t, os.Remove(path))
		return
	}
	flip(t, path, offset-5) // in the header, so that no scan finds the entry
	require.NoError(t, os.RemoveAll(tablePath(path)))
}

// damage changes the newest copy of d on disk.
func damage(t *testing.T, s *Store, d digest.Digest, how func(*testing.T, string, int64)) {
	t.Helper()
	good, _, err := s.packs.find(d, nil)
	require.NoError(t, err)
	if len(good) == 0 {
		how(t, s.blobPath(d), 0)
		return
	}
	how(t, packPath(s.dir, s.packs.packs[good[0].pack].id), good[0].offset+int64(headerLen))
}

package disk

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// TestPipesInTheStore wants a pipe in the place of a file of the store to be an error, and not to be waited for.
func TestPipesInTheStore(t *testing.T) {
	for _, name := range []string{formatName, "log/00001.log"} {
		dir := filepath.Join(t.TempDir(), "store")
		s, err := Open(dir, Options{})
		require.NoError(t, err)
		require.NoError(t, s.Close())
		at := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o700))
		require.NoError(t, os.RemoveAll(at))
		require.NoError(t, unix.Mkfifo(at, 0o600))
		s, err = Open(dir, Options{})
		if err == nil {
			_, err = s.Attempts(cache.KeyOf([]byte("k")))
			require.NoError(t, s.Close())
		}
		require.ErrorIs(t, err, effect.ErrStrange, name)
	}
}

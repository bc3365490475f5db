package effect

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestRegular wants what lies in the place of a file of ours to be neither waited for nor read.
func TestRegular(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("text"), 0o600))
	require.NoError(t, os.Symlink("file", at("link")))
	for _, name := range []string{"file", "link"} {
		b, err := ReadRegular(at(name))
		require.NoError(t, err)
		require.Equal(t, "text", string(b))
		f, err := OpenRegular(at(name))
		require.NoError(t, err)
		require.NoError(t, f.Close())
	}
	require.NoError(t, unix.Mkfifo(at("pipe"), 0o600))
	require.NoError(t, os.Symlink("/dev/zero", at("endless")))
	for _, name := range []string{"pipe", "endless", "."} {
		_, err := ReadRegular(at(name))
		require.ErrorIs(t, err, ErrStrange)
		_, err = OpenRegular(at(name))
		require.ErrorIs(t, err, ErrStrange)
	}
	_, err := ReadRegular(at("nothing"))
	require.ErrorIs(t, err, os.ErrNotExist)
}

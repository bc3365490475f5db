package effect

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplaceClearsWhatAKillLeft: a file that a killed process grew beside the one it was to replace is nobody's, and goes; one that somebody
// writes now stays, and so does everything else.
func TestReplaceClearsWhatAKillLeft(t *testing.T) {
	for name, replace := range map[string]func(string, []byte) error{".f-": Replace, "f.": ReplaceDurably} {
		dir := t.TempDir()
		left := filepath.Join(dir, name+"123")
		require.NoError(t, os.WriteFile(left, []byte("half"), 0o600))
		other := filepath.Join(dir, ".other-1")
		require.NoError(t, os.WriteFile(other, nil, 0o600))
		held, err := HeldTemp(dir, name)
		require.NoError(t, err)
		require.NoError(t, replace(filepath.Join(dir, "f"), []byte("whole")))
		require.NoFileExists(t, left)
		require.FileExists(t, other)
		require.FileExists(t, held.Name(), "it is being written")
		require.NoError(t, held.Close())
		require.NoError(t, replace(filepath.Join(dir, "f"), []byte("again")))
		require.NoFileExists(t, held.Name())
		b, err := os.ReadFile(filepath.Join(dir, "f"))
		require.NoError(t, err)
		require.Equal(t, "again", string(b))
		info, err := os.Stat(filepath.Join(dir, "f"))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode())
	}
}

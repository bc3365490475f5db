package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplaceFileSweeps wants what a killed writer left to go, and neither what another one holds nor what has another name.
func TestReplaceFileSweeps(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "report.html")
	for _, name := range []string{".temp-1", ".temp-2", ".other-1", ".temp"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o400))
	}
	require.NoError(t, os.Symlink(".other-1", filepath.Join(dir, ".temp-link")))
	write := func(text string, meanwhile func()) {
		size, err := replaceFile(file, ".temp-", 0o644, func(w io.Writer) error {
			_, err := io.WriteString(w, text)
			meanwhile()
			return err
		})
		require.NoError(t, err)
		require.EqualValues(t, len(text), size)
		got, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, text, string(got))
	}
	write("outer", func() { write("inner", func() {}) }) // the inner one must not take away what the outer one is writing
	names, err := filepath.Glob(filepath.Join(dir, ".*"))
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(dir, ".other-1"), filepath.Join(dir, ".temp"), filepath.Join(dir, ".temp-link")}, names)
}

package workspace

import (
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/source"
)

// countingCAS counts what is put.
type countingCAS struct {
	cache.CAS
	puts atomic.Int64
}

func (c *countingCAS) Put(r io.Reader) (digest.Digest, error) {
	c.puts.Add(1)
	return c.CAS.Put(r)
}

// TestCaptureInplaceReadsWhatChanged captures a project again: only what changed is read, and with a secret to look for everything.
func TestCaptureInplaceReadsWhatChanged(t *testing.T) {
	root := t.TempDir()
	write := func(name, text string) {
		at := filepath.Join(root, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
		require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	}
	for _, name := range []string{"file", "gen/a", "gen/b"} {
		write(name, "text of "+name)
	}
	files := source.Open(root, "")
	t.Cleanup(func() { require.NoError(t, files.Close()) })
	cas := &countingCAS{CAS: mem.New("")}
	outputs := []Output{{Name: "f", Path: "file"}, {Name: "t", Tree: []string{"gen/**"}}}
	capture := func(mask ...string) (Captured, int64) {
		before := cas.puts.Load()
		c, err := CaptureInplace(t.Context(), root, cas, outputs, func(string) bool { return false }, files, mask)
		require.NoError(t, err)
		return c, cas.puts.Load() - before
	}
	first, puts := capture()
	require.EqualValues(t, 3+1, puts, "three files and a listing")
	// A file as young as the look at it is read again, until the clock of the file system has gone on.
	require.Eventually(t, func() bool {
		again, puts := capture()
		require.Equal(t, first, again)
		return puts == 1
	}, time.Minute, time.Millisecond)
	write("gen/b", "text of gen/B")
	changed, puts := capture()
	require.EqualValues(t, 1+1, puts)
	require.NotEqual(t, first.Outputs[1].Digest, changed.Outputs[1].Digest)
	require.Equal(t, first.Outputs[0], changed.Outputs[0])
	_, puts = capture("secret")
	require.EqualValues(t, 3+1, puts)
	cas.CAS.(*mem.Store).Remove(first.Outputs[0].Digest)
	again, _ := capture()
	ok, err := cas.Has(again.Outputs[0].Digest)
	require.NoError(t, err)
	require.True(t, ok, "what the store lost is stored again")
}

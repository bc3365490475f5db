package workspace

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/source"
)

// counting counts what is put into a store.
type counting struct {
	cache.CAS
	blobs, bytes atomic.Int64
}

func (c *counting) Put(r io.Reader) (digest.Digest, error) {
	d, err := c.CAS.Put(r)
	c.blobs.Add(1)
	c.bytes.Add(d.Size)
	return d, err
}

// manyFiles is a tree of n files of size bytes, a hundred in a directory.
func manyFiles(t testing.TB, cas cache.CAS, n, size int) digest.Digest {
	text := make([]byte, size)
	entries := make([]cache.Entry, n)
	for i := range entries {
		copy(text, fmt.Sprintf("%d\n", i))
		d, err := cache.PutBytes(cas, text)
		require.NoError(t, err)
		entries[i] = cache.Entry{Path: fmt.Sprintf("d%04d/f%02d", i/100, i%100), Kind: cache.File, Mode: 0o644, Digest: d}
	}
	return putTreeOf(t, cas, entries...)
}

// evolve captures an attempt that starts from a tree and writes to some of its files, and returns what was put.
func evolve(t testing.TB, cas cache.CAS, from digest.Digest, touched int) (Captured, *counting) {
	at := attempt(t)
	laid, err := Materialize(at, cas, Spec{Trees: []Mount{{Digest: from, Tree: true}}})
	require.NoError(t, err)
	tick()
	for i := range touched {
		require.NoError(t, os.WriteFile(filepath.Join(at, Dir, fmt.Sprintf("d%04d/f%02d", i, 7)), []byte("edited"), 0o644))
	}
	count := &counting{CAS: cas}
	got, err := Capture(context.Background(), at, count, laid, []Output{{Name: "t", Tree: []string{"**"}}}, []string{"a secret value"})
	require.NoError(t, err)
	return got, count
}

func TestOnlyTouchedFilesAreRead(t *testing.T) {
	cas := mem.New("")
	const touched = 5
	from := manyFiles(t, cas, 1000, 200)
	tick() // so that no file is as young as the end of laying it
	got, count := evolve(t, cas, from, touched)
	tree := readTree(t, cas, got.Outputs[0].Digest)
	require.Len(t, tree.Entries, 1000)
	require.Len(t, tree.Changed, touched)
	require.Equal(t, digest.Of([]byte("edited")), tree.Entries[7].Digest)
	racy := count.blobs.Load() - touched - 1 // those of the last tick
	require.LessOrEqual(t, racy, int64(900), "files that were laid and not touched are not read")
	require.Equal(t, touched*6+racy*200+got.Outputs[0].Digest.Size, count.bytes.Load())
}

func TestQuickEditIsSeen(t *testing.T) {
	cas := mem.New("")
	from := putTreeOf(t, cas, file(t, cas, "f", "old", 0o644))
	for range 50 {
		at := attempt(t)
		laid, err := Materialize(at, cas, Spec{Trees: []Mount{{Digest: from, Tree: true}}})
		require.NoError(t, err)
		p := filepath.Join(at, Dir, "f")
		info, err := os.Stat(p)
		require.NoError(t, err)
		f, err := os.OpenFile(p, os.O_WRONLY, 0)
		require.NoError(t, err)
		_, err = f.WriteString("new")
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.NoError(t, os.Chtimes(p, info.ModTime(), info.ModTime()))
		got, err := Capture(context.Background(), at, cas, laid, []Output{{Name: "t", Tree: []string{"*"}}}, nil)
		require.NoError(t, err)
		require.Equal(t, digest.Of([]byte("new")), readTree(t, cas, got.Outputs[0].Digest).Entries[0].Digest)
	}
}

func TestSourceThatTheStoreLacksIsRead(t *testing.T) {
	root := t.TempDir()
	f := src(t, root, "f", "the password is hunter22", 0o644)
	for name, c := range map[string]struct {
		mask    []string
		stored  bool
		problem bool
	}{
		"not stored":          {},
		"stored":              {stored: true},
		"stored, and masking": {stored: true, mask: []string{"hunter22"}, problem: true},
	} {
		t.Run(name, func(t *testing.T) {
			cas := mem.New("")
			if c.stored {
				put(t, cas, "the password is hunter22")
			}
			at := attempt(t)
			laid, err := Materialize(at, cas, Spec{Root: root, Sources: []source.File{f}})
			require.NoError(t, err)
			laid.end += 1e9 // as if the last tick were over
			got, err := Capture(context.Background(), at, cas, laid, []Output{{Name: "t", Tree: []string{"*"}}}, c.mask)
			require.NoError(t, err)
			require.Equal(t, c.problem, len(got.Problems) > 0, got.Problems)
			d := readTree(t, cas, got.Outputs[0].Digest).Entries[0].Digest
			_, err = cache.ReadAll(cas, d, -1)
			require.NoError(t, err)
		})
	}
}

// BenchmarkEvolve starts from a tree of 100,000 files and 1 GiB, edits 100 of them and captures: what is read does
// not grow with the tree.
func BenchmarkEvolve(b *testing.B) {
	store, err := disk.Open(b.TempDir(), disk.Options{})
	require.NoError(b, err)
	defer store.Close()
	from := manyFiles(b, store, 100_000, 1<<30/100_000)
	for b.Loop() {
		b.StopTimer()
		at := filepath.Join(b.TempDir(), "attempt")
		laid, err := Materialize(at, store, Spec{Trees: []Mount{{Digest: from, Tree: true}}})
		require.NoError(b, err)
		tick()
		for i := range 100 {
			require.NoError(b, os.WriteFile(filepath.Join(at, Dir, fmt.Sprintf("d%04d/f%02d", i, 7)), []byte("edited"), 0o644))
		}
		count := &counting{CAS: store}
		b.StartTimer()
		_, err = Capture(context.Background(), at, count, laid, []Output{{Name: "t", Tree: []string{"**"}}}, nil)
		b.StopTimer()
		require.NoError(b, err)
		b.ReportMetric(float64(count.blobs.Load()-1), "files-read")
		b.ReportMetric(float64(count.bytes.Load())/(1<<20), "MiB-hashed")
		Reap(at)
		b.StartTimer()
	}
}

package place

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/executor/source"
)

func inode(t *testing.T, path string) uint64 {
	info, err := os.Lstat(path)
	require.NoError(t, err)
	return info.Sys().(*syscall.Stat_t).Ino
}

// TestOnlyDifferingFilesAreWritten puts a set over another, and looks at which files are still the same ones.
func TestOnlyDifferingFilesAreWritten(t *testing.T) {
	s := newStand(t)
	set := func(edited string) []cache.Output {
		return []cache.Output{s.tree("t", s.entry("same", "s", 0o644), s.entry("d/same", "s", 0o755), s.entry("edited", edited, 0o644),
			s.entry("mode", "m", 0o644), s.entry("shared", "x", 0o644), s.entry("away/f", "f", 0o644))}
	}
	specs := []OutPath{{"t", ""}}
	_, err := s.p.Put(taskA, set("1"), specs)
	require.NoError(t, err)
	at := func(p string) string { return filepath.Join(s.root, "out/a", p) }
	require.NoError(t, os.Chmod(at("mode"), 0o600))
	require.NoError(t, os.Link(at("shared"), filepath.Join(s.root, "mine")))
	s.write("elsewhere/f", "f")
	require.NoError(t, os.RemoveAll(at("away")))
	require.NoError(t, os.Symlink("../../elsewhere", at("away")))
	before := map[string]uint64{}
	for _, p := range []string{"same", "d/same", "edited", "mode", "shared", "away/f"} {
		before[p] = inode(t, at(p))
	}
	report, err := s.p.Put(taskA, set("2"), specs)
	require.NoError(t, err)
	require.Len(t, report.Moved, 1, "the link that somebody put there: %q", report.Moved)
	s.check(InPlace, taskA, set("2"), specs)
	for p, was := range before {
		require.Equal(t, p == "same" || p == "d/same", inode(t, at(p)) == was, p)
	}
	s.write("mine", "written through the second name")
	s.check(InPlace, taskA, set("2"), specs)
	s.write("out/a/same", "edited later")
	s.check(Edited, taskA, set("2"), specs, "out/a/same")
}

// BenchmarkRestore puts 10,000 files of 1 KiB in place that are missing, and compares with cp -r of as many.
func BenchmarkRestore(b *testing.B) {
	const n = 10_000
	root := b.TempDir()
	store, err := disk.Open(b.TempDir(), disk.Options{})
	require.NoError(b, err)
	defer store.Close()
	tree := cache.Tree{}
	text := make([]byte, 1024)
	for i := range n {
		copy(text, fmt.Sprint(i, " "))
		d, err := cache.PutBytes(store, text)
		require.NoError(b, err)
		tree.Entries = append(tree.Entries, cache.Entry{Path: fmt.Sprintf("d%02d/f%02d", i/100, i%100), Kind: cache.File, Mode: 0o644, Digest: d})
	}
	encoded, err := tree.Encode()
	require.NoError(b, err)
	d, err := cache.PutBytes(store, encoded)
	require.NoError(b, err)
	outs, specs := []cache.Output{{Name: "t", Tree: true, Exists: true, Digest: d}}, []OutPath{{"t", ""}}
	files := source.Open(root, "")
	defer files.Close()
	p := Open(root, "out", files, store)
	defer p.Close()
	_, err = p.Put(taskA, outs, specs)
	require.NoError(b, err)
	require.NoError(b, os.Rename(filepath.Join(root, "out/a"), filepath.Join(root, "model")))
	copied := time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		start := time.Now()
		require.NoError(b, exec.Command("cp", "-r", filepath.Join(root, "model"), filepath.Join(root, "copy")).Run())
		copied += time.Since(start)
		require.NoError(b, os.RemoveAll(filepath.Join(root, "copy")))
		require.NoError(b, os.RemoveAll(filepath.Join(root, "out/a")))
		b.StartTimer()
		_, err := p.Put(taskA, outs, specs)
		require.NoError(b, err)
	}
	b.ReportMetric(b.Elapsed().Seconds()/copied.Seconds(), "of-cp-r")
}

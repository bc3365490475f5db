package disk

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

const many = 10_000

func keyOf(i int) cache.Key { return cache.KeyOf(fmt.Appendf(nil, "manifest %d", i)) }

// fill stores many attempts with the blobs a small command has: manifest, log and two outputs of about a kilobyte.
func fill(tb testing.TB, dir string) {
	s, err := Open(dir, Options{})
	require.NoError(tb, err)
	pad := make([]byte, 1000)
	for i := range many {
		var d [4]digest.Digest
		for j := range d {
			d[j], err = cache.PutBytes(s, fmt.Appendf(pad, "blob %d of %d", j, i))
			require.NoError(tb, err)
		}
		k := keyOf(i)
		for _, r := range []cache.Record{
			cache.StartedRecord(cache.Attempt{Key: k, Ordinal: 1, Address: fmt.Sprintf("task.t%d", i), Campaign: "/home/user/campaign",
				Build: "20261130-120000-abcdef", Manifest: d[0], Reason: "first attempt", StartedAt: time.Unix(int64(i), 0),
				Owner:     cache.Owner{PID: 4711, BootID: "01234567-89ab-cdef-0123-456789abcdef", StartTime: 123456},
				Workspace: "/home/user/.local/share/ufbuild/store/work/20261130-120000-abcdef/t"}),
			cache.CapturedRecord(k, 1, cache.Captured{Log: d[1], Duration: time.Second, Where: "local", Sandbox: "none", Outputs: []cache.Output{
				{Name: "a", Exists: true, Digest: d[2], Mode: 0o644}, {Name: "b", Exists: true, Digest: d[3], Mode: 0o644}}}),
			cache.VerdictRecord(k, 1, cache.Verdict{Key: cache.VerdictKeyOf(nil, d[2:]), Pass: true}),
			cache.EndedRecord(k, 1, cache.OK, "", time.Unix(int64(i), 0)),
		} {
			require.NoError(tb, s.Append(r))
		}
	}
	require.NoError(tb, s.Sync())
	require.NoError(tb, s.Close())
}

// BenchmarkOpen opens a store with 10,000 attempts and asks for none.
func BenchmarkOpen(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "store")
	fill(b, dir)
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(dir, Options{ReadOnly: true})
		require.NoError(b, err)
		require.NoError(b, s.Close())
	}
}

// BenchmarkOpenMillion opens a store with a million records and asks for one attempt. "rescan" is the same without its table.
func BenchmarkOpenMillion(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "store")
	s, err := Open(dir, Options{})
	require.NoError(b, err)
	for i := range 250_000 {
		for n := range 4 {
			if err := s.Append(cache.EndedRecord(keyOf(i), n+1, cache.Failed, "the command ended with exit code 1", time.Unix(int64(i), 0))); err != nil {
				b.Fatal(err)
			}
		}
	}
	require.NoError(b, s.Sync())
	require.NoError(b, s.Close())
	ask := func(b *testing.B) {
		for b.Loop() {
			s, err := Open(dir, Options{ReadOnly: true})
			require.NoError(b, err)
			all, err := s.Attempts(keyOf(777))
			require.NoError(b, err)
			require.Len(b, all, 4)
			require.NoError(b, s.Close())
		}
	}
	b.Run("table", ask)
	require.NoError(b, os.Remove(tablePath(logPath(dir, 1))))
	b.Run("rescan", ask)
}

// BenchmarkFirstHas opens it and asks for one blob, which reads the index of 40,000.
func BenchmarkFirstHas(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "store")
	fill(b, dir)
	b.ReportAllocs()
	for b.Loop() {
		s, err := Open(dir, Options{ReadOnly: true})
		require.NoError(b, err)
		ok, err := s.Has(digest.Of(fmt.Appendf(make([]byte, 1000), "blob %d of %d", 2, 77)))
		require.NoError(b, err)
		require.True(b, ok)
		require.NoError(b, s.Close())
	}
}

// BenchmarkAttempts looks up one key after the other among 10,000.
func BenchmarkAttempts(b *testing.B) {
	dir := filepath.Join(b.TempDir(), "store")
	fill(b, dir)
	s, err := Open(dir, Options{ReadOnly: true})
	require.NoError(b, err)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		all, err := s.Attempts(keyOf(i % many))
		if err != nil || len(all) != 1 {
			b.Fatal(all, err)
		}
		i++
	}
	require.NoError(b, s.Close())
}

// BenchmarkPutSmall puts 10,000 new blobs of a kilobyte into a new store and syncs once.
func BenchmarkPutSmall(b *testing.B) {
	pad := make([]byte, 1000)
	for b.Loop() {
		s, err := Open(filepath.Join(b.TempDir(), "store"), Options{})
		require.NoError(b, err)
		for i := range many {
			if _, err := cache.PutBytes(s, fmt.Appendf(pad, "%d", i)); err != nil {
				b.Fatal(err)
			}
		}
		require.NoError(b, s.Sync())
		require.NoError(b, s.Close())
	}
}

// BenchmarkAppend appends one record.
func BenchmarkAppend(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "store"), Options{})
	require.NoError(b, err)
	r := cache.EndedRecord(keyOf(1), 1, cache.OK, "", time.Unix(1, 0))
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Append(r); err != nil {
			b.Fatal(err)
		}
	}
	require.NoError(b, s.Close())
}

// BenchmarkAppendSync appends one record and makes it durable.
func BenchmarkAppendSync(b *testing.B) {
	s, err := Open(filepath.Join(b.TempDir(), "store"), Options{})
	require.NoError(b, err)
	r := cache.EndedRecord(keyOf(1), 1, cache.OK, "", time.Unix(1, 0))
	for b.Loop() {
		if err := s.Append(r); err != nil {
			b.Fatal(err)
		}
		require.NoError(b, s.Sync())
	}
	require.NoError(b, s.Close())
}

package tiered_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

// manyFiles is a tree of 10,000 small files, different in each run.
func manyFiles(b *testing.B, s cache.Store, run int) cache.SharedAttempt {
	b.Helper()
	var tree cache.Tree
	for i := range 10_000 {
		d, err := cache.PutBytes(s, fmt.Appendf(nil, "output %d of run %d: %d\n", i, run, i*i))
		require.NoError(b, err)
		tree.Entries = append(tree.Entries, cache.Entry{Path: fmt.Sprintf("out/%05d.txt", i), Kind: cache.File, Mode: 0o644, Digest: d})
	}
	text, err := tree.Encode()
	require.NoError(b, err)
	d, err := cache.PutBytes(s, text)
	require.NoError(b, err)
	require.NoError(b, s.Sync())
	k := cache.KeyOf(fmt.Append(nil, run))
	return cache.ShareAttempt(cache.Attempt{
		Key: k, Ordinal: 1, Outcome: cache.OK, Captured: &cache.Captured{Outputs: []cache.Output{{Name: "o", Exists: true, Tree: true, Digest: d}}},
	}, "b/1", "")
}

func openDisk(b *testing.B) cache.Store {
	b.Helper()
	s, err := disk.Open(b.TempDir(), disk.Options{})
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, s.Close()) })
	return s
}

// BenchmarkManySmallOutputs puts 10,000 small outputs into the local store, sends them to a server on loopback, and takes them
// from there into another store. Up and down should each stay within three times of local.
func BenchmarkManySmallOutputs(b *testing.B) {
	for name, o := range map[string]remotetest.Options{"BLAKE3": {Deaf: true}, "SHA256": {SHA256: true, Deaf: true}} {
		server := remotetest.Start(b, o)
		from := openDisk(b)
		run, local := 0, 0.0
		ratio := func(b *testing.B) { b.ReportMetric(float64(b.Elapsed())/float64(b.N)/local, "×local") }
		b.Run(name+"/local", func(b *testing.B) {
			for b.Loop() {
				run++
				manyFiles(b, from, run)
			}
			local = float64(b.Elapsed()) / float64(b.N)
		})
		shared, err := at(server.URL())(b.Context())
		require.NoError(b, err)
		var e cache.SharedAttempt
		b.Run(name+"/up", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				run++
				e = manyFiles(b, from, run)
				b.StartTimer()
				require.NoError(b, shared.Publish(b.Context(), e, from))
			}
			ratio(b)
		})
		b.Run(name+"/down", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				into, fresh := openDisk(b), connect(b, server)
				b.StartTimer()
				got, ok, err := fresh.Lookup(b.Context(), e.Key)
				require.NoError(b, err)
				require.True(b, ok)
				require.NoError(b, fresh.Take(b.Context(), got, into))
				require.NoError(b, into.Sync())
			}
			ratio(b)
		})
		require.NoError(b, shared.Close())
	}
}

// connect is another machine's connection.
func connect(b *testing.B, s *remotetest.Server) cache.Shared {
	b.Helper()
	shared, err := at(s.URL())(b.Context())
	require.NoError(b, err)
	b.Cleanup(func() { require.NoError(b, shared.Close()) })
	return shared
}

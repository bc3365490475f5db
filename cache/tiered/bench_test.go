package tiered_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

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

// spent is what something took: time, and CPU of this process, in which the server runs too.
type spent struct{ wall, cpu time.Duration }

func measure(b *testing.B, do func()) spent {
	b.Helper()
	before, start := cpuTime(b), time.Now()
	do()
	return spent{time.Since(start), cpuTime(b) - before}
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	require.NoError(b, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// ratios are those of what was sent or taken to what the local store took right before.
type ratios struct{ wall, cpu []float64 }

func (r *ratios) add(s, local spent) {
	r.wall = append(r.wall, s.wall.Seconds()/local.wall.Seconds())
	r.cpu = append(r.cpu, s.cpu.Seconds()/local.cpu.Seconds())
}

func (r *ratios) report(b *testing.B, name string) {
	for unit, all := range map[string][]float64{"×wall": r.wall, "×cpu": r.cpu} {
		slices.Sort(all)
		b.ReportMetric(all[len(all)/2], name+unit)
	}
}

// BenchmarkManySmallOutputs puts 10,000 small outputs into the local store, sends them to a server on loopback, and takes them
// from there into another store. It reports the medians of what up and down took of what local took right before: each
// should stay within three times of it.
func BenchmarkManySmallOutputs(b *testing.B) {
	for name, o := range map[string]remotetest.Options{"BLAKE3": {Deaf: true}, "SHA256": {SHA256: true, Deaf: true}} {
		b.Run(name, func(b *testing.B) {
			server := remotetest.Start(b, o)
			shared, from := connect(b, server), openDisk(b)
			var up, down ratios
			for run := 0; b.Loop(); run++ {
				var e cache.SharedAttempt
				local := measure(b, func() { e = manyFiles(b, from, run) })
				up.add(measure(b, func() { require.NoError(b, shared.Publish(b.Context(), e, from)) }), local)
				into, fresh := openDisk(b), connect(b, server)
				down.add(measure(b, func() {
					got, ok, err := fresh.Lookup(b.Context(), e.Key)
					require.NoError(b, err)
					require.True(b, ok)
					require.NoError(b, fresh.Take(b.Context(), got, into))
					require.NoError(b, into.Sync())
				}), local)
			}
			up.report(b, "up")
			down.report(b, "down")
		})
	}
}

// connect is another machine's connection.
func connect(tb testing.TB, s *remotetest.Server) cache.Shared {
	tb.Helper()
	shared, err := at(s.URL())(tb.Context())
	require.NoError(tb, err)
	tb.Cleanup(func() { require.NoError(tb, shared.Close()) })
	return shared
}

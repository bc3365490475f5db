package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/mem"
)

// BenchmarkSpares lays out and takes back the workspaces of short commands: a source, three mounts, an output. The files that stand
// for what a command makes are made as well. Before Linux 6.13, and for a user who is not root, it takes more.
func BenchmarkSpares(b *testing.B) {
	b.Run("exact", func(b *testing.B) { benchmarkSpares(b, new(Spares)) })
	b.Run("listed", func(b *testing.B) {
		spares := new(Spares)
		spares.asked.Do(func() {})
		benchmarkSpares(b, spares)
	})
	b.Run("humble", func(b *testing.B) {
		spares := new(Spares)
		spares.humble.Store(true)
		benchmarkSpares(b, spares)
	})
}

func benchmarkSpares(b *testing.B, spares *Spares) {
	root, cas := b.TempDir(), mem.New("")
	text := strings.Repeat("0123456\n", 128)
	var specs []Spec
	for i := range 20 {
		n := itoa(i)
		spec := Spec{Root: root}
		spec.Sources = append(spec.Sources, src(b, root, "src/"+n+".txt", text+n, 0o644))
		for k := range 3 {
			m := "t" + itoa(i*7+k*13)
			spec.Mounts = append(spec.Mounts, Mount{Path: ".uf/in/" + m + "/o", Digest: put(b, cas, text+m), Mode: 0o644})
		}
		specs = append(specs, spec)
	}
	defer spares.Close()
	work, n := b.TempDir(), 0
	from := cpu(b)
	for b.Loop() {
		n++
		at := filepath.Join(work, itoa(n))
		laid, err := spares.Materialize(at, cas, specs[n%len(specs)])
		require.NoError(b, err)
		begin(b, at, laid, "")
		laid.KeepLog()
		require.NoError(b, os.WriteFile(filepath.Join(at, Dir, "o.txt"), nil, 0o644))
		require.True(b, spares.Offer(at, laid))
	}
	b.ReportMetric(float64((cpu(b)-from).Microseconds())/float64(b.N), "cpu-µs/op")
}

// cpu is the time that this process used.
func cpu(b *testing.B) time.Duration {
	var self unix.Rusage
	require.NoError(b, unix.Getrusage(unix.RUSAGE_SELF, &self))
	return time.Duration(self.Utime.Nano() + self.Stime.Nano())
}

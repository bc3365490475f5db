package executor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/surroundings"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// farm is a remote of many machines, on which attempts take the time that their task is named for.
type farm struct {
	mu          sync.Mutex
	now, most   int
	ran         int
	machineTime time.Duration
}

func (f *farm) Run(_ context.Context, inv *Invocation, _ func([]byte)) (cache.Captured, error) {
	took := time.Duration(1+inv.Ordinal) * time.Minute
	for _, c := range inv.Address.Task {
		took += time.Duration(c*c%97) * 6 * time.Second
	}
	f.mu.Lock()
	f.now++
	f.ran++
	f.most = max(f.most, f.now)
	f.machineTime += took
	f.mu.Unlock()
	if err := inv.Place(cache.Placed{Remote: inv.Remote, Action: "a", Handle: inv.Address.Task}); err != nil {
		return cache.Captured{}, err
	}
	time.Sleep(took)
	f.mu.Lock()
	f.now--
	f.mu.Unlock()
	return cache.Captured{Duration: took, Where: inv.Remote}, nil
}

type countingSink struct{ events int }

func (s *countingSink) Emit(event.Event) { s.events++ }

// TestTenThousandNodesOverTwoHundredMachines is the simulation of docs/scaling.md: the real scheduler, journal and store, on a
// clock that only moves when everything waits. What it costs is printed with -v; what is asserted does not depend on the
// machine.
func TestTenThousandNodesOverTwoHundredMachines(t *testing.T) {
	nodes, machines := 2_000, 200
	if os.Getenv(surroundings.Simulation) != "" {
		nodes = 10_000
	}
	root := t.TempDir()
	var text strings.Builder
	fmt.Fprintf(&text, "remote \"farm\" {\n  engine = \"slurm\"\n  slots = %d\n}\n", machines)
	for i := range nodes {
		fmt.Fprintf(&text, "task \"t%05d\" {\n  command = [\"work\", \"%d\"]\n  remote = \"farm\"\n  timeout = \"9h\"\n", i, i)
		if i >= 500 { // layers of 500, each node with two needs
			at := (i/500 - 1) * 500
			fmt.Fprintf(&text, "  depends_on = [task.t%05d, task.t%05d]\n", at+i%500, at+(i+7)%500)
		}
		text.WriteString("}\n")
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "campaign.hcl"), []byte(text.String()), 0o600))
	c, ds := lang.Load(lang.Options{Dir: root})
	require.False(t, ds.HasErrors(), "%v", ds)
	g, ds := graph.Build(c)
	require.False(t, ds.HasErrors(), "%v", ds)
	store, err := disk.Open(t.TempDir(), disk.Options{})
	require.NoError(t, err)
	defer store.Close()

	f, sink := &farm{}, &countingSink{}
	var sum Summary
	var took time.Duration
	var before, after syscall.Rusage
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &before))
	synctest.Test(t, func(t *testing.T) {
		j, err := journal.Open(root)
		require.NoError(t, err)
		view, _, err := journal.Read(root)
		require.NoError(t, err)
		work, err := NewWorkDir(store, "simulated")
		require.NoError(t, err)
		files := source.Open(root, "")
		b := &Builder{
			Decider: Decider{Campaign: c, Store: store, View: view, Sources: files, Placer: place.Open(root, c.Out, files, store), Now: time.Now},
			Graph:   g, Runner: f, Journal: j, Sink: sink, Work: work, Build: "simulated", Jobs: 2, Reap: func(string) {},
			Environ: func(string) (string, bool) { return "", false }, After: time.After, Jitter: func() float64 { return 0.5 },
		}
		all := make([]graph.NodeID, g.Len())
		for i := range all {
			all[i] = graph.NodeID(i)
		}
		start := time.Now()
		sum, err = b.Run(context.Background(), all)
		require.NoError(t, err)
		took = time.Since(start)
		require.NoError(t, work.Close())
		require.NoError(t, j.Close())
		files.Close()
	})
	require.NoError(t, syscall.Getrusage(syscall.RUSAGE_SELF, &after))
	require.Equal(t, nodes, sum.Counts[Ran])
	require.Equal(t, nodes, f.ran)
	require.Equal(t, machines, f.most, "two jobs here do not hold up two hundred elsewhere")
	best := f.machineTime / time.Duration(machines)
	require.Less(t, took, best*13/10, "machines are idle")
	log, err := os.Stat(filepath.Join(root, journal.Dir, "journal.log"))
	require.NoError(t, err)
	require.Less(t, log.Size()/int64(nodes), int64(1500), "bytes of journal a node")
	cpu := time.Duration(after.Utime.Nano() + after.Stime.Nano() - before.Utime.Nano() - before.Stime.Nano())
	t.Logf("%d nodes, %d machines: %v of their time in %v (at best %v); %v of CPU here, %v a node; %d events; journal %d bytes a node",
		nodes, machines, f.machineTime, took, best, cpu, cpu/time.Duration(nodes), sink.events, log.Size()/int64(nodes))
}

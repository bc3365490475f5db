package executor

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// ordering is a scheduler of a graph in which task i needs those that needs names.
func ordering(t testing.TB, n int, needs func(i int) []int, took map[string]time.Duration) *scheduler {
	c := &lang.Campaign{Tasks: make([]*lang.Task, n)}
	for i := range n {
		task := &lang.Task{Name: nameOf(i)}
		inst := &lang.Instance{Settings: &lang.Settings{}, Address: lang.Address{Task: task.Name}}
		for _, on := range needs(i) {
			task.Refs = append(task.Refs, lang.Ref{Task: nameOf(on), Kind: lang.DataRef, How: "refers to"})
			inst.Needs = append(inst.Needs, lang.Need{On: &lang.Address{Task: nameOf(on)}, Kind: lang.DataRef})
		}
		task.Instances = []*lang.Instance{inst}
		c.Tasks[i] = task
	}
	g, ds := graph.Build(c)
	require.Empty(t, ds)
	b := &Builder{Jobs: n, Graph: g, Took: func(a lang.Address) time.Duration { return took[a.String()] }}
	b.Campaign = c
	b.Now = func() time.Time { return time.Time{} }
	s := newScheduler(b, false)
	all := make([]graph.NodeID, g.Len())
	for i := range all {
		all[i] = graph.NodeID(i)
	}
	s.want(all)
	return s
}

func nameOf(i int) string { return fmt.Sprintf("t%06d", i) }

// runAll starts what is ready, one at a time, and returns the names in order of starting.
func runAll(s *scheduler) []string {
	var started []string
	queue := func(id graph.NodeID) {
		if s.nodes[id].waiting == 0 {
			s.admit.push(id, s.graph.Node(id).Instance, 0)
		}
	}
	for _, id := range s.order {
		queue(id)
	}
	for {
		id, rung, ok := s.admit.pop()
		if !ok {
			return started
		}
		started = append(started, s.graph.Node(id).Address.Task)
		s.admit.release(s.graph.Node(id).Instance, rung)
		for e := range s.graph.Dependents(id) {
			s.nodes[e.From].waiting--
			queue(e.From)
		}
	}
}

// TestTheLongestWayStartsFirst: 0 ← 3 ← 4 is long by time, 1 ← 5 ← 6 ← 7 by number, 2 is one that takes longer than either.
func TestTheLongestWayStartsFirst(t *testing.T) {
	edges := map[int][]int{3: {0}, 4: {3}, 5: {1}, 6: {5}, 7: {6}}
	needs := func(i int) []int { return edges[i] }
	n := nameOf
	require.Equal(t, []string{n(1), n(0), n(5), n(3), n(6), n(2), n(4), n(7)}, runAll(ordering(t, 8, needs, nil)),
		"without history the longest chain; of equals the first")
	minute := func(i int) time.Duration { return time.Duration(i) * time.Minute }
	took := map[string]time.Duration{n(0): minute(1), n(3): minute(1), n(4): minute(60), n(2): minute(100), n(1): minute(9)}
	for _, i := range []int{5, 6, 7} {
		took[n(i)] = minute(1)
	}
	require.Equal(t, []string{n(2), n(0), n(3), n(4), n(1), n(5), n(6), n(7)}, runAll(ordering(t, 8, needs, took)))
	delete(took, n(2)) // then it is taken for the median of the others: a minute
	require.Equal(t, []string{n(0), n(3), n(4), n(1), n(5), n(6), n(2), n(7)}, runAll(ordering(t, 8, needs, took)))
}

// wide is a graph of layers of a hundred, each node with three dependencies.
func wide(i int) []int {
	if i < 100 {
		return nil
	}
	base := (i/100 - 1) * 100
	a, b, c := base+i*7%100, base+(i*7+31)%100, base+(i*7+62)%100
	return []int{a, b, c}
}

// TestSchedulerMemory bounds what a node costs beside the graph; memory is counted since a clock lies on a busy machine.
func TestSchedulerMemory(t *testing.T) {
	const n = 10_000
	b := ordering(t, n, wide, nil).b
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := newScheduler(b, false)
	all := make([]graph.NodeID, n)
	for i := range all {
		all[i] = graph.NodeID(i)
	}
	s.want(all)
	require.Len(t, runAll(s), n)
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/n, uint64(2<<10), "bytes a node")
}

// BenchmarkSchedule takes 100,000 nodes from wanted to started: the aim is at most 10 µs and 2 KiB a node. It reports the
// CPU time too, since the other time is also that of whatever else the machine does, and what is held beside the graph.
func BenchmarkSchedule(b *testing.B) {
	const n = 100_000
	builder := ordering(b, n, wide, nil).b
	all := make([]graph.NodeID, n)
	for i := range all {
		all[i] = graph.NodeID(i)
	}
	b.ReportAllocs()
	var s *scheduler
	before, begun := heldBytes(), cpuTime(b)
	for b.Loop() {
		s = newScheduler(builder, false)
		s.want(all)
		runAll(s)
	}
	each := float64(b.N) * n
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/each, "ns/node")
	b.ReportMetric(float64((cpuTime(b)-begun).Nanoseconds())/each, "cpu-ns/node")
	b.ReportMetric(float64(heldBytes()-before)/n, "held-B/node")
	runtime.KeepAlive(s)
}

// heldBytes is what is reachable on the heap.
func heldBytes() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// cpuTime is what this process took of all processors.
func cpuTime(tb testing.TB) time.Duration {
	var u syscall.Rusage
	require.NoError(tb, syscall.Getrusage(syscall.RUSAGE_SELF, &u))
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

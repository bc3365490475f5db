package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// maxCycleSteps bounds the search for the shortest cycle of one component. A ring of 10,000 tasks
// with chords would take minutes; the cycle in hand when the steps are used up is shown instead.
const maxCycleSteps = 4_000_000

// cycles reports one cycle for each set of tasks that need each other: the shortest, starting with
// its first declared task, every edge with its place (UF3001).
func (s *taskGraph) cycles() lang.Diagnostics {
	next := func(id NodeID, i int) (NodeID, bool) {
		if i < len(s.to[id]) {
			return s.to[id][i].to, true
		}
		return -1, false
	}
	var ds lang.Diagnostics
	for _, c := range cyclicComponents(len(s.tasks), next) {
		ds = append(ds, s.cycleDiagnostic(s.shortestCycle(c)))
	}
	return ds
}

// cycleStep is a task of a cycle and the reference by which it needs the next one.
type cycleStep struct {
	task NodeID
	ref  *lang.Ref
}

// shortestCycle searches from each member and takes it out afterwards: a shorter cycle through it
// would have been found already.
func (s *taskGraph) shortestCycle(members []NodeID) []cycleStep {
	search := &cycleSearch{graph: s, inside: make([]bool, len(s.tasks)), depth: make([]int32, len(s.tasks)),
		from: make([]cycleStep, len(s.tasks)), steps: maxCycleSteps}
	for _, id := range members {
		search.inside[id] = true
	}
	var best []cycleStep
	for _, start := range members {
		if c := search.through(start, len(best)); c != nil {
			best = c
		}
		if len(best) == 2 || (search.steps <= 0 && best != nil) {
			break
		}
		search.inside[start] = false
	}
	return rotate(best)
}

// cycleSearch is breadth-first search over some of the tasks, its memory used again each time.
type cycleSearch struct {
	graph  *taskGraph
	inside []bool      // tasks that may be walked through
	depth  []int32     // 1 for the start, 0 for a task that was not reached
	from   []cycleStep // how a task was reached
	queue  []NodeID
	steps  int // edges it may still look at
}

// through returns a shortest cycle through start that has fewer than limit tasks (0: no limit).
func (c *cycleSearch) through(start NodeID, limit int) []cycleStep {
	for _, id := range c.queue {
		c.depth[id] = 0
	}
	c.queue = append(c.queue[:0], start)
	c.depth[start] = 1
	for i := 0; i < len(c.queue); i++ {
		at := c.queue[i]
		if limit > 0 && int(c.depth[at]) >= limit {
			return nil
		}
		for _, e := range c.graph.to[at] {
			c.steps--
			if e.to == start {
				return c.trace(cycleStep{at, e.ref}, start)
			}
			if c.depth[e.to] == 0 && c.inside[e.to] {
				c.depth[e.to] = c.depth[at] + 1
				c.from[e.to] = cycleStep{at, e.ref}
				c.queue = append(c.queue, e.to)
			}
		}
	}
	return nil
}

// trace walks back from the last step to start.
func (c *cycleSearch) trace(last cycleStep, start NodeID) []cycleStep {
	cycle := []cycleStep{last}
	for last.task != start {
		last = c.from[last.task]
		cycle = append(cycle, last)
	}
	slices.Reverse(cycle)
	return cycle
}

// rotate makes a cycle start with its first declared task.
func rotate(c []cycleStep) []cycleStep {
	first := 0
	for i := range c {
		if c[i].task < c[first].task {
			first = i
		}
	}
	return slices.Concat(c[first:], c[:first])
}

// cycleDiagnostic describes a cycle.
func (s *taskGraph) cycleDiagnostic(cycle []cycleStep) lang.Diagnostic {
	var names []string
	d := lang.Diagnostic{Severity: lang.Error, Code: "UF3001", Subject: &s.tasks[cycle[0].task].Range}
	for _, step := range cycle {
		name := s.tasks[step.task].Name
		names = append(names, "task."+name)
		d.Related = append(d.Related, lang.Related{Range: step.ref.Range, Message: edgeSentence(name, step.ref)})
	}
	names = append(names, names[0])
	d.Summary = fmt.Sprintf("Tasks need each other: %s.", strings.Join(names, " -> "))
	d.Hint = "take one of these references out; ufbuild graph draws the campaign with the cycle marked"
	return d
}

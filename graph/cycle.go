package graph

import "slices"

// findCycles returns the strongly connected components of the waiting edges that hold a cycle.
func (g *Graph) findCycles() [][]NodeID {
	next := func(id NodeID, i int) (NodeID, bool) {
		if edges := g.Deps(id); i < len(edges) {
			return edges[i].To, edges[i].waits()
		}
		return -1, false
	}
	return cyclicComponents(len(g.nodes), next)
}

// cyclicComponents returns the strongly connected components that hold a cycle, each sorted, in the
// order of their first members. It is Tarjan's algorithm with a stack of its own, since a chain of
// 100,000 nodes is legal. next returns the i-th neighbour of a node, -1 after the last one, and
// whether to follow it.
func cyclicComponents(n int, next func(id NodeID, i int) (NodeID, bool)) [][]NodeID {
	t := tarjan{next: next, index: make([]int32, n), low: make([]int32, n), on: make([]bool, n)}
	for id := range NodeID(n) {
		if t.index[id] == 0 {
			t.visit(id)
		}
	}
	slices.SortFunc(t.found, func(a, b []NodeID) int { return int(a[0] - b[0]) })
	return t.found
}

type tarjan struct {
	next  func(NodeID, int) (NodeID, bool)
	index []int32 // order of discovery from 1; 0 is undiscovered
	low   []int32
	on    []bool // on the stack
	stack []NodeID
	calls []tarjanCall
	count int32
	loops []NodeID // nodes that need themselves
	found [][]NodeID
}

type tarjanCall struct {
	id NodeID
	i  int // next neighbour
}

func (t *tarjan) visit(root NodeID) {
	t.enter(root)
	for len(t.calls) > 0 {
		call := &t.calls[len(t.calls)-1]
		id := call.id
		to, follow := t.next(id, call.i)
		call.i++
		switch {
		case to < 0:
			t.leave(id)
		case !follow:
		case to == id:
			t.loops = append(t.loops, id)
		case t.index[to] == 0:
			t.enter(to)
		case t.on[to]:
			t.low[id] = min(t.low[id], t.index[to])
		}
	}
}

func (t *tarjan) enter(id NodeID) {
	t.count++
	t.index[id], t.low[id], t.on[id] = t.count, t.count, true
	t.stack = append(t.stack, id)
	t.calls = append(t.calls, tarjanCall{id: id})
}

func (t *tarjan) leave(id NodeID) {
	t.calls = t.calls[:len(t.calls)-1]
	if n := len(t.calls); n > 0 {
		caller := t.calls[n-1].id
		t.low[caller] = min(t.low[caller], t.low[id])
	}
	if t.low[id] != t.index[id] {
		return
	}
	at := len(t.stack) - 1
	for t.stack[at] != id {
		at--
	}
	members := t.stack[at:]
	t.stack = t.stack[:at]
	for _, member := range members {
		t.on[member] = false
	}
	if len(members) > 1 || slices.Contains(t.loops, id) {
		found := slices.Clone(members)
		slices.Sort(found)
		t.found = append(t.found, found)
	}
}

package graph

import "slices"

// computeOrder sorts the nodes topologically, the ready one that is declared first first. Nodes that are left over
// are in a cycle or wait for one; only then are the cycles looked for.
func (g *Graph) computeOrder() {
	g.order = g.sortNodes(nil)
	g.cycles = nil
	if len(g.order) < len(g.nodes) {
		g.cycles = g.findCycles()
		cyclic := make([]bool, len(g.nodes))
		for _, cycle := range g.cycles {
			for _, id := range cycle {
				cyclic[id] = true
			}
		}
		g.order = g.sortNodes(cyclic)
	}
	g.computePos()
}

// ranked is the number by which a node is sorted, and which node a number stands for.
func (g *Graph) ranked(id NodeID) NodeID {
	if g.rank == nil {
		return id
	}
	return g.rank[id]
}

func (g *Graph) atRank(n NodeID) NodeID {
	if g.declared == nil {
		return n
	}
	return g.declared[n]
}

// sortNodes is Kahn's algorithm over the nodes that are not in leave (nil leaves none out).
func (g *Graph) sortNodes(leave []bool) []NodeID {
	left := func(id NodeID) bool { return leave != nil && leave[id] }
	waiting := make([]int32, len(g.nodes))
	ready := make(idHeap, 0, len(g.nodes))
	for n := range NodeID(len(g.nodes)) {
		id := g.atRank(n)
		if left(id) {
			continue
		}
		for i := range g.Deps(id) {
			if e := &g.Deps(id)[i]; e.waits() && !left(e.To) {
				waiting[id]++
			}
		}
		if waiting[id] == 0 {
			ready = append(ready, n) // rising numbers are a heap
		}
	}
	order := make([]NodeID, 0, len(g.nodes))
	for len(ready) > 0 {
		id := g.atRank(ready.take())
		order = append(order, id)
		for e := range g.Dependents(id) {
			if !e.waits() || left(e.From) {
				continue
			}
			if waiting[e.From]--; waiting[e.From] == 0 {
				ready.push(g.ranked(e.From))
			}
		}
	}
	return order
}

func (g *Graph) computePos() {
	g.pos = make([]int32, len(g.nodes))
	for i, id := range g.order {
		g.pos[id] = int32(i)
	}
	n := int32(len(g.order))
	for _, cycle := range g.cycles {
		for _, id := range cycle {
			g.pos[id] = n
			n++
		}
	}
}

// Sorted returns a copy of ids in topological order, nodes of cycles last, each once.
func (g *Graph) Sorted(ids []NodeID) []NodeID { return g.sortTopologically(slices.Clone(ids)) }

// sortTopologically orders ids as Order does, nodes of cycles last, and drops repetitions.
func (g *Graph) sortTopologically(ids []NodeID) []NodeID {
	slices.SortFunc(ids, func(a, b NodeID) int { return int(g.pos[a] - g.pos[b]) })
	return slices.Compact(ids)
}

// idHeap is a binary min-heap of node numbers. container/heap would allocate for each of them.
type idHeap []NodeID

func (h *idHeap) push(id NodeID) {
	s := append(*h, id)
	for i := len(s) - 1; i > 0; {
		up := (i - 1) / 2
		if s[up] <= s[i] {
			break
		}
		s[up], s[i] = s[i], s[up]
		i = up
	}
	*h = s
}

// take removes the smallest number.
func (h *idHeap) take() NodeID {
	s := *h
	least, last := s[0], len(s)-1
	s[0] = s[last]
	s = s[:last]
	for i := 0; ; {
		child := 2*i + 1
		if child >= last {
			break
		}
		if child+1 < last && s[child+1] < s[child] {
			child++
		}
		if s[i] <= s[child] {
			break
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
	*h = s
	return least
}

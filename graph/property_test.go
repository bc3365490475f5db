package graph

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// randomCamp has n tasks; back allows needs that make cycles.
func randomCamp(r *rand.Rand, n int, back bool) *camp {
	b := newCamp()
	for i := range n {
		var needs []string
		for range r.IntN(4) {
			to := r.IntN(n)
			if !back {
				if i == 0 {
					break
				}
				to = r.IntN(i)
			}
			mark := []string{"", "", ">", "~"}[r.IntN(4)]
			if need := fmt.Sprintf("t%d", to); to != i && !slices.ContainsFunc(needs, func(s string) bool { return s == need || s[1:] == need }) {
				needs = append(needs, mark+need)
			}
		}
		b.task(fmt.Sprintf("t%d", i), needs...)
	}
	return b
}

// reaches is reachability the slow way.
func reaches(g *Graph, from NodeID, follow func(*Edge) bool, edges func(NodeID) []Edge, end func(*Edge) NodeID) map[NodeID]bool {
	seen := map[NodeID]bool{from: true}
	for changed := true; changed; {
		changed = false
		for id := range seen {
			for _, e := range edges(id) {
				if to := end(&e); follow(&e) && !seen[to] {
					seen[to], changed = true, true
				}
			}
		}
	}
	return seen
}

func TestRandomGraphs(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 2))
		g, _ := Build(randomCamp(r, 1+r.IntN(25), seed%2 == 1).c)
		checkOrder(t, g)
		start := NodeID(r.IntN(g.Len()))
		up := reaches(g, start, func(e *Edge) bool { return e.Kind == Data }, dependents(g), func(e *Edge) NodeID { return e.From })
		require.ElementsMatch(t, keys(up), g.Cone(start))
		down := reaches(g, start, func(*Edge) bool { return true }, g.Deps, func(e *Edge) NodeID { return e.To })
		require.ElementsMatch(t, keys(down), g.Closure(start))
		for id := range g.nodes {
			path := g.Path([]NodeID{start}, []NodeID{NodeID(id)})
			require.Equal(t, down[NodeID(id)] && NodeID(id) != start, path != nil)
		}
		if len(g.Cycles()) == 0 {
			checkPaths(t, g, r)
		}
	}
}

// dependents are the edges to a node as a list, found without the order that the graph has them in.
func dependents(g *Graph) func(NodeID) []Edge {
	return func(id NodeID) (to []Edge) {
		for _, e := range g.Edges() {
			if e.To == id {
				to = append(to, e)
			}
		}
		return to
	}
}

// checkPaths requires that a path between sets is as short as the shortest between two of their nodes.
func checkPaths(t *testing.T, g *Graph, r *rand.Rand) {
	t.Helper()
	some := func() (ids []NodeID) {
		for range 1 + r.IntN(4) {
			ids = append(ids, NodeID(r.IntN(g.Len())))
		}
		return ids
	}
	from, to := some(), some()
	best := 0
	for _, a := range from {
		for _, b := range to {
			if n := len(g.Path([]NodeID{a}, []NodeID{b})); n > 0 && (best == 0 || n < best) {
				best = n
			}
		}
	}
	path := g.Path(from, to)
	require.Len(t, path, best)
	for i, e := range path {
		require.Contains(t, g.Deps(e.From), e)
		require.True(t, i == 0 || path[i-1].To == e.From)
	}
	if best > 0 {
		require.Contains(t, from, path[0].From)
		require.Contains(t, to, path[best-1].To)
	}
}

func keys(set map[NodeID]bool) []NodeID {
	var ids []NodeID
	for id := range set {
		ids = append(ids, id)
	}
	return ids
}

// checkOrder requires that Order holds every node outside cycles after what it waits for, the
// smallest ready one first, and that Cycles holds exactly the nodes that reach themselves.
func checkOrder(t *testing.T, g *Graph) {
	t.Helper()
	cyclic := map[NodeID]bool{}
	for _, c := range g.Cycles() {
		for _, id := range c {
			cyclic[id] = true
		}
	}
	for id := range NodeID(g.Len()) {
		self := false
		for _, e := range g.Deps(id) {
			down := reaches(g, e.To, func(*Edge) bool { return true }, g.Deps, func(e *Edge) NodeID { return e.To })
			self = self || down[id]
		}
		require.Equal(t, self, cyclic[id], "node %d", id)
	}
	done := map[NodeID]bool{}
	ready := func(id NodeID) bool {
		return !cyclic[id] && !done[id] && !slices.ContainsFunc(g.Deps(id), func(e Edge) bool { return !done[e.To] && !cyclic[e.To] })
	}
	for _, id := range g.Order() {
		for smaller := range id {
			require.False(t, ready(smaller), "%d was ready before %d", smaller, id)
		}
		require.True(t, ready(id))
		done[id] = true
	}
	require.Equal(t, g.Len(), len(done)+len(cyclic))
}

package graph

import "slices"

// Cone returns the given nodes and everything their content can reach: dependents through data
// edges, tolerated ones included. Order and verdict edges carry no staleness and end it. Topological order.
func (g *Graph) Cone(ids ...NodeID) []NodeID {
	return g.reach(ids, func(id NodeID, visit func(NodeID)) {
		for e := range g.Dependents(id) {
			if e.Kind == Data {
				visit(e.From)
			}
		}
	})
}

// Closure returns the given nodes and everything needed to bring them up to date, in topological
// order.
func (g *Graph) Closure(ids ...NodeID) []NodeID {
	return g.reach(ids, func(id NodeID, visit func(NodeID)) {
		edges := g.Deps(id)
		for i := range edges {
			visit(edges[i].To)
		}
	})
}

// Users returns the given nodes and everything that needs them through edges of any kind, in
// topological order.
func (g *Graph) Users(ids ...NodeID) []NodeID {
	return g.reach(ids, func(id NodeID, visit func(NodeID)) {
		for e := range g.Dependents(id) {
			visit(e.From)
		}
	})
}

// reach collects what can be reached from ids. The result is the caller's.
func (g *Graph) reach(ids []NodeID, neighbours func(NodeID, func(NodeID))) []NodeID {
	seen := make([]bool, len(g.nodes))
	var found []NodeID
	visit := func(id NodeID) {
		if !seen[id] {
			seen[id] = true
			found = append(found, id)
		}
	}
	for _, id := range ids {
		visit(id)
	}
	for i := 0; i < len(found); i++ {
		neighbours(found[i], visit)
	}
	return g.sortTopologically(found)
}

// Path returns a shortest of the chains of edges by which a node of from needs another one of to; nil when there is none.
// The edges are in order. It looks at each edge once.
func (g *Graph) Path(from, to []NodeID) []Edge {
	goal := make([]bool, len(g.nodes))
	for _, id := range to {
		goal[id] = true
	}
	via := make([]*Edge, len(g.nodes))
	start := make([]NodeID, len(g.nodes)) // 1 + the node of from that a node was reached from; 0: not reached
	queue := make([]NodeID, 0, len(from))
	for _, id := range from {
		if start[id] == 0 {
			start[id] = id + 1
			queue = append(queue, id)
		}
	}
	for i := 0; i < len(queue); i++ {
		at := queue[i]
		edges := g.Deps(at)
		for j := range edges {
			next := edges[j].To
			if goal[next] && start[at] != next+1 {
				return chain(via, &edges[j])
			}
			if start[next] == 0 {
				start[next], via[next] = start[at], &edges[j]
				queue = append(queue, next)
			}
		}
	}
	return nil
}

// chain follows the edges by which nodes were reached back from the last one.
func chain(via []*Edge, last *Edge) []Edge {
	var path []Edge
	for e := last; e != nil; e = via[e.From] {
		path = append(path, *e)
	}
	slices.Reverse(path)
	return path
}

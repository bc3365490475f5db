package graph

// Cone returns the given nodes and everything their content can reach: dependents through data
// edges, tolerated ones included. Order and verdict edges carry no staleness and end it. Topological order.
func (g *Graph) Cone(ids ...NodeID) []NodeID {
	return g.reach(ids, func(id NodeID, visit func(NodeID)) {
		edges := g.Dependents(id)
		for i := range edges {
			if edges[i].Kind == Data {
				visit(edges[i].From)
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
		edges := g.Dependents(id)
		for i := range edges {
			visit(edges[i].From)
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

// Path returns a shortest chain of edges by which from needs to, nil when it does not. The edges
// are in order, the first one leaves from.
func (g *Graph) Path(from, to NodeID) []Edge {
	via := make([]*Edge, len(g.nodes))
	seen := make([]bool, len(g.nodes))
	seen[from] = true
	queue := []NodeID{from}
	for i := 0; i < len(queue) && !seen[to]; i++ {
		edges := g.Deps(queue[i])
		for j := range edges {
			if next := edges[j].To; !seen[next] {
				seen[next], via[next] = true, &edges[j]
				queue = append(queue, next)
			}
		}
	}
	if from == to || !seen[to] {
		return nil
	}
	var path []Edge
	for at := to; at != from; at = via[at].From {
		path = append([]Edge{*via[at]}, path...)
	}
	return path
}

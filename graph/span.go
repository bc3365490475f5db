package graph

import "slices"

// Span returns what lies on the way from some nodes to others: the nodes in the closure of to that are among from or need
// one of them, in topological order.
func (g *Graph) Span(from, to []NodeID) []NodeID {
	needed := make([]bool, len(g.nodes))
	for _, id := range g.Closure(to...) {
		needed[id] = true
	}
	return slices.DeleteFunc(g.Users(from...), func(id NodeID) bool { return !needed[id] })
}

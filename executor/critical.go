package executor

import (
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/graph"
)

// wayOf says how long the longest way is from the start of a node to the end of everything that waits for it, by what
// attempts took before. What starts first decides how long a build takes when there is more to run than may run at once: the
// node at the head of the longest way. Ways are measured at the first question, since a build that runs nothing never asks.
func (s *scheduler) wayOf(id graph.NodeID) time.Duration {
	if len(s.ways) != len(s.nodes) { // also when instances came up
		s.ways = s.measure()
	}
	return s.ways[id]
}

// measure goes through the wanted nodes from the last to the first. Nobody waits for the far end of a validation edge.
func (s *scheduler) measure() []time.Duration {
	took := s.durations()
	way := make([]time.Duration, len(s.nodes))
	order := s.order
	if len(s.nodes) > s.b.Graph.Len() { // instances stand at the end of the order, behind those who read them
		order = s.graph.Closure(s.order...)
	}
	for _, id := range slices.Backward(order) {
		for e := range s.graph.Dependents(id) {
			if e.Kind != graph.Validation {
				way[id] = max(way[id], way[e.From])
			}
		}
		way[id] += took[id]
	}
	return way
}

// durations are what attempts took before; what nobody knows is taken for as long as the median of the rest, so that without
// any history the longest chain comes first.
func (s *scheduler) durations() []time.Duration {
	took := make([]time.Duration, len(s.nodes))
	var known []time.Duration
	for _, id := range s.order {
		if s.b.Took != nil {
			took[id] = s.b.Took(s.nodes[id].result.Address)
		}
		if took[id] > 0 {
			known = append(known, took[id])
		}
	}
	median := time.Second
	if len(known) > 0 {
		slices.Sort(known)
		median = known[len(known)/2]
	}
	for _, id := range s.order {
		if took[id] == 0 {
			took[id] = median
		}
	}
	return took
}

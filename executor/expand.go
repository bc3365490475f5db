package executor

import (
	"context"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// expand turns a template node into its instances, now that the list they come from is known. The
// instances are derived anew in every build: what vanished from the list is simply not there, and what
// is unchanged has the key it had.
func (s *scheduler) expand(ctx context.Context, id graph.NodeID) {
	s.set(id, Deciding)
	node := s.graph.Node(id)
	instances, diags := s.b.Campaign.Expand(node.Task, s.dependenciesOf(id))
	if diags.HasErrors() {
		s.nodes[id].result.say().Diags = diags
		s.fail(ctx, id, cache.Failed, brokenMessage(&Decision{Diagnostics: diags}))
		return
	}
	first := graph.NodeID(len(s.nodes))
	s.graph = s.graph.WithExpansion(id, instances)
	s.nodes = append(s.nodes, newNodeStates(s.graph.Len()-int(first))...)
	s.wantInstances(id, first)
	s.nodes[id].left = left{done: true, ok: true, status: string(cache.OK)}
	s.done(ctx, id, Expanded)
}

// wantInstances makes the new nodes from first on wait for their dependencies, and their dependents wait
// for them.
func (s *scheduler) wantInstances(template, first graph.NodeID) {
	only := s.onlyOf(template)
	for id := first; int(id) < len(s.nodes); id++ {
		n := s.nodes[id]
		n.result.Address = s.graph.Node(id).Address
		if only != nil && !only[n.result.Address] {
			continue
		}
		s.set(id, Waiting)
		s.order = append(s.order, id)
		s.open++
	}
	for id := first; int(id) < len(s.nodes); id++ {
		if s.nodes[id].state == Unwanted {
			continue
		}
		for _, e := range s.graph.Deps(id) {
			if st := s.nodes[e.To].state; e.Kind != graph.Validation && st != Unwanted && !st.Final() {
				s.nodes[id].waiting++
			}
		}
		for e := range s.graph.Dependents(id) {
			if e.Kind != graph.Validation && e.From < first && s.nodes[e.From].state == Waiting {
				s.nodes[e.From].waiting++
			}
		}
	}
}

// onlyOf names the instances of a template that are wanted, nil for all: somebody who reads the task as
// a whole reads all of them.
func (s *scheduler) onlyOf(template graph.NodeID) map[lang.Address]bool {
	only := s.b.Only[template]
	if only == nil {
		return nil
	}
	for e := range s.graph.Dependents(template) {
		if int(e.From) < s.b.Graph.Len() && s.nodes[e.From].state != Unwanted {
			return nil
		}
	}
	return only
}

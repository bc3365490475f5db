package executor

import (
	"context"

	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// Scope says which nodes may start. What else is wanted has to be fresh already: it is decided, put in place and read, but
// not run, and what needs it waits for another build. Nodes are those of [Builder.Graph].
type Scope struct {
	Nodes map[graph.NodeID]bool                  // may start; of a template node: its instances may
	Only  map[graph.NodeID]map[lang.Address]bool // of a template node among them: the instances that may; none: all
	Why   string                                 // what leaves the rest out, such as "--only"
}

// mayStart reports whether the scope of the build lets a node run.
func (s *scheduler) mayStart(id graph.NodeID) bool {
	sc := s.b.Scope
	if sc == nil {
		return true
	}
	if int(id) < s.b.Graph.Len() {
		return sc.Nodes[id]
	}
	n := s.graph.Node(id)
	template := s.b.Graph.OfTask(n.Task.Name)[0]
	only := sc.Only[template]
	return sc.Nodes[template] && (only == nil || only[n.Address])
}

// leftOutBy finds the node outside the scope that a node has to wait for. It counts along every edge, tolerated ones too:
// what is left out has not failed, and a reader that went on without it would have to be paid again.
func (s *scheduler) leftOutBy(id graph.NodeID) (lang.Address, bool) {
	if s.b.Scope == nil {
		return lang.Address{}, false
	}
	for _, e := range s.graph.Deps(id) {
		dep := &s.nodes[e.To].result
		switch {
		case e.Kind == graph.Validation || !dep.LeftOut:
		case dep.Cause != lang.Address{}:
			return dep.Cause, true
		default:
			return dep.Address, true
		}
	}
	return lang.Address{}, false
}

// leaveOut ends a node that does not run since it is outside the scope, or since cause is. Nothing failed, so it leaves no
// record.
func (s *scheduler) leaveOut(ctx context.Context, id graph.NodeID, cause lang.Address) {
	n := s.nodes[id]
	n.result.LeftOut = true
	n.result.setCause(cause, n.result.Through)
	if cause == (lang.Address{}) {
		n.result.say().Message = "left out by " + s.b.Scope.Why + ", and stale: " + n.result.Reason.String()
	} else {
		n.result.say().Message = "waits for " + cause.String() + ", which " + s.b.Scope.Why + " leaves out"
	}
	s.done(ctx, id, Skipped)
}

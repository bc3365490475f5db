package graph

import (
	"iter"

	"github.com/ufbuild/ufbuild/lang"
)

// NodeID is the index of a node. Order is declaration, key, matrix, loop; expanded nodes come last.
type NodeID int32

// Node is a vertex: one task instance, or the template node of an expand block.
type Node struct {
	ID       NodeID
	Address  lang.Address
	Task     *lang.Task
	Instance *lang.Instance // nil for a template node the campaign gives no symbolic instance
	Template bool           // instances come at run time, see [Graph.WithExpansion]
}

// EdgeKind says what an edge carries.
type EdgeKind uint8

// The kinds of edge.
const (
	Data       EdgeKind = iota + 1 // content of the far end can make the near end stale
	Order                          // the far end must be done first, nothing flows
	Validation                     // the far end is run too, but not waited for
	Verdict                        // content of the far end can change the verdict of the near end, never its key
)

// String returns the word of the vocabulary.
func (k EdgeKind) String() string {
	switch k {
	case Data:
		return "data"
	case Order:
		return "order"
	case Validation:
		return "validation"
	case Verdict:
		return "verdict"
	}
	return "edge kind 0"
}

// Edge says that From needs To. The embedded Ref, never nil, is the place in the campaign that says
// so: Range and How are read from it. It is a pointer because a fan-out shares one place among
// thousands of edges.
type Edge struct {
	From, To NodeID
	Kind     EdgeKind
	Tolerate bool // failure or skip of To is fine
	All      bool // named in depends_on: all outputs of To flow
	*lang.Ref
}

// waits reports whether From must not start before To is done.
func (e *Edge) waits() bool { return e.Kind != Validation }

// Graph is an immutable dependency graph. The zero value is not useful; see [Build].
type Graph struct {
	campaign *lang.Campaign
	nodes    []Node
	deps     adjacency               // edges by From
	rdeps    reverse                 // the same by To
	byAddr   map[lang.Address]NodeID // of nodes that are not the first of their task: most tasks have one
	byTask   map[string]span         // a template node first, then instances
	ids      []NodeID                // of the spans
	expanded map[NodeID]bool         // template nodes whose instances are in the graph
	declared []NodeID                // see Declared; nil: the order of the numbers
	rank     []NodeID                // where a node stands in declared, as a number to sort by; nil with it

	order  []NodeID
	pos    []int32 // position of a node in order; nodes of cycles follow, by number
	cycles [][]NodeID
}

// adjacency is a compressed list of edges: those of node i are edges[start[i]:start[i+1]].
type adjacency struct {
	start []int32
	edges []Edge
}

// reverse says where in an adjacency the edges to node i are: at edges[start[i]:start[i+1]]. With edges of its own it would take six
// times as much.
type reverse struct {
	start []int32
	edges []int32
}

// span is the nodes of a task: ids[from:to] of a graph.
type span struct{ from, to int32 }

// of returns the edges of one node; the capacity is cut so that an append cannot reach a neighbour.
func (a *adjacency) of(id NodeID) []Edge {
	lo, hi := a.start[id], a.start[id+1]
	return a.edges[lo:hi:hi]
}

// Campaign returns the campaign the graph was built from.
func (g *Graph) Campaign() *lang.Campaign { return g.campaign }

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.nodes) }

// Nodes returns every node in the order of their numbers.
func (g *Graph) Nodes() []Node { return g.nodes }

// Node returns the node with the number id, which must be one of this graph.
func (g *Graph) Node(id NodeID) *Node { return &g.nodes[id] }

// Find returns the node at an address. The address of a template node is that of its bare task.
func (g *Graph) Find(a lang.Address) (NodeID, bool) {
	if ids := g.OfTask(a.Task); len(ids) > 0 && g.nodes[ids[0]].Address == a {
		return ids[0], true
	}
	id, ok := g.byAddr[a]
	return id, ok
}

// OfTask returns the nodes of a task: a template node first, then instances.
func (g *Graph) OfTask(name string) []NodeID {
	s := g.byTask[name]
	return g.ids[s.from:s.to:s.to]
}

// Deps returns the edges from id to what it needs.
func (g *Graph) Deps(id NodeID) []Edge { return g.deps.of(id) }

// Dependents goes through the edges to id from who needs it, which nobody changes.
func (g *Graph) Dependents(id NodeID) iter.Seq[*Edge] {
	return func(yield func(*Edge) bool) {
		for _, i := range g.rdeps.edges[g.rdeps.start[id]:g.rdeps.start[id+1]] {
			if !yield(&g.deps.edges[i]) {
				return
			}
		}
	}
}

// Edges returns every edge, grouped by From.
func (g *Graph) Edges() []Edge { return g.deps.edges }

// Declared returns every node in the order in which the campaign declares it, instances of an expansion after the
// template node that they came from.
func (g *Graph) Declared() []NodeID {
	if g.declared != nil {
		return g.declared
	}
	ids := make([]NodeID, len(g.nodes))
	for i := range ids {
		ids[i] = NodeID(i)
	}
	return ids
}

// Order returns all nodes outside cycles so that each comes after what it waits for; among nodes
// that could come next the one that is declared first does.
func (g *Graph) Order() []NodeID { return g.order }

// Cycles returns the sets of nodes that need each other, each sorted, the sets by their first node.
// It is empty for a graph that can be executed.
func (g *Graph) Cycles() [][]NodeID { return g.cycles }

package graph

import (
	"slices"

	"github.com/ufbuild/ufbuild/lang"
)

// Build makes the graph of a campaign and reports what is wrong with its topology. The graph is
// never nil, also when c has errors or cycles.
func Build(c *lang.Campaign) (*Graph, lang.Diagnostics) {
	g := &Graph{campaign: c}
	g.addNodes(c)
	edges := make([]Edge, 0, countNeeds(c))
	for _, t := range c.Tasks {
		edges = g.taskEdges(edges, t)
	}
	g.link(edges)
	return g, check(g)
}

func countNeeds(c *lang.Campaign) int {
	n := 0
	for _, t := range c.Tasks {
		for _, inst := range t.Instances {
			n += len(inst.Needs)
		}
	}
	return n
}

// addNodes numbers the instances of every task.
func (g *Graph) addNodes(c *lang.Campaign) {
	n := 0
	for _, t := range c.Tasks {
		n += max(1, len(t.Instances))
	}
	g.ids = make([]NodeID, n)
	for i := range g.ids {
		g.ids[i] = NodeID(i)
	}
	g.nodes = make([]Node, 0, n)
	g.byAddr = make(map[lang.Address]NodeID, n-len(c.Tasks))
	g.byTask = make(map[string]span, len(c.Tasks))
	for _, t := range c.Tasks {
		first, old := len(g.nodes), g.OfTask(t.Name) // none, but for a duplicate name
		if t.Expand != nil {
			g.addNode(t, templateInstance(t), true)
		}
		for i := 0; t.Expand == nil && i < len(t.Instances); i++ {
			g.addNode(t, t.Instances[i], false)
			if i == 0 && len(old) == 0 {
				g.byTask[t.Name] = span{int32(first), int32(first + 1)}
			}
		}
		switch ids := g.ids[first:len(g.nodes)]; {
		case len(ids) == 0:
		case len(old) > 0:
			g.setIDs(t.Name, slices.Concat(old, ids))
		default:
			g.byTask[t.Name] = span{int32(first), int32(len(g.nodes))}
		}
	}
}

// setIDs makes nodes those of a task that do not follow each other.
func (g *Graph) setIDs(task string, ids []NodeID) {
	from := int32(len(g.ids))
	g.ids = append(g.ids, ids...)
	g.byTask[task] = span{from, int32(len(g.ids))}
}

// templateInstance returns the symbolic instance of an expand task, or nil.
func templateInstance(t *lang.Task) *lang.Instance {
	if len(t.Instances) > 0 {
		return t.Instances[0]
	}
	return nil
}

// addNode appends a node. An address that exists already (a duplicate name, reported by lang) keeps
// its first node, so every node has an address of its own.
func (g *Graph) addNode(t *lang.Task, inst *lang.Instance, template bool) {
	addr := lang.Address{Task: t.Name}
	if !template {
		addr = inst.Address
	}
	if _, dup := g.Find(addr); dup {
		return
	}
	id := NodeID(len(g.nodes))
	g.nodes = append(g.nodes, Node{ID: id, Address: addr, Task: t, Instance: inst, Template: template})
	if _, more := g.byTask[t.Name]; more {
		g.byAddr[addr] = id
	}
}

// taskEdges appends the edges of all nodes of t.
func (g *Graph) taskEdges(edges []Edge, t *lang.Task) []Edge {
	refs := newRefIndex(t)
	for _, id := range g.OfTask(t.Name) {
		if g.nodes[id].Task == t {
			edges = g.nodeEdges(edges, id, &refs)
		}
	}
	return edges
}

// nodeEdges appends the edges of one node: its exact needs, or for a template node without a
// symbolic instance everything its task refers to.
func (g *Graph) nodeEdges(edges []Edge, id NodeID, refs *refIndex) []Edge {
	node := &g.nodes[id]
	if node.Instance == nil {
		for i := range node.Task.Refs {
			ref := &node.Task.Refs[i]
			for _, to := range g.OfTask(ref.Task) {
				edges = append(edges, Edge{From: id, To: to, Kind: edgeKind(ref.Kind), Tolerate: ref.Tolerate, Ref: ref})
			}
		}
		return edges
	}
	needs := node.Instance.Needs
	for i := range needs {
		need := &needs[i]
		e := Edge{From: id, Kind: edgeKind(need.Kind), Tolerate: need.Tolerate, All: need.All, Ref: refs.find(need)}
		edges = g.edgesTo(edges, e, *need.On)
	}
	return edges
}

// edgesTo appends e towards the node at addr. An instance of an expand task that is not known yet
// is its template node; one that is expanded already is the template node and its instances.
func (g *Graph) edgesTo(edges []Edge, e Edge, addr lang.Address) []Edge {
	to, ok := g.Find(addr)
	if !ok {
		if to, ok = g.Find(lang.Address{Task: addr.Task}); !ok || !g.nodes[to].Template {
			return edges // a name that is declared nowhere; lang has reported it
		}
	}
	e.To = to
	edges = append(edges, e)
	if g.expanded[to] {
		for _, inst := range g.OfTask(addr.Task) {
			if inst != to {
				e.To = inst
				edges = append(edges, e)
			}
		}
	}
	return edges
}

// edgeKind translates the word of lang.
func edgeKind(k lang.RefKind) EdgeKind {
	switch k {
	case lang.OrderRef:
		return Order
	case lang.VerdictRef:
		return Verdict
	}
	return Data
}

// link stores the edges both ways and computes order and cycles. The edges of a node keep the order
// they have in edges.
func (g *Graph) link(edges []Edge) {
	g.deps = group(len(g.nodes), edges)
	g.rdeps = g.deps.reversed(len(g.nodes))
	g.computeOrder()
}

// group sorts edges by From in linear time, stably. It keeps those that are sorted.
func group(n int, edges []Edge) adjacency {
	a := adjacency{start: starts(n, edges, func(e *Edge) NodeID { return e.From }), edges: edges}
	if slices.IsSortedFunc(edges, func(a, b Edge) int { return int(a.From) - int(b.From) }) {
		return a
	}
	a.edges = make([]Edge, len(edges))
	next := slices.Clone(a.start[:n])
	for i := range edges {
		id := edges[i].From
		a.edges[next[id]] = edges[i]
		next[id]++
	}
	return a
}

// reversed sorts the edges by To, stably.
func (a *adjacency) reversed(n int) reverse {
	r := reverse{start: starts(n, a.edges, func(e *Edge) NodeID { return e.To }), edges: make([]int32, len(a.edges))}
	next := slices.Clone(r.start[:n])
	for i := range a.edges {
		id := a.edges[i].To
		r.edges[next[id]] = int32(i)
		next[id]++
	}
	return r
}

// starts says where the edges of each node begin when they are sorted by an end, and where the last ones end.
func starts(n int, edges []Edge, end func(*Edge) NodeID) []int32 {
	start := make([]int32, n+1)
	for i := range edges {
		start[end(&edges[i])+1]++
	}
	for i := range n {
		start[i+1] += start[i]
	}
	return start
}

// refIndex finds the place in the text behind a need of one task. Most tasks refer to a few others,
// where looking through the list beats any map.
type refIndex struct {
	task *lang.Task
	refs map[refKey]*lang.Ref // nil for a short list
	self *lang.Ref            // behind a need on another instance of the same task
}

type refKey struct {
	task string
	kind lang.RefKind
}

// shortRefs is the length of a list that is looked through.
const shortRefs = 8

func newRefIndex(t *lang.Task) refIndex {
	x := refIndex{task: t}
	if len(t.Refs) <= shortRefs {
		return x
	}
	x.refs = make(map[refKey]*lang.Ref, len(t.Refs))
	for i := range t.Refs {
		k := refKey{t.Refs[i].Task, t.Refs[i].Kind}
		if x.refs[k] == nil {
			x.refs[k] = &t.Refs[i]
		}
	}
	return x
}

// find returns the reference behind a need, never nil. A series needs its previous instance without
// saying so anywhere; the task itself is the place then.
func (x *refIndex) find(need *lang.Need) *lang.Ref {
	if ref := x.declared(need); ref != nil {
		return ref
	}
	if need.On.Task != x.task.Name {
		return &lang.Ref{Task: need.On.Task, Kind: need.Kind, Tolerate: need.Tolerate, How: "refers to", Range: x.task.Range}
	}
	if x.self == nil {
		x.self = &lang.Ref{Task: x.task.Name, Kind: need.Kind, How: "follows", Range: x.task.Range}
	}
	return x.self
}

func (x *refIndex) declared(need *lang.Need) *lang.Ref {
	if x.refs != nil {
		return x.refs[refKey{need.On.Task, need.Kind}]
	}
	for i := range x.task.Refs {
		if ref := &x.task.Refs[i]; ref.Kind == need.Kind && ref.Task == need.On.Task {
			return ref
		}
	}
	return nil
}

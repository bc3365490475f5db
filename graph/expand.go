package graph

import (
	"fmt"
	"maps"
	"slices"

	"github.com/ufbuild/ufbuild/lang"
)

// WithExpansion returns a graph in which the template node has the given instances. They get the
// next numbers, in the order given; all old numbers keep their meaning. An instance has a data edge
// to its template node besides its own needs, and whoever needs the template node needs the
// instances too, so adding, dropping or reordering items never breaks a reader. g is unchanged.
//
// A template node is expanded once per build; a second time is a bug in the caller.
func (g *Graph) WithExpansion(template NodeID, instances []*lang.Instance) *Graph {
	node := g.Node(template)
	if !node.Template || g.expanded[template] {
		panic(fmt.Sprintf("BUG: expand node %s: not a template node without instances", node.Address))
	}
	x := &Graph{
		campaign: g.campaign,
		nodes:    slices.Grow(slices.Clone(g.nodes), len(instances)),
		byAddr:   maps.Clone(g.byAddr),
		byTask:   maps.Clone(g.byTask),
		ids:      slices.Clip(g.ids), // what is added lies elsewhere
		expanded: maps.Clone(g.expanded),
	}
	if x.expanded == nil {
		x.expanded = map[NodeID]bool{}
	}
	x.expanded[template] = true
	ids := slices.Clone(g.OfTask(node.Task.Name))
	for _, inst := range instances {
		x.addNode(node.Task, inst, false)
	}
	for id := len(g.nodes); id < len(x.nodes); id++ {
		ids = append(ids, NodeID(id))
	}
	x.setIDs(node.Task.Name, ids)
	x.declare(g.Declared(), template)
	x.link(x.expandedEdges(g, template))
	return x
}

// declare puts the nodes that old does not have after their template node.
func (g *Graph) declare(old []NodeID, template NodeID) {
	g.declared = make([]NodeID, 0, len(g.nodes))
	for _, id := range old {
		g.declared = append(g.declared, id)
		if id != template {
			continue
		}
		for id := len(old); id < len(g.nodes); id++ {
			g.declared = append(g.declared, NodeID(id))
		}
	}
	g.rank = make([]NodeID, len(g.nodes))
	for i, id := range g.declared {
		g.rank[id] = NodeID(i)
	}
}

// expandedEdges returns the edges of g with those of the new nodes and those towards them.
func (g *Graph) expandedEdges(old *Graph, template NodeID) []Edge {
	first := NodeID(len(old.nodes))
	edges := make([]Edge, 0, len(old.deps.edges)+2*(len(g.nodes)-int(first)))
	for i := range old.deps.edges {
		e := old.deps.edges[i]
		edges = append(edges, e)
		if e.To == template {
			for id := first; id < NodeID(len(g.nodes)); id++ {
				e.To = id
				edges = append(edges, e)
			}
		}
	}
	task := g.nodes[template].Task
	refs := newRefIndex(task)
	origin := &lang.Ref{Task: task.Name, Kind: lang.DataRef, How: "is expanded from", Range: task.Expand.Range}
	for id := first; id < NodeID(len(g.nodes)); id++ {
		edges = append(edges, Edge{From: id, To: template, Kind: Data, Ref: origin})
		edges = g.nodeEdges(edges, id, &refs)
	}
	return edges
}

// Expansion returns the instances of an expanded template node; false when it has none yet.
func (g *Graph) Expansion(template NodeID) ([]NodeID, bool) {
	if !g.expanded[template] {
		return nil, false
	}
	return g.OfTask(g.nodes[template].Task.Name)[1:], true
}

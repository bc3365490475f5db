// Package graph is the dependency graph of a campaign as an immutable value, and questions about it.
//
// # The nouns
//
// A [Node] is one task instance; a [NodeID] is its index, in the stable order declaration, key,
// matrix, loop. An [Edge] means "needs" and goes from a node to one it needs. A data edge carries
// changes: new content at its far end can make the near end stale. An order edge only makes the near
// end wait. A verdict edge carries what the near end is judged by: it never makes it run again by
// itself. A validation edge makes the far end run too, without waiting for it. The template node
// of an expand block stands for instances that exist only at run time; [Graph.WithExpansion] returns
// a graph that has them. The cone of a node is the node and everything its content can reach.
//
// # The promises
//
// [Build] is pure and linear in nodes and edges: the same campaign gives the same graph, the same
// numbers and the same order. A campaign with a cycle still gives a graph, so it can be drawn; its
// cycles are in the diagnostics with every edge's place in the text. A Graph never changes and is
// safe for concurrent use. Slices it returns belong to it unless said otherwise: read, never write.
//
// # The dangers
//
// Numbers are meaningful within one Graph and those expanded from it, never across two Builds.
// A graph with cycles must not be executed: [Graph.Order] leaves the nodes of a cycle out.
package graph

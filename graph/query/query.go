// Package query answers questions about a graph, written as small expressions:
//
//	deps(x)          what x needs, transitively
//	rdeps(x)         who needs x, transitively
//	cone(x)          x and everything its content can reach
//	path(a, b)       a shortest chain by which a needs b
//	producer(file)   the nodes that write a file
//	consumers(file)  the nodes that name a file
//
// An argument is a target as the command line takes it (strategy, 'strategy/*#0', group.review), or
// another expression. Expressions are joined from left to right by + (either), & (both) and - (the
// first without the second), and grouped by parentheses. The operators stand between blanks, since a
// dash is also a letter of names. Text that would be cut otherwise goes into double quotes.
//
// Evaluation is pure. A target or function that does not exist is an error with a suggestion, never an
// empty answer.
package query

import (
	"errors"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/graph"
)

// Result is the answer to a query.
type Result struct {
	Nodes []graph.NodeID // in topological order; for path in the order of the chain
	Edges []graph.Edge   // for a single path: the chain
	None  string         // why there is no node, in words for a person; "" when there is one
}

// Run evaluates an expression over a graph. env resolves @failed and @stale, see [graph.Lookup].
func Run(g *graph.Graph, expr string, env graph.Lookup) (Result, error) {
	e, err := parse(expr)
	if err != nil {
		return Result{}, err
	}
	v := evaluator{g, env}
	var r Result
	if call, ok := e.(callExpr); ok && call.name == "path" {
		r, err = v.path(call)
	} else {
		r.Nodes, err = v.eval(e)
		r.Nodes = g.Sorted(r.Nodes)
	}
	if err != nil {
		return Result{}, err
	}
	if len(r.Nodes) == 0 {
		r.None = v.none(e)
	}
	return r, nil
}

// evaluator evaluates expressions to sets of nodes.
type evaluator struct {
	g   *graph.Graph
	env graph.Lookup
}

func (v evaluator) eval(e expr) ([]graph.NodeID, error) {
	switch e := e.(type) {
	case targetExpr:
		return v.g.Select([]string{string(e)}, v.env)
	case setExpr:
		return v.evalSet(e)
	case callExpr:
		return v.call(e)
	}
	panic("BUG: evaluate query: an expression of no known kind")
}

func (v evaluator) evalSet(e setExpr) ([]graph.NodeID, error) {
	left, err := v.eval(e.left)
	if err != nil {
		return nil, err
	}
	right, err := v.eval(e.right)
	if err != nil {
		return nil, err
	}
	if e.op == '+' {
		return append(slices.Clone(left), right...), nil
	}
	in := setOf(right)
	drop := e.op == '-'
	return slices.DeleteFunc(slices.Clone(left), func(id graph.NodeID) bool { return in[id] == drop }), nil
}

func (v evaluator) call(e callExpr) ([]graph.NodeID, error) {
	if e.name == "path" {
		r, err := v.path(e)
		return r.Nodes, err
	}
	if e.name == "producer" || e.name == "consumers" {
		return v.files(e)
	}
	ids, err := v.eval(e.args[0])
	if err != nil {
		return nil, err
	}
	switch e.name {
	case "deps":
		return without(v.g.Closure(ids...), ids), nil
	case "rdeps":
		return without(v.g.Users(ids...), ids), nil
	}
	return v.g.Cone(ids...), nil
}

// files answers the questions about a file; the argument is a path, not a target.
func (v evaluator) files(e callExpr) ([]graph.NodeID, error) {
	file, ok := e.args[0].(targetExpr)
	if !ok {
		return nil, queryError("%s takes a path", e.name)
	}
	path := strings.TrimPrefix(string(file), ":")
	if e.name == "producer" {
		return v.g.Producers(path), nil
	}
	return v.g.Consumers(path), nil
}

// path finds the shortest of the chains from any node of the first set to any of the second.
func (v evaluator) path(e callExpr) (Result, error) {
	from, err := v.eval(e.args[0])
	if err != nil {
		return Result{}, err
	}
	to, err := v.eval(e.args[1])
	if err != nil {
		return Result{}, err
	}
	best := v.g.Path(from, to)
	if best == nil {
		return Result{}, nil
	}
	r := Result{Nodes: []graph.NodeID{best[0].From}, Edges: best}
	for _, edge := range best {
		r.Nodes = append(r.Nodes, edge.To)
	}
	return r, nil
}

// without returns ids less those asked about: deps(x) does not hold x.
func without(ids, asked []graph.NodeID) []graph.NodeID {
	in := setOf(asked)
	return slices.DeleteFunc(ids, func(id graph.NodeID) bool { return in[id] })
}

func setOf(ids []graph.NodeID) map[graph.NodeID]bool {
	in := make(map[graph.NodeID]bool, len(ids))
	for _, id := range ids {
		in[id] = true
	}
	return in
}

// IsMistake reports whether err is about the text of the expression.
func IsMistake(err error) bool { return errors.Is(err, errQuery) }

// errQuery is what every mistake in an expression wraps.
var errQuery = errors.New("parse query")

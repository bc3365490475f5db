package query

import (
	"fmt"

	"github.com/ufbuild/ufbuild/graph"
)

// none says why the answer to an expression is empty, and what was perhaps meant.
func (v evaluator) none(e expr) string {
	switch e {
	case targetExpr("@failed"):
		return "no task failed"
	case targetExpr("@stale"):
		return "no task is stale"
	}
	call, ok := e.(callExpr)
	if !ok {
		return "no task is meant by this"
	}
	switch call.name {
	case "path":
		return v.noPath(call)
	case "producer":
		return fmt.Sprintf("no task writes %s", source(call.args[0]))
	case "consumers":
		return fmt.Sprintf("no task names %s", source(call.args[0]))
	}
	if ids, err := v.eval(call.args[0]); err != nil || len(ids) == 0 {
		return v.none(call.args[0])
	}
	if call.name == "deps" {
		return fmt.Sprintf("%s needs no task", source(call.args[0]))
	}
	return fmt.Sprintf("no task needs %s", source(call.args[0]))
}

// noPath tells who asks for the chain from its wrong end that there is one: "path" is read both ways.
func (v evaluator) noPath(call callExpr) string {
	sides := [2][]graph.NodeID{}
	for i, arg := range call.args {
		ids, err := v.eval(arg)
		if err != nil || len(ids) == 0 {
			return v.none(arg)
		}
		sides[i] = ids
	}
	a, b := source(call.args[0]), source(call.args[1])
	if v.g.Path(sides[1], sides[0]) != nil {
		return fmt.Sprintf("%s does not need %s; it is the other way round: path(%s, %s)", a, b, b, a)
	}
	return fmt.Sprintf("%s does not need %s", a, b)
}

// source spells an expression as it may be typed.
func source(e expr) string {
	switch e := e.(type) {
	case targetExpr:
		if word := (&parser{rest: string(e)}).word(); word != string(e) {
			return `"` + string(e) + `"`
		}
		return string(e)
	case setExpr:
		right := source(e.right)
		if _, joined := e.right.(setExpr); joined {
			right = "(" + right + ")"
		}
		return source(e.left) + " " + string(e.op) + " " + right
	case callExpr:
		text := e.name + "("
		for i, arg := range e.args {
			if i > 0 {
				text += ", "
			}
			text += source(arg)
		}
		return text + ")"
	}
	panic("BUG: spell query: an expression of no known kind")
}

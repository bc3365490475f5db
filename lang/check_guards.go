package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// guardKey is one answer of a local that is used as a condition.
type guardKey struct {
	local string
	holds bool
}

// guards lists what has left something where a condition is as holds says: what it asks for .ok, .exists or .status, compares
// with null, or tries by can. Where a condition is too clever to tell its branches apart it speaks for both of them.
func (c *checker) guards(e hclsyntax.Expression, holds bool) []string {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		return c.guards(e.Expression, holds)
	case *hclsyntax.UnaryOpExpr:
		if e.Op == hclsyntax.OpLogicalNot {
			return c.guards(e.Val, !holds)
		}
	case *hclsyntax.BinaryOpExpr:
		return c.binaryGuards(e, holds)
	case *hclsyntax.ScopeTraversalExpr:
		if local, ok := c.localGuards(e.Traversal, holds); ok {
			return local
		}
		if holds {
			return c.mentions(e)
		}
		return nil
	case *hclsyntax.RelativeTraversalExpr:
		if holds {
			return c.mentions(e)
		}
		return nil
	case *hclsyntax.FunctionCallExpr:
		if (e.Name == "can" || e.Name == "alltrue") && !holds {
			return nil
		}
	}
	return c.mentions(e)
}

// binaryGuards are those of two sides: of && and || what both sides say, or either.
func (c *checker) binaryGuards(e *hclsyntax.BinaryOpExpr, holds bool) []string {
	switch e.Op {
	case hclsyntax.OpLogicalAnd, hclsyntax.OpLogicalOr:
		all := holds == (e.Op == hclsyntax.OpLogicalAnd)
		var found []string
		for i, side := range sides(e) {
			asked := c.guards(side, holds)
			if i == 0 || all {
				found = append(found, asked...)
			} else {
				found = slices.DeleteFunc(found, func(root string) bool { return !containsString(asked, root) })
			}
		}
		return distinctBy(found, func(root string) string { return root })
	case hclsyntax.OpEqual, hclsyntax.OpNotEqual:
		equal := holds == (e.Op == hclsyntax.OpEqual)
		for _, side := range [][2]hclsyntax.Expression{{e.LHS, e.RHS}, {e.RHS, e.LHS}} {
			v, ok := literalValue(side[1])
			switch {
			case !ok:
			case v.IsNull() && equal:
				return nil
			case v.IsNull():
				return append(c.mentions(side[0]), c.rootKey(side[0]))
			case v.Type() == cty.Bool:
				return c.guards(side[0], equal == v.True())
			case v.Type() == cty.String && equal != (v.AsString() == "ok") && isStatus(side[0]):
				return nil // it is another status, or not ok; other questions about a status are taken for what is meant
			}
		}
	}
	return c.mentions(e)
}

// sides lists what a chain of one operator joins.
func sides(e *hclsyntax.BinaryOpExpr) []hclsyntax.Expression {
	var all []hclsyntax.Expression
	var left hclsyntax.Expression = e
	for {
		b, ok := left.(*hclsyntax.BinaryOpExpr)
		if !ok || b.Op != e.Op {
			break
		}
		all = append(all, b.RHS)
		left = b.LHS
	}
	return append(all, left)
}

// isStatus reports whether e is the status of an instance.
func isStatus(e hclsyntax.Expression) bool {
	var t hcl.Traversal
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		t = e.Traversal
	case *hclsyntax.RelativeTraversalExpr:
		t = e.Traversal
	}
	if len(t) == 0 {
		return false
	}
	name, _ := stepName(t[len(t)-1])
	return name == "status"
}

// mentions lists what is asked for anywhere in e.
func (c *checker) mentions(e hclsyntax.Expression) []string {
	var found []string
	ask := func(t hcl.Traversal, root string) {
		for _, s := range t {
			if name, ok := stepName(s); ok && (name == "ok" || name == "exists" || name == "status") {
				found = append(found, root)
			}
		}
	}
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		switch n := n.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			ask(n.Traversal, c.rootKey(n))
			for _, holds := range []bool{true, false} {
				local, _ := c.localGuards(n.Traversal, holds)
				found = append(found, local...)
			}
		case *hclsyntax.RelativeTraversalExpr:
			ask(n.Traversal, c.rootKey(n))
		case *hclsyntax.BinaryOpExpr:
			if isNullLiteral(n.LHS) || isNullLiteral(n.RHS) {
				found = append(found, c.rootKey(n.LHS), c.rootKey(n.RHS))
			}
		case *hclsyntax.FunctionCallExpr:
			if n.Name == "can" && len(n.Args) == 1 {
				found = append(found, c.rootKey(n.Args[0]))
			}
		}
		return nil
	})
	return distinctBy(found, func(root string) string { return root })
}

// localGuards are those of a late local: locals { fine = task.a.ok }.
func (c *checker) localGuards(t hcl.Traversal, holds bool) (found []string, ok bool) {
	if t.RootName() != "local" || len(t) < 2 {
		return nil, false
	}
	name, _ := stepName(t[1])
	d := c.ev.decl.locals[name]
	if d == nil || !d.late || d.broken {
		return nil, false
	}
	key := guardKey{name, holds}
	asked, ok := c.typer.asked[key]
	if !ok {
		asked = c.guards(d.syntax, holds)
		c.typer.asked[key] = asked
	}
	return asked, true
}

func isNullLiteral(e hclsyntax.Expression) bool {
	l, ok := e.(*hclsyntax.LiteralValueExpr)
	return ok && l.Val.IsNull()
}

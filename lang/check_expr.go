package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// checker finds the type of an expression by walking its whole syntax tree: bodies of for expressions
// over lists that are not known yet, branches that are not taken, both sides of || and the inside of
// try(). HCL's evaluator looks at none of these while values are unknown.
//
// A part with a mistake gets the type any, so nothing follows from it.
type checker struct {
	ev      *evaluator
	probs   *problems
	roots   *rootTypes // each, matrix, loop, item, self, vars; nil outside tasks
	bound   []binding  // names bound by for expressions, innermost last
	items   []*typ     // elements of splat expressions, innermost last
	guarded []string   // what was asked for .ok or .exists around here
	trying  int        // inside how many calls of try and can
	typer   *taskTypes
	tell    func(step) // hears of every name; nil for nobody
}

type binding struct {
	name string
	typ  *typ
}

// check returns the type of e and reports what is wrong in it.
func (c *checker) check(e hclsyntax.Expression) *typ {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return typeOfValue(e.Val)
	case *hclsyntax.TemplateExpr:
		return c.template(e)
	case *hclsyntax.TemplateWrapExpr:
		c.constantPart(e.Wrapped, e.SrcRange)
		return c.check(e.Wrapped)
	case *hclsyntax.TemplateJoinExpr:
		return c.join(e)
	case *hclsyntax.ScopeTraversalExpr:
		return c.traversal(e)
	case *hclsyntax.RelativeTraversalExpr:
		t := c.check(e.Source)
		return c.steps(t, c.textOf(e.Source), c.rootKey(e.Source), e.Traversal)
	case *hclsyntax.IndexExpr:
		return c.index(e)
	case *hclsyntax.SplatExpr:
		return c.splat(e)
	case *hclsyntax.AnonSymbolExpr:
		if n := len(c.items); n > 0 {
			return c.items[n-1]
		}
		return anyType
	case *hclsyntax.ParenthesesExpr:
		return c.check(e.Expression)
	case *hclsyntax.ObjectConsKeyExpr:
		return c.objectKey(e)
	}
	return c.checkCompound(e)
}

func (c *checker) checkCompound(e hclsyntax.Expression) *typ {
	switch e := e.(type) {
	case *hclsyntax.FunctionCallExpr:
		return c.call(e)
	case *hclsyntax.ConditionalExpr:
		return c.conditional(e)
	case *hclsyntax.BinaryOpExpr:
		return c.binary(e)
	case *hclsyntax.UnaryOpExpr:
		return c.unary(e)
	case *hclsyntax.TupleConsExpr:
		elems := make([]*typ, 0, len(e.Exprs))
		for _, x := range e.Exprs {
			elems = append(elems, c.check(x))
		}
		return tupleOf(elems)
	case *hclsyntax.ObjectConsExpr:
		return c.object(e)
	case *hclsyntax.ForExpr:
		return c.loop(e)
	}
	return anyType
}

func (c *checker) template(e *hclsyntax.TemplateExpr) *typ {
	if e.IsStringLiteral() {
		return c.check(e.Parts[0])
	}
	for _, part := range e.Parts {
		if l, ok := part.(*hclsyntax.LiteralValueExpr); ok && l.Val.Type() == cty.String {
			continue
		}
		c.constantPart(part, part.Range())
		c.text(part, c.check(part))
	}
	return stringType
}

// constantPart reports ${1}: most often a parameter of a shell.
func (c *checker) constantPart(e hclsyntax.Expression, where hcl.Range) {
	l, ok := e.(*hclsyntax.LiteralValueExpr)
	if !ok || l.Val.IsNull() || l.Val.Type() == cty.String {
		return
	}
	c.probs.error("UF5103", where, "This puts a constant into the text.").
		hint("If it is a shell parameter, write $${…} for ${…}.")
}

// text checks that a value of type t can stand in text.
func (c *checker) text(e hclsyntax.Expression, t *typ) {
	for _, a := range t.alternatives() {
		switch {
		case a.shape == nullShape && t.shape != unionShape:
			c.probs.error("UF2105", e.Range(), "This is null and cannot be put into text.").hint("Use coalesce(…) to give a text for null.")
			return
		case !a.textual():
			c.probs.error("UF2104", e.Range(), "This is %s and cannot be put into text.", a).
				hint("%s", textHint(e, a))
			return
		}
	}
	c.mayBeNull(e, t)
}

// textHint says what of a value can stand in text. That something was left out is likelier than a wish to
// see a whole output or task.
func textHint(e hclsyntax.Expression, a *typ) string {
	name := "it"
	if w, ok := e.(*hclsyntax.TemplateWrapExpr); ok {
		e = w.Wrapped
	}
	if t, ok := e.(*hclsyntax.ScopeTraversalExpr); ok {
		name = traversalText(t.Traversal)
	}
	switch {
	case a.shape == nullShape:
		return "Use coalesce(…) to give a text for null."
	case a.attrs["path"] != nil && a.attrs["text"] != nil:
		return "Write " + name + ".path for where it lies, or .text or .json for what it holds."
	case a.attrs["path"] != nil && a.attrs["outputs"] == nil && !a.open && a.from == nil:
		return "Write " + name + ".path."
	case a.attrs["outputs"] != nil && a.attrs["ok"] != nil:
		return "Write " + name + ".outputs.NAME.path for one of its outputs."
	}
	return "Use join(), jsonencode() or a %{ for … }."
}

func (c *checker) mayBeNullAt(where hcl.Range, t *typ, root string) {
	d := c.probs.error("UF2105", where, "%s.", t.maybe).hint("Test .ok or .exists first, or give a fallback: coalesce(VALUE, …), or try(VALUE.PART, …) for a part of it.")
	if c.isBound(root) {
		d.Hint = "Leave out what is not there with \"if " + root + ".ok\" at the end of the for, or give a fallback: coalesce(VALUE, …), or try(VALUE.PART, …) for a part of it."
	}
}

// isBound reports whether a name is that of a for expression around.
func (c *checker) isBound(name string) bool {
	return slices.ContainsFunc(c.bound, func(b binding) bool { return b.name == name && name != "" })
}

// mayBeNull reports a value that is null when a tolerated task left nothing.
func (c *checker) mayBeNull(e hclsyntax.Expression, t *typ) {
	if t.maybe == "" || c.trying > 0 || c.isGuarded(c.rootKey(e)) {
		return
	}
	c.mayBeNullAt(e.Range(), t, c.rootKey(e))
}

func (c *checker) isGuarded(root string) bool {
	return root != "" && containsString(c.guarded, root)
}

func (c *checker) join(e *hclsyntax.TemplateJoinExpr) *typ {
	f, ok := e.Tuple.(*hclsyntax.ForExpr)
	if !ok {
		c.check(e.Tuple)
		return stringType
	}
	c.loop(f)
	return stringType
}

package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// expression is the right side of an argument together with what it refers to, found once by walking
// its syntax tree. Only loading marks it broken; after that it never changes.
type expression struct {
	syntax   hclsyntax.Expression
	place    hcl.Range
	constant cty.Value // the value when it refers to nothing and is a plain literal, else NilVal
	texts    []string  // the elements of a list of plain strings; constant is set too
	uses     []use
	computes bool   // it may fail on values, not types: calls, operators, indices, parts of each.value
	calls    []call // in order of appearance
	broken   bool   // a problem was reported: do not evaluate, nothing follows from it
	names    bool   // it is broken by a name, so its types can still be checked
	reads    reads  // what it may look at inside outputs
}

// use is one reference from an expression to a symbol of the root scope.
type use struct {
	root, name string
	place      hcl.Range            // of root.name, the smallest token to blame
	steps      hcl.Traversal        // as far as it is written without a computed index
	key        hclsyntax.Expression // the computed index right after root.name; nil for none
}

// call is one function call.
type call struct {
	name  string
	place hcl.Range
}

// reads tells which contents of outputs an expression may look at, so that a path alone never makes
// ufbuild read the file behind it.
type reads struct{ text, json bool }

func (r reads) or(o reads) reads { return reads{r.text || o.text, r.json || o.json} }

// reflecting functions show every attribute of an object they are given, text and json included.
var reflecting = map[string]bool{
	"jsonencode": true, "yamlencode": true, "values": true, "lookup": true, "format": true, "formatlist": true, "merge": true,
}

// analyze walks an expression once.
func analyze(e hclsyntax.Expression) *expression {
	x := &expression{syntax: e, place: e.Range()}
	if v, ok := literalValue(e); ok {
		x.constant = v
		return x
	}
	if t, ok := e.(*hclsyntax.TupleConsExpr); ok && x.literalList(t) {
		return x
	}
	if n := plainUses(e); n > 0 {
		x.uses = make([]use, 0, n)
	}
	c := collector{to: x}
	c.walk(e)
	return x
}

// plainUses counts the references in lists and templates, which are most of those in commands.
func plainUses(e hclsyntax.Expression) (n int) {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return 1
	case *hclsyntax.TemplateWrapExpr:
		return plainUses(e.Wrapped)
	case *hclsyntax.TemplateExpr:
		for _, part := range e.Parts {
			n += plainUses(part)
		}
	case *hclsyntax.TupleConsExpr:
		for _, x := range e.Exprs {
			n += plainUses(x)
		}
	}
	return n
}

// copied is a slice of exactly what is in a roomier one; nil where that is nothing.
func copied[T any](s []T) []T { return append([]T(nil), s...) }

// literalList takes the elements of a list in which everything is a plain string.
func (x *expression) literalList(t *hclsyntax.TupleConsExpr) bool {
	if len(t.Exprs) == 0 {
		return false
	}
	var room [8]cty.Value
	vals := room[:0]
	for _, e := range t.Exprs {
		v, ok := literalValue(e)
		if !ok || v.Type() != cty.String || v.IsNull() {
			return false
		}
		vals = append(vals, v)
	}
	x.texts = make([]string, len(vals))
	for i, v := range vals {
		x.texts[i] = v.AsString()
	}
	x.constant = cty.TupleVal(vals)
	return true
}

// literalValue returns the value of literals and of strings without interpolation. What the parser made up after an error has none.
func literalValue(e hclsyntax.Expression) (cty.Value, bool) {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		return e.Val, e.Val.IsKnown()
	case *hclsyntax.TemplateExpr:
		if e.IsStringLiteral() {
			if p, ok := e.Parts[0].(*hclsyntax.LiteralValueExpr); ok && p.Val.Type() == cty.String && p.Val.IsKnown() && !p.Val.IsNull() {
				return p.Val, true // which is what it comes to
			}
			v, ds := e.Value(nil)
			return v, !ds.HasErrors() && v.IsKnown()
		}
		if len(e.Parts) == 0 {
			return cty.StringVal(""), true
		}
	}
	return cty.NilVal, false
}

// collector walks a syntax tree; names bound by for expressions hide those of the root scope.
type collector struct {
	to     *expression
	hidden []string
}

func (c *collector) walk(e hclsyntax.Expression) {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		c.traversal(e, nil)
	case *hclsyntax.RelativeTraversalExpr:
		c.steps(e.Traversal)
		c.walk(e.Source)
	case *hclsyntax.IndexExpr:
		c.index(e)
	case *hclsyntax.FunctionCallExpr:
		c.call(e)
	case *hclsyntax.ForExpr:
		c.loop(e)
	case *hclsyntax.ObjectConsExpr:
		for _, it := range e.Items {
			c.objectKey(it.KeyExpr)
			c.walk(it.ValueExpr)
		}
	case *hclsyntax.ObjectConsKeyExpr:
		c.objectKey(e)
	default:
		switch e.(type) {
		case *hclsyntax.BinaryOpExpr, *hclsyntax.UnaryOpExpr:
			c.to.computes = true
		}
		for _, child := range children(e) {
			c.walk(child)
		}
	}
}

// children returns the direct parts of the expressions that bind no names.
func children(e hclsyntax.Expression) []hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.TemplateExpr:
		return e.Parts
	case *hclsyntax.TupleConsExpr:
		return e.Exprs
	case *hclsyntax.TemplateWrapExpr:
		return []hclsyntax.Expression{e.Wrapped}
	case *hclsyntax.TemplateJoinExpr:
		return []hclsyntax.Expression{e.Tuple}
	case *hclsyntax.ParenthesesExpr:
		return []hclsyntax.Expression{e.Expression}
	case *hclsyntax.ConditionalExpr:
		return []hclsyntax.Expression{e.Condition, e.TrueResult, e.FalseResult}
	case *hclsyntax.BinaryOpExpr:
		return []hclsyntax.Expression{e.LHS, e.RHS}
	case *hclsyntax.UnaryOpExpr:
		return []hclsyntax.Expression{e.Val}
	case *hclsyntax.SplatExpr:
		return []hclsyntax.Expression{e.Source, e.Each}
	}
	return nil
}

func (c *collector) objectKey(e hclsyntax.Expression) {
	if k, ok := e.(*hclsyntax.ObjectConsKeyExpr); ok {
		if !k.ForceNonLiteral && hcl.ExprAsKeyword(k.Wrapped) != "" {
			return
		}
		e = k.Wrapped
	}
	c.walk(e)
}

func (c *collector) call(e *hclsyntax.FunctionCallExpr) {
	c.to.computes = true
	c.to.calls = append(c.to.calls, call{e.Name, e.NameRange})
	if reflecting[e.Name] {
		c.to.reads = reads{true, true}
	}
	for _, a := range e.Args {
		c.walk(a)
	}
}

func (c *collector) loop(e *hclsyntax.ForExpr) {
	c.walk(e.CollExpr)
	n := len(c.hidden)
	c.hidden = append(c.hidden, e.KeyVar, e.ValVar)
	for _, part := range []hclsyntax.Expression{e.KeyExpr, e.ValExpr, e.CondExpr} {
		if part != nil {
			c.walk(part)
		}
	}
	c.hidden = c.hidden[:n]
}

// index notes a computed index right after task.NAME: it decides which instance is meant.
func (c *collector) index(e *hclsyntax.IndexExpr) {
	c.to.computes = true
	c.walk(e.Key)
	if v, ok := literalValue(e.Key); !ok {
		c.to.reads = reads{true, true}
	} else if v.Type() == cty.String {
		c.attribute(v.AsString())
	}
	if t, ok := e.Collection.(*hclsyntax.ScopeTraversalExpr); ok && len(t.Traversal) <= 2 {
		c.traversal(t, e.Key)
		return
	}
	c.walk(e.Collection)
}

func (c *collector) traversal(e *hclsyntax.ScopeTraversalExpr, key hclsyntax.Expression) {
	root := e.Traversal.RootName()
	c.steps(e.Traversal[1:])
	for _, h := range c.hidden {
		if h == root && h != "" {
			return
		}
	}
	u := use{root: root, steps: e.Traversal, key: key, place: e.Traversal[0].SourceRange()}
	if len(e.Traversal) > 1 {
		if a, ok := e.Traversal[1].(hcl.TraverseAttr); ok {
			u.name = a.Name
			u.place = hcl.RangeBetween(u.place, a.SrcRange)
		}
	}
	c.to.computes = c.to.computes || len(u.steps) > 2 && (root == "each" || root == "matrix" || root == "var" || root == "local")
	c.to.uses = append(c.to.uses, u)
}

func (c *collector) steps(t hcl.Traversal) {
	for _, s := range t {
		switch s := s.(type) {
		case hcl.TraverseAttr:
			c.attribute(s.Name)
		case hcl.TraverseIndex:
			if s.Key.Type() == cty.String {
				c.attribute(s.Key.AsString())
			}
		}
	}
}

func (c *collector) attribute(name string) {
	switch name {
	case "text":
		c.to.reads.text = true
	case "json":
		c.to.reads.json = true
	}
}

// misnamed marks an expression in which a name is wrong.
func (x *expression) misnamed() { x.broken, x.names = true, true }

// usesRoot reports whether the expression refers to a root symbol.
func (x *expression) usesRoot(roots ...string) bool {
	for i := range x.uses {
		for _, r := range roots {
			if x.uses[i].root == r {
				return true
			}
		}
	}
	return false
}

// callsAny reports whether the expression calls one of the functions.
func (x *expression) callsAny(names ...string) bool {
	for _, c := range x.calls {
		for _, n := range names {
			if c.name == n {
				return true
			}
		}
	}
	return false
}

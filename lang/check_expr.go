package lang

import (
	"fmt"
	"strings"

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
	roots   map[string]*typ // each, matrix, loop, item, self, vars
	bound   []binding       // names bound by for expressions, innermost last
	items   []*typ          // elements of splat expressions, innermost last
	guarded []string        // what was asked for .ok or .exists around here
	trying  int             // inside how many calls of try and can
	typer   *taskTypes
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
		c.operand(e.Val, e.Op.Type)
		return typeOfCty(unaryResult(e))
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
				hint("Use join(), jsonencode() or a %%{ for … }.")
			return
		}
	}
	c.mayBeNull(e, t)
}

func (c *checker) mayBeNullAt(where hcl.Range, t *typ) {
	c.probs.error("UF2105", where, "%s.", t.maybe).hint("Test .ok or .exists first, or give a fallback with try() or coalesce().")
}

// mayBeNull reports a value that is null when a tolerated task left nothing.
func (c *checker) mayBeNull(e hclsyntax.Expression, t *typ) {
	if t.maybe == "" || c.trying > 0 || c.isGuarded(c.rootKey(e)) {
		return
	}
	c.mayBeNullAt(e.Range(), t)
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

// traversal finds the type of a name and of what follows it.
func (c *checker) traversal(e *hclsyntax.ScopeTraversalExpr) *typ {
	t := e.Traversal
	root := t.RootName()
	for i := len(c.bound) - 1; i >= 0; i-- {
		if c.bound[i].name == root {
			return c.steps(c.bound[i].typ, root, root, t[1:])
		}
	}
	switch {
	case containsString(declaredRoots, root):
		if len(t) < 2 {
			return anyType
		}
		name, ok := stepName(t[1])
		if !ok {
			return anyType
		}
		whole := root + "." + name
		return c.steps(c.typer.declared(c, root, name), whole, whole, t[2:])
	case c.roots[root] != nil:
		return c.steps(c.roots[root], root, root, t[1:])
	}
	return anyType
}

// steps follows .NAME and [KEY] from a value of type t; text is how the value is written.
func (c *checker) steps(t *typ, text, root string, steps hcl.Traversal) *typ {
	for _, s := range steps {
		var next *typ
		switch s := s.(type) {
		case hcl.TraverseAttr:
			next = c.attribute(t, text, root, s.Name, afterDot(s.SrcRange, s.Name))
			text += "." + s.Name
		case hcl.TraverseIndex:
			next = c.element(t, text, root, typeOfValue(s.Key), s.SrcRange)
			text += "[" + strings.TrimSpace(valueText(s.Key)) + "]"
		default:
			next = anyType
		}
		t = next
	}
	if len(c.guarded) > 0 && c.isGuarded(root) {
		return t.certain()
	}
	return t
}

// afterDot narrows the range of a step such as .NAME to the name.
func afterDot(r hcl.Range, name string) hcl.Range {
	if r.End.Byte-r.Start.Byte == len(name)+1 {
		r.Start.Byte++
		r.Start.Column++
	}
	return r
}

// attribute finds the type of t.NAME.
func (c *checker) attribute(t *typ, text, root, name string, where hcl.Range) *typ {
	var found []*typ
	for _, a := range t.alternatives() {
		if t.loose && !c.quietly(func() bool { _, ok := c.attributeOf(a, t, text, name, where); return ok }) {
			continue
		}
		f, ok := c.attributeOf(a, t, text, name, where)
		if !ok {
			return anyType
		}
		if f != nil {
			found = append(found, f)
		}
	}
	if t.maybe != "" && c.trying == 0 && !c.isGuarded(root) {
		c.mayBeNullAt(where, t)
	}
	if t.loose && len(found) == 0 {
		c.attributeOf(t.elems[0], t, text, name, where) // no alternative has it
		return anyType
	}
	return c.followed(t, found)
}

// followed is the type behind a step from t.
func (c *checker) followed(t *typ, found []*typ) *typ {
	u := unionOf(found...)
	if t.loose {
		return u.loosely()
	}
	return u
}

// quietly runs a check without reporting.
func (c *checker) quietly(check func() bool) bool {
	outer := c.probs
	c.probs = &problems{}
	ok := check()
	c.probs = outer
	return ok
}

// attributeOf finds the attribute in one alternative; ok is false after a report, the type nil where
// the alternative cannot be meant.
func (c *checker) attributeOf(a, whole *typ, text, name string, where hcl.Range) (f *typ, ok bool) {
	switch a.shape {
	case anyShape:
		c.unchecked(a, where)
		return anyType, true
	case objectShape:
		if f, ok := a.attrs[name]; ok {
			return f, true
		}
		if a.open {
			return anyType, true
		}
		c.noAttribute(a, text, name, where)
		return nil, false
	case mapShape:
		return a.elem, true
	case nullShape:
		if whole.shape == unionShape {
			return nil, true
		}
		c.probs.error("UF2105", where, "%s is null, which has no attributes.", text)
		return nil, false
	}
	c.probs.error("UF2109", where, "%s is %s, which has no attributes.", text, a).Hint = listHint(a, text, name)
	return nil, false
}

// unchecked warns that fields of a document are used which its open schema cannot promise.
func (c *checker) unchecked(a *typ, where hcl.Range) {
	if a.from == nil {
		return
	}
	why := "its schema allows any property"
	if a.from.Schema == "" {
		why = "it has no schema"
	}
	n := c.ev.decl.kinds["contract"].byName[a.from.Name]
	c.probs.warn("UF6107", n.label, "Fields of the documents of contract.%s are not checked: %s.", a.from.Name, why).
		hint("Give it a schema with additionalProperties: false.").also(where, "a field is used here")
}

func listHint(a *typ, text, name string) string {
	if a.shape != listShape && a.shape != tupleShape {
		return ""
	}
	return "For every element write [for x in " + text + " : x." + name + "]; for one, " + text + "[0]." + name + "."
}

func (c *checker) noAttribute(a *typ, text, name string, where hcl.Range) {
	if h, ok := a.hints[name]; ok {
		c.probs.error(h.code, where, "%s", h.text)
		return
	}
	summary := fmt.Sprintf("%s has no attribute %q.", text, name)
	if a.absent != "" {
		summary = fmt.Sprintf(a.absent, name)
	}
	d := c.probs.error("UF2101", where, "%s", summary)
	if text == "loop" && strings.HasPrefix(name, "index-") {
		d.Hint = "A dash is part of a name: write loop.index - 1 with spaces."
		return
	}
	d.meant(where, name, sortedKeys(a.attrs))
	if h, ok := a.hints[""]; ok && d.Fix == nil {
		d.Hint = h.text
	}
}

// index finds the type of a computed element.
func (c *checker) index(e *hclsyntax.IndexExpr) *typ {
	key := c.check(e.Key)
	t := c.check(e.Collection)
	return c.element(t, c.textOf(e.Collection), c.rootKey(e.Collection), key, e.Key.Range())
}

// element finds the type of t[key].
func (c *checker) element(t *typ, text, root string, key *typ, where hcl.Range) *typ {
	var found []*typ
	for _, a := range t.alternatives() {
		if t.loose && !c.quietly(func() bool { _, ok := c.elementOf(a, t, text, key, where); return ok }) {
			continue
		}
		f, ok := c.elementOf(a, t, text, key, where)
		if !ok {
			return anyType
		}
		if f != nil {
			found = append(found, f)
		}
	}
	if t.maybe != "" && c.trying == 0 && !c.isGuarded(root) {
		c.mayBeNullAt(where, t)
	}
	if t.loose && len(found) == 0 {
		c.elementOf(t.elems[0], t, text, key, where)
		return anyType
	}
	return c.followed(t, found)
}

func (c *checker) elementOf(a, whole *typ, text string, key *typ, where hcl.Range) (f *typ, ok bool) {
	switch a.shape {
	case anyShape:
		return a, true
	case listShape, tupleShape:
		return c.listElement(a, text, key, where)
	case mapShape:
		return a.elem, true
	case objectShape:
		return c.objectElement(a, text, key, where)
	case nullShape:
		if whole.shape == unionShape {
			return nil, true
		}
		c.probs.error("UF2105", where, "%s is null, which has no elements.", text)
		return nil, false
	}
	c.probs.error("UF2109", where, "%s is %s, which has no elements.", text, a)
	return nil, false
}

func (c *checker) listElement(a *typ, text string, key *typ, where hcl.Range) (*typ, bool) {
	if a.set {
		c.probs.error("UF2109", where, "%s is a set, which has no order and no index.", text).hint("Use tolist(…) for a list in lexical order.")
		return nil, false
	}
	if !numeric(key) {
		c.probs.error("UF2103", where, "%s is %s; its index is a number, not %s.", text, a, key)
		return nil, false
	}
	if a.shape == listShape {
		return a.elem, true
	}
	if key.known == cty.NilVal {
		return unionOf(a.elems...), true
	}
	n, good := convertTo(key.known, cty.Number)
	if !good {
		return anyType, true
	}
	i, _ := n.AsBigFloat().Int64()
	if i < 0 || int(i) >= len(a.elems) {
		c.probs.error("UF2103", where, "%s has %s; there is no [%d].", text, plural(len(a.elems), "element"), i)
		return nil, false
	}
	return a.elems[i], true
}

// numeric reports whether a value can be used as a number.
func numeric(t *typ) bool {
	for _, a := range t.alternatives() {
		switch a.shape {
		case anyShape, numberShape:
		case stringShape:
			if a.known != cty.NilVal {
				if _, ok := convertTo(a.known, cty.Number); !ok {
					return false
				}
			}
		default:
			return false
		}
	}
	return true
}

func (c *checker) objectElement(a *typ, text string, key *typ, where hcl.Range) (*typ, bool) {
	if key.known == cty.NilVal {
		if a.open {
			return anyType, true
		}
		_, elem, _ := a.elements()
		return withoutAll(a, elem).loosely(), true
	}
	k, good := convertTo(key.known, cty.String)
	if !good || k.IsNull() {
		return anyType, true
	}
	name := k.AsString()
	if f, ok := a.attrs[name]; ok {
		return f, true
	}
	if a.open {
		return anyType, true
	}
	if h, ok := a.hints[name]; ok {
		c.probs.error(h.code, where, "%s", h.text)
		return nil, false
	}
	c.probs.error("UF2103", where, "%s has no key %q.%s", text, name, didYouMean(name, sortedKeys(a.attrs)))
	return nil, false
}

// withoutAll is the type of task.NAME[KEY] for a computed key: one of the instances, never all[…].
func withoutAll(a, elem *typ) *typ {
	if a.attrs["all"] == nil || len(a.attrs) < 2 {
		return elem
	}
	var vals []*typ
	for _, k := range sortedKeys(a.attrs) {
		if k != "all" {
			vals = append(vals, a.attrs[k])
		}
	}
	return unionOf(vals...)
}

// splat finds the type of x[*].…: a list, also of a single value.
func (c *checker) splat(e *hclsyntax.SplatExpr) *typ {
	src := c.check(e.Source)
	if src.shape == nullShape {
		return tupleOf(nil)
	}
	elem := src
	if src.shape == listShape || src.shape == tupleShape || src.shape == unionShape {
		if _, el, ok := src.elements(); ok {
			elem = el
		}
	}
	c.items = append(c.items, elem)
	each := c.check(e.Each)
	c.items = c.items[:len(c.items)-1]
	return listOf(each)
}

// textOf is how an expression is written, for messages.
func (c *checker) textOf(e hclsyntax.Expression) string {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return traversalText(e.Traversal)
	case *hclsyntax.RelativeTraversalExpr:
		return c.textOf(e.Source) + traversalText(e.Traversal)
	case *hclsyntax.IndexExpr:
		return c.textOf(e.Collection) + "[…]"
	case *hclsyntax.ParenthesesExpr:
		return "(…)"
	case *hclsyntax.FunctionCallExpr:
		return e.Name + "(…)"
	case *hclsyntax.AnonSymbolExpr:
		return "The element"
	case *hclsyntax.SplatExpr:
		return c.textOf(e.Source) + "[*]"
	}
	return "This"
}

func traversalText(t hcl.Traversal) string {
	var b strings.Builder
	for _, s := range t {
		switch s := s.(type) {
		case hcl.TraverseRoot:
			b.WriteString(s.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + s.Name)
		case hcl.TraverseIndex:
			b.WriteString("[" + strings.TrimSpace(valueText(s.Key)) + "]")
		}
	}
	return b.String()
}

// rootKey names what a guard must have asked: task.NAME, or a name bound by a for expression.
func (c *checker) rootKey(e hclsyntax.Expression) string {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		root := e.Traversal.RootName()
		if isTaskRoot(root) && len(e.Traversal) > 1 {
			if name, ok := stepName(e.Traversal[1]); ok {
				return root + "." + name
			}
		}
		return root
	case *hclsyntax.RelativeTraversalExpr:
		return c.rootKey(e.Source)
	case *hclsyntax.IndexExpr:
		return c.rootKey(e.Collection)
	case *hclsyntax.ParenthesesExpr:
		return c.rootKey(e.Expression)
	}
	return ""
}

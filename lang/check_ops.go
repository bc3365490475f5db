package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// conditional checks the condition and both branches, taken or not.
func (c *checker) conditional(e *hclsyntax.ConditionalExpr) *typ {
	c.operand(e.Condition, cty.Bool)
	yes := c.branch(e.TrueResult, c.guards(e.Condition, true))
	no := c.branch(e.FalseResult, c.guards(e.Condition, false))
	if !sameKind(yes, no) {
		c.probs.error("UF2102", hcl.RangeBetween(e.TrueResult.Range(), e.FalseResult.Range()),
			"The true value is %s, but the false value is %s.", yes, no).
			because("Both branches of a conditional must have one type%s.", apart(yes, no, ""))
		return anyType
	}
	return unionOf(yes, no)
}

// apart says where two types differ that are called by one word, "" where their words differ already.
func apart(a, b *typ, path string) string {
	if a.String() != b.String() {
		if path == "" {
			return ""
		}
		return ": its " + strings.TrimPrefix(path, ".") + " is " + a.String() + " in the one and " + b.String() + " in the other"
	}
	within := func(a, b *typ, step string) string {
		if sameKind(a, b) {
			return ""
		}
		return apart(a, b, path+step)
	}
	for i := range min(len(a.elems), len(b.elems)) {
		if s := within(a.elems[i], b.elems[i], fmt.Sprintf("[%d]", i)); s != "" {
			return s
		}
	}
	for _, name := range sortedKeys(a.attrs) {
		if other := b.attrs[name]; other != nil {
			if s := within(a.attrs[name], other, "."+name); s != "" {
				return s
			}
		}
	}
	return ""
}

// branch checks what is evaluated only where certain tasks have left something.
func (c *checker) branch(e hclsyntax.Expression, there []string) *typ {
	n := len(c.guarded)
	c.guarded = append(c.guarded, there...)
	t := c.check(e)
	c.guarded = c.guarded[:n]
	if len(there) > 0 { // what came by way of a local
		t = t.certainOf(there)
	}
	return t
}

// sameKind reports whether HCL finds one type for both branches.
func sameKind(a, b *typ) bool {
	if a.shape == unionShape || b.shape == unionShape || a.shape == nullShape || b.shape == nullShape {
		return true
	}
	at, bt := a.cty(), b.cty()
	if at.HasDynamicTypes() || bt.HasDynamicTypes() {
		return at == cty.DynamicPseudoType || bt == cty.DynamicPseudoType || compatible(a.shape, b.shape)
	}
	t, _ := convert.UnifyUnsafe([]cty.Type{at, bt})
	return t != cty.NilType
}

// compatible compares types that hold unchecked parts by their outer form.
func compatible(a, b shape) bool {
	group := map[shape]int{listShape: 1, tupleShape: 1, mapShape: 2, objectShape: 2}
	return group[a] == group[b]
}

// binary checks both sides; the left side of && and of || guards the right one.
func (c *checker) binary(e *hclsyntax.BinaryOpExpr) *typ {
	switch e.Op {
	case hclsyntax.OpEqual, hclsyntax.OpNotEqual:
		c.check(e.LHS)
		c.check(e.RHS)
		return boolType
	case hclsyntax.OpLogicalAnd, hclsyntax.OpLogicalOr:
		c.operand(e.LHS, cty.Bool)
		n := len(c.guarded)
		c.guarded = append(c.guarded, c.guards(e.LHS, e.Op == hclsyntax.OpLogicalAnd)...)
		c.operand(e.RHS, cty.Bool)
		c.guarded = c.guarded[:n]
		return boolType
	case hclsyntax.OpGreaterThan, hclsyntax.OpGreaterThanOrEqual, hclsyntax.OpLessThan, hclsyntax.OpLessThanOrEqual:
		c.operand(e.LHS, cty.Number)
		c.operand(e.RHS, cty.Number)
		return boolType
	}
	c.operand(e.LHS, cty.Number)
	c.operand(e.RHS, cty.Number)
	return numberType
}

// unary checks the one side of ! or of a minus sign; that of a literal is known.
func (c *checker) unary(e *hclsyntax.UnaryOpExpr) *typ {
	c.operand(e.Val, e.Op.Type)
	if _, literal := literalValue(e.Val); literal {
		if v, ds := e.Value(nil); !ds.HasErrors() {
			return typeOfValue(v)
		}
	}
	return typeOfCty(e.Op.Type)
}

// operand checks a part that must be a number or a bool.
func (c *checker) operand(e hclsyntax.Expression, want cty.Type) {
	t := c.check(e)
	for _, a := range t.alternatives() {
		if a.shape == nullShape && t.shape == unionShape {
			continue
		}
		if !operandOK(a, want) {
			c.probs.error("UF2107", e.Range(), "%s is required, but this is %s.", sentenceCase(typeNoun(want)), a)
			return
		}
	}
	c.mayBeNull(e, t)
}

func typeNoun(t cty.Type) string {
	if t == cty.Bool {
		return "true or false"
	}
	return withArticle(t)
}

func operandOK(a *typ, want cty.Type) bool {
	switch a.shape {
	case anyShape:
		return true
	case stringShape:
		if a.known == cty.NilVal {
			return true
		}
		_, ok := convertTo(a.known, want)
		return ok
	case numberShape:
		return want == cty.Number
	case boolShape:
		return want == cty.Bool
	}
	return false
}

// object checks an object written out; a key that stands twice is an error, since HCL would silently
// keep the last.
func (c *checker) object(e *hclsyntax.ObjectConsExpr) *typ {
	t := objectOf(map[string]*typ{})
	first := map[string]hcl.Range{}
	for _, it := range e.Items {
		key := c.check(it.KeyExpr)
		val := c.check(it.ValueExpr)
		if key.known == cty.NilVal {
			t.open = true
			if !key.textual() || key.shape == nullShape {
				c.probs.error("UF2107", it.KeyExpr.Range(), "A key of an object must be text, but this is %s.", key)
			}
			continue
		}
		k, ok := convertTo(key.known, cty.String)
		if !ok || k.IsNull() {
			continue
		}
		name := k.AsString()
		if old, dup := first[name]; dup {
			c.probs.error("UF1105", it.KeyExpr.Range(), "%q is set twice; HCL would silently keep the last one.", name).
				also(old, "the first is here")
			continue
		}
		first[name] = it.KeyExpr.Range()
		t.attrs[name] = val
	}
	return t
}

func (c *checker) objectKey(e *hclsyntax.ObjectConsKeyExpr) *typ {
	if !e.ForceNonLiteral {
		if kw := hcl.ExprAsKeyword(e.Wrapped); kw != "" {
			return typeOfValue(cty.StringVal(kw))
		}
	}
	return c.check(e.Wrapped)
}

// loop checks a for expression or a %{ for }. The body is checked for every type an element may have.
func (c *checker) loop(e *hclsyntax.ForExpr) *typ {
	coll := c.check(e.CollExpr)
	key, elem := c.iterate(e.CollExpr, coll)
	var keys, vals []*typ
	for _, alt := range elem.alternatives() {
		n, g := len(c.bound), len(c.guarded)
		if e.KeyVar != "" {
			c.bound = append(c.bound, binding{e.KeyVar, key})
		}
		c.bound = append(c.bound, binding{e.ValVar, alt})
		if e.CondExpr != nil {
			c.operand(e.CondExpr, cty.Bool)
			c.guarded = append(c.guarded, c.guards(e.CondExpr, true)...)
		}
		if e.KeyExpr != nil {
			k := c.check(e.KeyExpr)
			if !k.textual() {
				c.probs.error("UF2107", e.KeyExpr.Range(), "A key must be text, but this is %s.", k)
			}
			keys = append(keys, k)
		}
		val := c.check(e.ValExpr)
		if c.isGuarded(e.ValVar) {
			val = val.certain()
		}
		vals = append(vals, val)
		c.bound, c.guarded = c.bound[:n], c.guarded[:g]
	}
	val := unionOf(vals...)
	switch {
	case len(keys) == 0:
		return listOf(val)
	case e.Group:
		return mapOf(listOf(val))
	}
	return mapOf(val)
}

// taskOrGroup is the text of an expression that names a task or a group and nothing in it.
func taskOrGroup(e hclsyntax.Expression) (string, bool) {
	t, ok := e.(*hclsyntax.ScopeTraversalExpr)
	if !ok || len(t.Traversal) != 2 || !isTaskRoot(t.Traversal.RootName()) {
		return "", false
	}
	name, ok := t.Traversal[1].(hcl.TraverseAttr)
	return t.Traversal.RootName() + "." + name.Name, ok
}

// iterate returns the types of keys and elements of a collection.
func (c *checker) iterate(e hclsyntax.Expression, coll *typ) (key, elem *typ) {
	if coll.shape == nullShape {
		c.probs.error("UF2105", e.Range(), "This is null and cannot be iterated.")
		return anyType, anyType
	}
	if name, ok := taskOrGroup(e); ok && coll.shape == objectShape && coll.attrs["all"] != nil {
		d := c.probs.error("UF2106", e.Range(), "%s is no list of instances: write %s.all.", name, name)
		d.fixed(e.Range(), name+".all")
		return anyType, coll.attrs["all"].elem
	}
	key, elem, ok := coll.elements()
	if !ok {
		c.probs.error("UF2106", e.Range(), "%s cannot be iterated.", sentenceCase(coll.String()))
		return anyType, anyType
	}
	c.mayBeNull(e, coll)
	return key, elem
}

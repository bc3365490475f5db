package lang

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// index finds the type of a computed element.
func (c *checker) index(e *hclsyntax.IndexExpr) *typ {
	key := c.check(e.Key)
	t := c.check(e.Collection)
	return c.element(t, c.textOf(e.Collection), c.rootKey(e.Collection), key, e.Key.Range())
}

// element finds the type of t[key].
func (c *checker) element(t *typ, text, root string, key *typ, where hcl.Range) *typ {
	in := func(a *typ) (*typ, bool) { return c.elementOf(a, t, text, key, where) }
	found, ok := c.eachAlternative(t, root, where, in)
	if !ok {
		return anyType
	}
	if t.loose && len(found) == 0 {
		in(t.elems[0])
		return anyType
	}
	return c.followed(t, found)
}

// eachAlternative takes a step from every type that t may be, and tells where t may be null. It is false when one
// of them does not allow the step, which was told; of a loose type it is enough that one does.
func (c *checker) eachAlternative(t *typ, root string, where hcl.Range, in func(a *typ) (*typ, bool)) (found []*typ, ok bool) {
	for _, a := range t.alternatives() {
		if t.loose && !c.quietly(func() bool { _, ok := in(a); return ok }) {
			continue
		}
		f, ok := in(a)
		if !ok {
			return nil, false
		}
		if f != nil {
			found = append(found, f)
		}
	}
	if t.maybe != "" && c.trying == 0 && !c.isGuarded(root) {
		c.mayBeNullAt(where, t, root)
	}
	return found, true
}

func (c *checker) elementOf(a, whole *typ, text string, key *typ, where hcl.Range) (f *typ, ok bool) {
	switch a.shape {
	case anyShape:
		return a.part(), true
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
	n, good := convertTo(key.value(), cty.Number)
	if !good {
		return anyType, true
	}
	if n.IsKnown() && (!n.AsBigFloat().IsInt() || n.AsBigFloat().Sign() < 0) {
		c.probs.error("UF2103", where, "An index is a whole number from 0 up, not %s.", n.AsBigFloat().Text('g', 12))
		return nil, false
	}
	count := len(a.elems)
	if a.shape == listShape {
		if count = a.count; count == 0 || key.known == cty.NilVal {
			return a.elem.loosely(), true
		}
	}
	if key.known == cty.NilVal {
		return unionOf(a.elems...).loosely(), true
	}
	i, _ := n.AsBigFloat().Int64()
	if i >= int64(count) {
		c.probs.error("UF2103", where, "%s has %s; there is no [%d].", text, plural(count, "element"), i)
		return nil, false
	}
	if a.shape == listShape {
		return a.elem.loosely(), true
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
			return a.further(), true
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
		return a.further(), true
	}
	if h, ok := a.hints[name]; ok {
		c.probs.error(h.code, where, "%s", h.text)
		return nil, false
	}
	c.probs.error("UF2103", where, "%s has no key %q.%s", text, name, didYouMean(name, sortedKeys(a.attrs))).Hint = keysHint(a, text, name)
	return nil, false
}

// keysHint says which keys there are; all is the list of the instances of a task and no key.
func keysHint(a *typ, text, name string) string {
	keys := sortedKeys(a.attrs)
	if len(keys) == 1 && keys[0] == "all" {
		return "It has no keys that are known before a run: " + text + ".all is the list of its instances."
	}
	if Suggest(name, keys) != "" {
		return ""
	}
	return choiceHint("Its keys are ", slices.DeleteFunc(keys, func(k string) bool { return k == "all" && a.attrs["outputs"] == nil }))
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
	before := c.probs.errors
	src := c.check(e.Source)
	switch {
	case c.probs.errors > before || c.unknown(e.Source): // a list of what is wrong is no list yet
		return anyType
	case src.shape == nullShape:
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

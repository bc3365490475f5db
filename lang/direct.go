package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// direct is a direct reference such as task.NAME, task.NAME["key"] or group.NAME.
type direct struct {
	root, name string
	key        hclsyntax.Expression // the index; nil for none
	constant   string               // its value when it is constant
	place      hcl.Range
}

// directReference returns the name of the one declaration of a kind that a refers to; "" for none.
func (l *loader) directReference(a *argument, kind string) string {
	if a == nil {
		return ""
	}
	d, ok := l.direct(a.name, a.syntax, kind)
	if !ok {
		return ""
	}
	return d.name
}

// directReferences returns the declarations that a list refers to; a single one may stand without
// brackets.
func (l *loader) directReferences(a *argument, kinds ...string) []direct {
	if a == nil {
		return nil
	}
	elements := []hclsyntax.Expression{a.syntax}
	if t, ok := a.syntax.(*hclsyntax.TupleConsExpr); ok {
		elements = t.Exprs
	}
	if len(elements) == 0 && a.spec != nil && a.spec.Filled {
		l.empty(a).hint("Leave it out for %s.", a.spec.Default)
	}
	var list []direct
	for _, e := range elements {
		if d, ok := l.direct(a.name, e, kinds...); ok {
			list = append(list, d)
		}
	}
	return list
}

// direct reads one direct reference to a declaration of one of the kinds.
func (l *loader) direct(arg string, e hclsyntax.Expression, kinds ...string) (direct, bool) {
	d := direct{place: e.Range()}
	t, ok := e.(*hclsyntax.ScopeTraversalExpr)
	if ix, indexed := e.(*hclsyntax.IndexExpr); indexed {
		d.key = ix.Key
		t, ok = ix.Collection.(*hclsyntax.ScopeTraversalExpr)
	}
	if !ok {
		l.notDirect(arg, e, kinds)
		return d, false
	}
	ok = l.readDirect(&d, arg, t, e, kinds)
	return d, ok
}

func (l *loader) readDirect(d *direct, arg string, t *hclsyntax.ScopeTraversalExpr, e hclsyntax.Expression, kinds []string) bool {
	d.root = t.Traversal.RootName()
	if !containsString(declaredRoots, d.root) {
		l.notDirect(arg, e, kinds)
		return false
	}
	u := use{root: d.root, steps: t.Traversal, place: t.SrcRange}
	if len(t.Traversal) > 1 {
		if a, ok := t.Traversal[1].(hcl.TraverseAttr); ok {
			d.name, u.name = a.Name, a.Name
		}
	}
	if d.name == "" {
		l.unnamed(&u)
		return false
	}
	if !containsString(kinds, d.root) {
		l.error("UF2005", e.Range(), "%s takes %s, not %s.", arg, kindsText(kinds), articled(kindOfRoot(d.root))).
			hint("Refer to one as in %s.NAME.", kinds[0])
		return false
	}
	if !l.isDeclared(d.root, d.name) {
		l.unknownReference(d.root, d.name, u.place, lastStep(&u))
		return false
	}
	l.use(d.root, d.name)
	return l.readDirectKey(d, arg, t.Traversal[2:], e, kinds)
}

// readDirectKey reads what follows the name: nothing, or the key of one instance of a task.
func (l *loader) readDirectKey(d *direct, arg string, rest hcl.Traversal, e hclsyntax.Expression, kinds []string) bool {
	if len(rest) == 1 && d.root == "task" && d.key == nil {
		if ix, ok := rest[0].(hcl.TraverseIndex); ok && ix.Key.Type() == cty.String {
			d.key, d.constant = &hclsyntax.LiteralValueExpr{Val: ix.Key, SrcRange: ix.SrcRange}, ix.Key.AsString()
			return true
		}
	}
	if len(rest) > 0 || d.key != nil && d.root != "task" {
		l.notDirect(arg, e, kinds)
		return false
	}
	return true
}

func (l *loader) notDirect(arg string, e hclsyntax.Expression, kinds []string) {
	d := l.error("UF2004", e.Range(), "%s takes direct references such as %s.NAME.", arg, kinds[0]).
		because("What a campaign is made of must be known from its text.")
	if t, ok := e.(*hclsyntax.ScopeTraversalExpr); ok && len(t.Traversal) == 1 {
		if d.declared(l, e, kinds, t.Traversal.RootName()) {
			d.Summary += " Did you mean " + d.Fix.Text + "?"
		}
		return
	}
	v, ds := e.Value(nil)
	if ds.HasErrors() || !v.IsWhollyKnown() || v.IsNull() || v.Type() != cty.String {
		return
	}
	d.declared(l, e, kinds, v.AsString())
}

// declared offers the declaration of one of the kinds that is named without its kind, or as text.
func (d *Diagnostic) declared(l *loader, e hclsyntax.Expression, kinds []string, text string) bool {
	for _, k := range kinds {
		if name := strings.TrimPrefix(text, k+"."); l.isDeclared(k, name) {
			d.fixed(e.Range(), k+"."+name)
			return true
		}
	}
	return false
}

func containsString(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func kindsText(kinds []string) string {
	s := ""
	for i, k := range kinds {
		if i > 0 {
			s += " or "
		}
		s += articled(k)
	}
	return s
}

// articled returns the noun with "a" or "an".
func articled(noun string) string {
	if noun != "" && containsString([]string{"a", "e", "i", "o", "u"}, noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}

// elementRange returns the range of the i-th element of a list written out, else of the whole.
func elementRange(x *expression, i int) hcl.Range {
	if e := elementSyntax(x, i); e != x.syntax {
		return e.Range()
	}
	return x.place
}

// elementSyntax returns an element of a list written out, else the whole.
func elementSyntax(x *expression, i int) hclsyntax.Expression {
	if t, ok := x.syntax.(*hclsyntax.TupleConsExpr); ok && i < len(t.Exprs) {
		return t.Exprs[i]
	}
	return x.syntax
}

// keyRange returns the range of a key of an object written out, else of the whole.
func keyRange(x *expression, key string) hcl.Range {
	o, ok := x.syntax.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return x.place
	}
	for _, it := range o.Items {
		if k, ok := itemKey(it); ok && k == key {
			return it.KeyExpr.Range()
		}
	}
	return x.place
}

// itemKey returns the key of an object item when it is constant.
func itemKey(it hclsyntax.ObjectConsItem) (string, bool) {
	if k, ok := it.KeyExpr.(*hclsyntax.ObjectConsKeyExpr); ok {
		if !k.ForceNonLiteral {
			if kw := hcl.ExprAsKeyword(k.Wrapped); kw != "" {
				return kw, true
			}
		}
		if v, ok := literalValue(k.Wrapped); ok && v.Type() == cty.String && !v.IsNull() {
			return v.AsString(), true
		}
	}
	return "", false
}

// valueRange returns the range of the value of a key of an object written out, else of the whole.
func valueRange(x *expression, key string) hcl.Range { return axisRange(x, key) }

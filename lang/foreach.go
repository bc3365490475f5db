package lang

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// eachKeys evaluates for_each.
func (l *loader) eachKeys(d *taskDef) []eachKey {
	a := d.forEach
	if src, late := l.lateSource(a.expression); late && src.use.root != "item" { // an item is of an expand block, which excludes for_each
		l.lateForEach(d, src)
		return nil
	}
	if a.broken {
		return nil
	}
	if u, secret := l.ev.secretUse(a.expression); secret {
		l.error("UF4005", u.place, "for_each keys become task names, which are printed; a sensitive variable must not reach them.")
		return nil
	}
	v, ds := l.campaignScope().eval(a.expression)
	if ds.HasErrors() {
		l.evalProblems(ds, a.place)
		return nil
	}
	v, _ = v.Unmark()
	if !v.IsKnown() {
		return nil // of a variable without a value: check takes it as unknown
	}
	if !l.eachTypeOK(a, v) {
		return nil
	}
	keys := l.collectKeys(a, v)
	if len(keys) == 0 && v.LengthInt() == 0 {
		l.warn("UF4006", a.place, "for_each is empty: task.%s has no instances.", d.task.Name)
	}
	return keys
}

// lateForEach explains for_each over run-time values and shows the block to use.
func (l *loader) lateForEach(d *taskDef, src lateUse) {
	items, key := "…", "item.id"
	if b, ok := l.ev.src.source(d.forEach.place.Filename); ok {
		items, key = expandInstead(b, d.forEach.syntax)
	}
	if strings.HasPrefix(items, "task.") && strings.HasSuffix(items, ".all") { // the id of an instance can be no key
		key = strings.Replace(key, "item.id", "item.key", 1)
	}
	l.error("UF4001", src.place, "for_each must be known before the run starts, but this value comes from %s, which has not run yet.", src.label()).
		because("The shape of a campaign is known from its files; what tasks write can shape it only in an expand block.").
		hint("Use an expand block:\n  expand {\n    items = %s\n    key   = %s\n  }", items, key)
}

// expandInstead finds the list behind a for_each, and what its keys are, in the text of a file.
func expandInstead(b []byte, e hclsyntax.Expression) (items, key string) {
	if c, ok := e.(*hclsyntax.FunctionCallExpr); ok && c.Name == "toset" && len(c.Args) == 1 {
		e = c.Args[0]
	}
	text := func(r hcl.Range) string {
		if !r.CanSliceBytes(b) {
			return "…"
		}
		return string(r.SliceBytes(b))
	}
	items, key = text(e.Range()), "item.id"
	f, ok := e.(*hclsyntax.ForExpr)
	if !ok || f.KeyVar != "" || f.CondExpr != nil {
		return items, key
	}
	x := f.KeyExpr
	if x == nil {
		x = f.ValExpr
	}
	if t, ok := x.(*hclsyntax.ScopeTraversalExpr); ok && t.Traversal.RootName() == f.ValVar {
		rest := t.Range()
		rest.Start = t.Traversal[0].SourceRange().End
		return text(f.CollExpr.Range()), "item" + text(rest)
	}
	return items, key
}

func (l *loader) eachTypeOK(a *argument, v cty.Value) bool {
	t := v.Type()
	switch {
	case v.IsNull():
		l.error("UF4002", a.place, "for_each is null. Use an empty map or set for no instances.")
		return false
	case t.IsMapType(), t.IsObjectType(), t.IsSetType() && t.ElementType() == cty.String:
		return true
	case t.IsSetType() && v.LengthInt() == 0: // toset([]) is a set of nothing in particular
		return true
	}
	n := l.error("UF4004", a.place, "for_each needs a map or a set of strings, not %s.", describeType(v))
	if t.IsTupleType() || t.IsListType() {
		if form := l.pathMap(a, v); form != "" {
			n.because("These are paths, and a path cannot be a key, which becomes part of a task's name.").
				hint(shortKeys+".").fixed(a.place, inFile(a.place, form))
			return false
		}
		n.Detail = "A list has no stable keys: adding an element at its start would rename every instance."
		b, ok := l.ev.src.source(a.place.Filename)
		switch {
		case !allStrings(v):
			n.Hint = "Make a map of it, by what names each element for good, such as { for x in LIST : x.id => x }."
		case ok:
			n.hint("If it holds distinct strings, write toset(…) around it.").fixed(a.place, inFile(a.place, "toset("+string(a.place.SliceBytes(b))+")"))
		}
	}
	return false
}

// allStrings reports whether a list holds nothing but strings.
func allStrings(v cty.Value) bool {
	for it := v.ElementIterator(); it.Next(); {
		if _, e := it.Element(); e.Type() != cty.String {
			return false
		}
	}
	return true
}

// inFile is an expression as the file of a place has it: in JSON it stands in quotes.
func inFile(where hcl.Range, expression string) string {
	if !strings.HasSuffix(where.Filename, ".json") {
		return expression
	}
	b, err := json.Marshal("${" + expression + "}")
	if err != nil {
		bug("spell %q as JSON: %v", expression, err)
	}
	return unescapeHTML(string(b))
}

// collectKeys returns the elements whose keys can be part of an address, in lexical order.
func (l *loader) collectKeys(a *argument, v cty.Value) []eachKey {
	var keys []eachKey
	folded := map[string]string{}
	var bad badKeys
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		k, _ = k.Unmark()
		if !k.IsKnown() || k.IsNull() {
			l.error("UF4003", a.place, "for_each holds a null or unknown key.")
			continue
		}
		key := k.AsString()
		where := elementKeyRange(a.expression, key)
		if err := ValidKey(key); err != nil {
			bad.add(l, a, v, where, key, err)
			continue
		}
		low := strings.ToLower(key)
		if other, ok := folded[low]; ok {
			l.error("UF4007", where, "The keys %q and %q would share a directory on a disk that ignores case.", other, key)
			continue
		}
		folded[low] = key
		if v.Type().IsSetType() {
			e = k
		}
		keys = append(keys, eachKey{key, e})
	}
	return keys
}

// badKeys reports keys that cannot be part of an address: one diagnostic a place, since a set of paths has
// as many bad keys as there are files.
type badKeys struct {
	first map[hcl.Range]*Diagnostic
	more  map[hcl.Range]int
}

func (b *badKeys) add(l *loader, a *argument, v cty.Value, where hcl.Range, key string, err error) {
	if n := b.first[where]; n != nil {
		b.more[where]++
		n.Detail = "1 more key is like it."
		if more := b.more[where]; more > 1 {
			n.Detail = fmt.Sprintf("%d more keys are like it.", more)
		}
		return
	}
	if b.first == nil {
		b.first, b.more = map[hcl.Range]*Diagnostic{}, map[hcl.Range]int{}
	}
	n := l.error("UF4003", where, "%s.", sentenceCase(err.Error()))
	b.first[where] = n
	if !strings.Contains(key, "/") {
		return
	}
	form := l.pathMap(a, v)
	if form != "" && where == a.place {
		n.hint(shortKeys+".").fixed(where, inFile(where, form))
		return
	}
	if form == "" {
		form = "{ for f in " + l.listBehind(where) + " : basename(f) => f }"
	}
	n.hint(shortKeys+":\n  for_each = %s", form)
}

// shortKeys is the advice for paths that stand where keys must.
const shortKeys = "Give each instance a short key and keep the path as its value, which each.value is then"

// pathMap writes the map with short keys that is meant by a list or set with paths among its elements; ""
// when none of them is a path or short keys would not do.
func (l *loader) pathMap(a *argument, v cty.Value) string {
	t := v.Type()
	if !t.IsSetType() && !t.IsListType() && !t.IsTupleType() || !v.IsWhollyKnown() {
		return ""
	}
	paths, bases, dashed := false, map[string]bool{}, map[string]bool{}
	note := func(keys map[string]bool, key string) {
		if ValidKey(key) == nil {
			keys[strings.ToLower(key)] = true
		}
	}
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if e.IsNull() || e.Type() != cty.String || e.IsMarked() {
			return ""
		}
		p := e.AsString()
		paths = paths || strings.Contains(p, "/")
		note(bases, path.Base(p))
		note(dashed, strings.ReplaceAll(p, "/", "-"))
	}
	list := l.listBehind(a.place)
	switch n := v.LengthInt(); {
	case !paths || list == "…":
		return ""
	case len(bases) == n:
		return "{ for f in " + list + " : basename(f) => f }"
	case len(dashed) == n:
		return "{ for f in " + list + ` : replace(f, "/", "-") => f }`
	}
	return ""
}

// listBehind returns the text of what toset(…) holds at a place, for a hint.
func (l *loader) listBehind(where hcl.Range) string {
	b, ok := l.ev.src.source(where.Filename)
	if !ok {
		return "…"
	}
	text := string(where.SliceBytes(b))
	if inner, ok := strings.CutPrefix(text, "toset("); ok {
		return strings.TrimSuffix(inner, ")")
	}
	if strings.HasPrefix(text, `"`) || strings.Contains(text, "\n") {
		return "…"
	}
	return text
}

// elementKeyRange returns the range of a key in an object or in toset([…]), else of the whole.
func elementKeyRange(x *expression, key string) hcl.Range {
	if c, ok := x.syntax.(*hclsyntax.FunctionCallExpr); ok && len(c.Args) == 1 {
		if t, ok := c.Args[0].(*hclsyntax.TupleConsExpr); ok {
			for _, e := range t.Exprs {
				if v, ok := literalValue(e); ok && v.Type() == cty.String && !v.IsNull() && v.AsString() == key {
					return e.Range()
				}
			}
		}
	}
	return keyRange(x, key)
}

// axisRange returns the range of the values of one axis of a matrix written out, else of the whole.
func axisRange(x *expression, name string) hcl.Range {
	if o, ok := x.syntax.(*hclsyntax.ObjectConsExpr); ok {
		for _, it := range o.Items {
			if k, ok := itemKey(it); ok && k == name {
				return it.ValueExpr.Range()
			}
		}
	}
	return x.place
}

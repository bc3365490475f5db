package lang

import (
	"cmp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// stepKind says what a checker has just looked at.
type stepKind int

const (
	atRoot  stepKind = iota + 1 // the first name of a reference
	atName                      // the name of a declaration behind its root
	atField                     // a step from a value
	atCall                      // the name of a function
)

// step is what a checker tells about one name on its way.
type step struct {
	kind  stepKind
	where hcl.Range // of the name alone
	text  string    // how the value is written, as far as here
	from  *typ      // the value before a field; else nil
	to    *typ      // the value here; nil for a function
	bound []binding // the names of for expressions around
}

func (c *checker) told(s step) {
	if c.tell != nil {
		s.bound = c.bound
		c.tell(s)
	}
}

// inspector answers questions about a campaign after it was loaded. It runs the checker once more and
// listens to it; it reports nothing and changes nothing.
type inspector struct {
	l     *loader
	found []Occurrence
	seen  map[occurrenceKey]bool
}

type occurrenceKey struct {
	where  Range
	symbol Symbol
}

func (c *Campaign) inspector() *inspector {
	l := &loader{c: c, ev: c.eval, decl: c.eval.decl, typer: newTaskTypes(c.eval)}
	return &inspector{l: l, seen: map[occurrenceKey]bool{}}
}

// Occurrences returns every name in the campaign's files and prompts, sorted by file and place. Where the
// campaign is broken, what could be understood is there.
func (c *Campaign) Occurrences() []Occurrence {
	if c.eval == nil {
		return nil
	}
	c = c.whole()
	in := c.inspector()
	in.guarded(in.declarations)
	for _, n := range in.blocks() {
		in.guarded(func() { in.node(n, nil) })
	}
	for _, d := range c.eval.decl.order {
		in.guarded(func() { in.listen(d.syntax, nil, nil) })
	}
	for _, d := range c.eval.order {
		in.guarded(func() { in.task(d) })
	}
	in.files()
	in.guarded(in.fields)
	slices.SortStableFunc(in.found, func(a, b Occurrence) int {
		return cmp.Or(cmp.Compare(a.Range.File, b.Range.File), cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte))
	})
	return in.found
}

// guarded runs a part of an inspection. A broken campaign may have any form: what cannot be looked at is
// left out.
func (in *inspector) guarded(part func()) {
	defer func() { _ = recover() }()
	part()
}

func (in *inspector) add(o Occurrence) {
	key := occurrenceKey{o.Range, o.Symbol}
	if o.Range.File == "" || in.seen[key] {
		return
	}
	in.seen[key] = true
	in.found = append(in.found, o)
}

// blocks lists the top-level blocks that are no tasks and no locals.
func (in *inspector) blocks() []*node {
	var list []*node
	if n := in.l.decl.campaign; n != nil {
		list = append(list, n)
	}
	for _, kind := range declaredKinds {
		if kind != "task" {
			list = append(list, in.l.decl.kinds[kind].list...)
		}
	}
	return list
}

// node listens to everything in a block. Tasks get the symbols of an instance.
func (in *inspector) node(n *node, d *taskDef) {
	var roots *rootTypes
	if d != nil {
		roots = in.roots(d)
	}
	for _, a := range n.args {
		if n.schema == presetSchema {
			in.add(Occurrence{Range: at(a.nameRange), Symbol: Symbol{Kind: "variable", Name: a.name}, Text: "var." + a.name})
		}
		in.listen(a.syntax, roots, d)
	}
	for _, b := range n.blocks {
		in.node(b, d)
	}
}

func (in *inspector) task(d *taskDef) {
	in.l.typer.reader = d
	in.node(d.node, d)
	roots := in.roots(d)
	for _, p := range d.contents {
		if p.expression != nil {
			in.listen(p.syntax, roots, d)
		}
	}
}

// roots are the types of each, matrix, loop, self, item and vars in a task.
func (in *inspector) roots(d *taskDef) *rootTypes {
	roots := in.l.rootTypes(d, false)
	if a := d.expand.arg("items"); a != nil {
		roots.set("item", anyType)
		if _, elem, ok := in.typeOf(a.syntax, roots).elements(); ok {
			roots.set("item", elem)
		}
	}
	vars := objectOf(map[string]*typ{})
	for _, a := range d.vars {
		vars = addAttributes(vars, in.typeOf(a.syntax, roots))
	}
	roots.set("vars", vars)
	return roots
}

func (in *inspector) checker(roots *rootTypes) *checker {
	return &checker{ev: in.l.ev, probs: &problems{}, typer: in.l.typer, roots: roots}
}

func (in *inspector) typeOf(e hclsyntax.Expression, roots *rootTypes) *typ {
	return in.checker(roots).check(e)
}

// listen notes every name in an expression.
func (in *inspector) listen(e hclsyntax.Expression, roots *rootTypes, d *taskDef) {
	c := in.checker(roots)
	c.tell = func(s step) {
		o := Occurrence{Range: at(s.where), Text: s.text, Symbol: in.symbol(s, d)}
		if s.to != nil {
			o.Type, o.Value, o.Doc = s.to.describe(), knownText(s.to), s.to.doc
		}
		in.add(o)
	}
	c.check(e)
}

// symbol is what a step names.
func (in *inspector) symbol(s step, d *taskDef) Symbol {
	switch {
	case s.kind == atCall:
		return Symbol{Kind: "function", Name: s.text}
	case s.kind == atName:
		root, name, _ := strings.Cut(s.text, ".")
		return Symbol{Kind: kindOfRoot(root), Name: name}
	case s.kind == atField && d != nil && strings.HasPrefix(s.text, "vars.") && !strings.ContainsAny(s.text[5:], ".["):
		return Symbol{Kind: "vars", Name: s.text[5:], Of: d.task.Name}
	case s.kind == atField && s.to != nil && s.to.symbol != nil:
		return *s.to.symbol
	}
	return Symbol{}
}

// knownText is the value of a type that is known before anything runs.
func knownText(t *typ) string {
	if t.known == cty.NilVal {
		return ""
	}
	return valueText(t.known)
}

// declarations notes where names are given.
func (in *inspector) declarations() {
	for _, kind := range declaredKinds {
		for _, n := range in.l.decl.kinds[kind].list {
			in.declared(n, Symbol{Kind: kind, Name: n.name})
		}
	}
	for _, d := range in.l.decl.order {
		in.add(Occurrence{Range: at(d.nameRange), Symbol: Symbol{Kind: "local", Name: d.name}, Declares: true, Text: "local." + d.name})
	}
	for _, d := range in.l.ev.order {
		for _, n := range d.outputs {
			in.declared(n, Symbol{Kind: "output", Name: n.name, Of: d.task.Name})
		}
		for _, n := range d.node.all("input") {
			in.declared(n, Symbol{Kind: "input", Name: n.name, Of: d.task.Name})
		}
		for _, a := range d.vars {
			in.varKeys(a, d)
		}
	}
}

func (in *inspector) declared(n *node, s Symbol) {
	in.add(Occurrence{Range: in.unquoted(at(n.label)), Symbol: s, Declares: true, Text: n.name})
}

// unquoted is the range of a label without its quotes.
func (in *inspector) unquoted(r Range) Range {
	if text := in.l.c.textAt(r); len(text) >= 2 && text[0] == '"' {
		r.Start.Byte++
		r.Start.Column++
		r.End.Byte--
		r.End.Column--
	}
	return r
}

// varKeys notes the keys of an object that vars is set to.
func (in *inspector) varKeys(a *argument, d *taskDef) {
	o, ok := a.syntax.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return
	}
	for _, it := range o.Items {
		if name := hcl.ExprAsKeyword(it.KeyExpr); name != "" {
			in.add(Occurrence{
				Range: at(it.KeyExpr.Range()), Symbol: Symbol{Kind: "vars", Name: name, Of: d.task.Name}, Declares: true, Text: "vars." + name,
			})
		}
	}
}

// files notes the names of prompts, partials and schemas.
func (in *inspector) files() {
	file := func(r hcl.Range, name string) {
		if name != "" {
			in.add(Occurrence{Range: in.unquoted(at(r)), Symbol: Symbol{Kind: "file", Name: name}, Text: name})
		}
	}
	for _, d := range in.l.ev.order {
		if d.body != nil && d.body.name == "prompt" && d.task.PromptFile != "" {
			file(d.body.place, d.task.PromptFile)
		}
	}
	for _, n := range in.l.decl.kinds["contract"].list {
		if c, ok := in.l.c.Contract(n.name); ok && c.Schema != "" {
			file(n.arg("schema").place, c.Schema)
		}
	}
	for _, u := range in.l.ev.includes {
		file(u.place, u.file)
	}
}

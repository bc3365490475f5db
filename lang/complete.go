package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// PromptTasks lists the tasks whose prompt a file is or is included in, in order of declaration.
func (c *Campaign) PromptTasks(file string) []string {
	if c.eval == nil {
		return nil
	}
	within := map[string]bool{file: true}
	for _, u := range c.eval.includes {
		if u.file == file {
			within[u.root] = true
		}
	}
	var names []string
	for _, d := range c.eval.order {
		if slices.ContainsFunc(d.contents, func(p *prompt) bool { return within[p.path] }) {
			names = append(names, d.task.Name)
		}
	}
	return names
}

// maxAsked bounds for how many tasks a prompt is looked at: they share it since they are alike.
const maxAsked = 8

// Complete lists what may stand at a place, in an order that is good to show. The text must parse; nothing
// is returned when it does not.
func (c *Campaign) Complete(a Ask) []Candidate {
	if c.eval == nil {
		return nil
	}
	e := parseAsked(a)
	if e == nil {
		return nil
	}
	c = c.whole()
	in := c.inspector()
	var found []Candidate
	in.guarded(func() {
		for _, d := range in.asked(a) {
			found = append(found, in.complete(e, a, d)...)
		}
	})
	return distinctBy(found, func(c Candidate) [2]string { return [2]string{c.Kind, c.Name} })
}

func parseAsked(a Ask) (e hclsyntax.Expression) {
	defer func() {
		if recover() != nil {
			e = nil
		}
	}()
	parse := hclsyntax.ParseExpression
	if a.Template {
		parse = hclsyntax.ParseTemplate
	}
	e, ds := parse(a.Text, "ask", hcl.InitialPos)
	if ds.HasErrors() {
		return nil
	}
	return e
}

// asked lists the tasks in which the text stands; nil stands for none.
func (in *inspector) asked(a Ask) []*taskDef {
	if !a.Template {
		return []*taskDef{in.l.ev.tasks[a.Task]}
	}
	var ds []*taskDef
	for _, name := range in.l.c.PromptTasks(a.File) {
		if ds = append(ds, in.l.ev.tasks[name]); len(ds) == maxAsked {
			break
		}
	}
	if len(ds) == 0 {
		ds = append(ds, nil)
	}
	return ds
}

// complete lists what may stand at the place if the text belongs to a task.
func (in *inspector) complete(e hclsyntax.Expression, a Ask, d *taskDef) []Candidate {
	in.l.typer.reader = d
	roots := (*rootTypes)(nil)
	if d != nil {
		roots = in.roots(d)
	}
	c := in.checker(roots)
	var found []Candidate
	c.tell = func(s step) {
		if a.At < s.where.Start.Byte || a.At > s.where.End.Byte || found != nil {
			return
		}
		switch s.kind {
		case atRoot:
			found = in.rootCandidates(s.bound, d, a)
		case atName:
			root, _, _ := strings.Cut(s.text, ".")
			found = in.nameCandidates(root)
		case atField:
			found = fieldCandidates(s.from)
		case atCall:
			found = in.rootCandidates(s.bound, d, a)
		}
	}
	c.check(e)
	return found
}

// rootDocs says what the symbols are that an expression may begin with.
var rootDocs = map[string]string{
	"var": "Variables of the campaign.", "local": "Named expressions.", "task": "What other tasks left.",
	"group": "Groups; .all lists every instance of their tasks.", "profile": "Profiles.", "pool": "Pools.", "agent": "Agents.",
	"contract": "Contracts.", "reference": "Pinned outside material.", "each": "The element of for_each: key and value.",
	"matrix": "The cell of the matrix.", "loop": "The repetition: index and count.", "item": "The element of an expand block.",
	"self": "The task itself: name, id, key and the paths of its outputs.", "vars": "What the task passes to its prompt.",
}

// RootDoc says what a symbol is that an expression may begin with; "" for any other word.
func RootDoc(name string) string { return rootDocs[name] }

func (in *inspector) rootCandidates(bound []binding, d *taskDef, a Ask) []Candidate {
	var list []Candidate
	for i := len(bound) - 1; i >= 0; i-- {
		if bound[i].name != "" {
			list = append(list, Candidate{Name: bound[i].name, Kind: "bound", Type: bound[i].typ.describe()})
		}
	}
	roots := slices.Clone(declaredRoots)
	if d != nil {
		roots = append(roots, "self", "loop")
		for root, has := range map[string]bool{"each": d.forEach != nil, "matrix": d.matrix != nil, "item": d.expand != nil} {
			if has {
				roots = append(roots, root)
			}
		}
	}
	if a.Template {
		roots = append(roots, "vars")
	}
	if a.Test {
		roots = []string{"local", "var"}
		for _, q := range QuestionDocs() {
			list = append(list, Candidate{Name: q.Name, Kind: "function", Type: q.Signature, Doc: q.Doc})
		}
	}
	slices.Sort(roots)
	for _, r := range roots {
		list = append(list, Candidate{Name: r, Kind: "root", Doc: rootDocs[r]})
	}
	for i := range functionEntries {
		f := &functionEntries[i]
		list = append(list, Candidate{Name: f.name, Kind: "function", Type: f.signature(), Doc: f.doc})
	}
	if a.Template {
		list = append(list, Candidate{Name: includeDoc.Name, Kind: "function", Type: includeDoc.Signature, Doc: includeDoc.Doc})
	}
	return list
}

// Declared lists the declarations behind a root symbol such as "task" or "var", in order of declaration.
func (c *Campaign) Declared(root string) []Candidate {
	if c.eval == nil {
		return nil
	}
	in := c.whole().inspector()
	var found []Candidate
	in.guarded(func() { found = in.nameCandidates(root) })
	return found
}

// nameCandidates lists the declarations behind a root symbol.
func (in *inspector) nameCandidates(root string) []Candidate {
	var list []Candidate
	kind := kindOfRoot(root)
	if root == "local" {
		for _, d := range in.l.decl.order {
			list = append(list, Candidate{Name: d.name, Kind: "local", Type: in.l.typer.local(in.checker(nil), d.name).describe()})
		}
		return list
	}
	r := in.l.decl.kinds[kind]
	if r == nil {
		return nil
	}
	for _, n := range r.list {
		one := Candidate{Name: n.name, Kind: kind}
		if a := n.arg("description"); a != nil {
			if v, ok := literalValue(a.syntax); ok && !v.IsNull() && v.Type().FriendlyName() == "string" {
				one.Doc = v.AsString()
			}
		}
		list = append(list, one)
	}
	return list
}

// fieldCandidates lists the attributes of a value.
func fieldCandidates(t *typ) []Candidate {
	var list []Candidate
	for _, a := range t.alternatives() {
		for _, k := range sortedKeys(a.attrs) {
			f := a.attrs[k]
			list = append(list, Candidate{Name: k, Kind: "field", Type: f.describe(), Doc: f.doc})
		}
	}
	return list
}

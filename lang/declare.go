package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// registry holds the declarations of one kind, in order of file name and position.
type registry struct {
	list    []*node
	byName  map[string]*node
	used    map[string]bool
	refused map[string]bool // names that no declaration may have, reported where they stand
	others  []string        // names of what was left out of this load

	compared int // names handed out by names so far
}

// maxCompared bounds how many names are compared with misspelt ones in one load. Nobody reads the
// thousandth suggestion, and without a bound a campaign with many unknown names would take a time that
// grows with their square.
const maxCompared = 2_000_000

// names lists the declared names, for suggestions; none once enough were compared.
func (r *registry) names() []string {
	if r.compared += len(r.list); r.compared > maxCompared {
		return nil
	}
	names := make([]string, 0, len(r.list)+len(r.others))
	for _, n := range r.list {
		names = append(names, n.name)
	}
	return append(names, r.others...)
}

// has reports whether a name is declared under a root symbol.
func (d *declarations) has(root, name string) bool {
	if root == "local" {
		return d.locals[name] != nil
	}
	return d.kinds[kindOfRoot(root)].byName[name] != nil
}

// localNames is names for locals.
func (d *declarations) localNames() []string {
	if d.compared += len(d.order); d.compared > maxCompared {
		return nil
	}
	names := make([]string, 0, len(d.order))
	for _, x := range d.order {
		names = append(names, x.name)
	}
	return names
}

// declarations holds everything declared, by kind of block.
type declarations struct {
	campaign *node
	locals   map[string]*localDef
	order    []*localDef // locals in source order
	compared int         // names handed out by localNames so far
	kinds    map[string]*registry
}

// declaredKinds are the labelled blocks.
var declaredKinds = []string{"variable", "preset", "agent", "profile", "pool", "remote", "reference", "contract", "group", "task"}

func newDeclarations() *declarations {
	d := &declarations{locals: map[string]*localDef{}, kinds: map[string]*registry{}}
	for _, k := range declaredKinds {
		d.kinds[k] = &registry{byName: map[string]*node{}, used: map[string]bool{}, refused: map[string]bool{}}
	}
	return d
}

// declare reads the top-level blocks of every file.
func (l *loader) declare(files []*parsedFile) {
	for _, f := range files {
		for _, d := range f.probs.list {
			l.add(*d)
		}
		top := f.top
		if top == nil && f.body != nil {
			top = &node{schema: rootSchema}
			l.readBody(f.body, top)
		}
		if top == nil {
			continue
		}
		for _, n := range top.blocks {
			l.declareBlock(n)
		}
	}
	l.similarNames()
}

func (l *loader) declareBlock(n *node) {
	l.noteBlock(n)
	switch n.schema.Name {
	case "campaign":
		if old := l.decl.campaign; old != nil {
			l.error("UF1204", n.header, "A campaign has at most one campaign block.").also(old.header, "the first is here")
			return
		}
		l.decl.campaign = n
	case "locals":
		for _, a := range n.args {
			l.declareLocal(a)
		}
	default:
		l.declareNamed(n)
	}
}

func (l *loader) declareNamed(n *node) {
	kind := n.schema.Name
	r := l.decl.kinds[kind]
	if !l.nameOK(kind, n.name, n.label) {
		r.refused[n.name] = true
		return
	}
	if old, ok := r.byName[n.name]; ok {
		l.error("UF1201", n.label, "%s named %q is already declared.", sentenceCase(articled(kind)), n.name).also(old.label, "the first is here")
		return
	}
	r.byName[n.name] = n
	r.list = append(r.list, n)
}

// nameOK reports a name that no declaration may have.
func (l *loader) nameOK(kind, name string, place hcl.Range) bool {
	if Reserved(name) {
		l.error("UF1206", place, "%s.", sentenceCase(ValidName(kind, name).Error())).
			hint("Choose another name, such as %q.", name+"-"+kind)
		return false
	}
	if err := ValidName(kind, name); err != nil {
		l.error("UF1203", place, "%s.", sentenceCase(err.Error()))
		return false
	}
	return true
}

// sentenceCase turns an error text into a sentence without its full stop.
func sentenceCase(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func (l *loader) declareLocal(a *argument) {
	if old, ok := l.decl.locals[a.name]; ok {
		l.error("UF1202", a.nameRange, "local.%s is already defined.", a.name).also(old.nameRange, "the first is here")
		return
	}
	d := &localDef{argument: a}
	l.decl.locals[a.name] = d
	l.decl.order = append(l.decl.order, d)
}

// foldedName is equal for names that would be mistaken for each other.
func foldedName(name string) string { return strings.ReplaceAll(name, "_", "-") }

// similarNames reports tasks and groups whose names differ only in "-" and "_": their directories and
// environment names would be mistaken for each other.
func (l *loader) similarNames() {
	for _, kind := range []string{"task", "group"} {
		first := map[string]*node{}
		for _, n := range l.decl.kinds[kind].list {
			folded := foldedName(n.name)
			if old, ok := first[folded]; ok {
				l.error("UF1207", n.label, "%q and %q differ only in - and _.", n.name, old.name).also(old.label, "the first is here")
				continue
			}
			first[folded] = n
		}
	}
}

package lang

import (
	"iter"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// localDef is one named expression.
type localDef struct {
	*argument
	used  bool      // something refers to it
	late  bool      // it uses tasks, directly or through other locals
	via   []use     // the uses of tasks and groups in it and in the locals behind it
	value cty.Value // when not late
	taint bool      // a sensitive variable is in it
	files []string  // what file() and fileset() in it read, when not late

	state int // of the walk that finds cycles: 0 new, 1 on the path, 2 done
}

// lateUse is a use of a task or group that makes a value late.
type lateUse struct {
	use
	through string // "local.x" when it stands in a local, else ""
}

// label names what the value comes from.
func (u lateUse) label() string {
	s := u.root + "." + u.name
	if u.through != "" {
		s += " (through " + u.through + ")"
	}
	return s
}

// isTaskRoot reports whether a root symbol stands for what tasks wrote.
func isTaskRoot(root string) bool { return root == "task" || root == "group" }

// lateUses lists the uses of tasks and groups in x, those in locals included.
func (ev *evaluator) lateUses(x *expression) iter.Seq[lateUse] {
	return func(yield func(lateUse) bool) {
		for i := range x.uses {
			u := &x.uses[i]
			switch {
			case isTaskRoot(u.root):
				if !yield(lateUse{use: *u}) {
					return
				}
			case u.root == "local":
				d, ok := ev.decl.locals[u.name]
				if !ok {
					continue
				}
				for _, v := range d.via {
					if !yield(lateUse{use: v, through: "local." + u.name}) {
						return
					}
				}
			}
		}
	}
}

// lateSource returns the first use that makes x late; its place is in x itself.
func (l *loader) lateSource(x *expression) (lateUse, bool) {
	for i := range x.uses {
		u := x.uses[i]
		switch {
		case isTaskRoot(u.root):
			return lateUse{use: u}, true
		case u.root == "item":
			return lateUse{use: u}, true
		case u.root == "local":
			if d, ok := l.decl.locals[u.name]; ok && len(d.via) > 0 {
				late := lateUse{use: d.via[0], through: "local." + u.name}
				late.place = u.place
				return late, true
			}
		}
	}
	return lateUse{}, false
}

// loadLocals checks the names in every local, finds cycles, and evaluates what is known at plan time.
func (l *loader) loadLocals() {
	for _, d := range l.decl.order {
		l.checkNames(d.expression, siteLocal)
	}
	for _, d := range l.decl.order {
		l.orderLocal(d, nil)
	}
	for _, d := range l.decl.order {
		l.c.Locals = append(l.c.Locals, &Local{Name: d.name, Range: at(d.nameRange), print: func() string { return printedValue(d) }})
	}
}

func printedValue(d *localDef) string {
	if d.late || d.broken || d.value == cty.NilVal || isSecret(d.value) {
		return ""
	}
	return valueText(plain(d.value))
}

// orderLocal walks the locals behind d first, then evaluates d.
func (l *loader) orderLocal(d *localDef, path []*localDef) {
	switch d.state {
	case 1:
		l.localCycle(d, path)
		return
	case 2:
		return
	}
	d.state = 1
	path = append(path, d)
	for i := range d.uses {
		u := &d.uses[i]
		if isTaskRoot(u.root) {
			d.via = append(d.via, *u)
		}
		d.taint = d.taint || u.root == "var" && l.ev.sensitive[u.name]
		if behind, ok := l.decl.locals[u.name]; ok && u.root == "local" {
			l.orderLocal(behind, path)
			d.via = append(d.via, behind.via...)
			d.broken = d.broken || behind.broken
			d.taint = d.taint || behind.taint
			d.reads = d.reads.or(behind.reads)
			d.files = append(d.files, behind.files...)
		}
	}
	// Locals that use each other twice at every step would have millions.
	d.via = distinctBy(d.via, func(u use) hcl.Range { return u.place })
	d.files = distinctBy(d.files, func(name string) string { return name })
	d.state = 2
	d.late = len(d.via) > 0
	l.evalLocal(d)
}

func (l *loader) evalLocal(d *localDef) {
	d.value = cty.DynamicVal
	if d.broken || d.late {
		return
	}
	if l.checkTypes(d.expression, &checker{}); d.broken {
		return
	}
	rec := &readRecorder{src: l.ev.src}
	s := &scope{ev: l.ev, reader: rec}
	v, ds := s.eval(d.expression)
	if ds.HasErrors() {
		l.discreetly(d.taint, ds, d.place)
		d.broken = true
		return
	}
	d.value = v
	d.files = append(d.files, rec.names()...)
}

// distinctBy keeps the first of the elements that have one key.
func distinctBy[T any, K comparable](list []T, key func(T) K) []T {
	seen := make(map[K]bool, len(list))
	return slices.DeleteFunc(list, func(x T) bool {
		old := seen[key(x)]
		seen[key(x)] = true
		return old
	})
}

// localCycle reports the cycle that ends at d.
func (l *loader) localCycle(d *localDef, path []*localDef) {
	start := 0
	for i, p := range path {
		if p == d {
			start = i
		}
	}
	cycle := path[start:]
	names := make([]string, 0, len(cycle)+1)
	for _, p := range cycle {
		names = append(names, "local."+p.name)
		p.broken = true
	}
	diag := l.error("UF2301", cycle[0].nameRange, "Locals need each other: %s.", strings.Join(append(names, "local."+d.name), " -> "))
	diag.Detail = "These locals are defined by each other, so none of them has a value."
	for i, p := range cycle {
		next := cycle[(i+1)%len(cycle)]
		if r, ok := useOf(p.expression, "local", next.name); ok {
			diag.also(r, "local.%s uses local.%s here", p.name, next.name)
		}
	}
}

func useOf(x *expression, root, name string) (hcl.Range, bool) {
	for i := range x.uses {
		if x.uses[i].root == root && x.uses[i].name == name {
			return x.uses[i].place, true
		}
	}
	return hcl.Range{}, false
}

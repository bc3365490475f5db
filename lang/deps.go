package lang

import (
	"strings"

	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// dep is one static dependency of a task on another, with what decides which instances are meant.
type dep struct {
	target   *taskDef
	kind     RefKind
	tolerate bool
	all      bool   // depends_on: every output is mounted
	inherit  bool   // the tree is where the workspace starts
	how      string // as in Ref.How
	place    hcl.Range
	key      *expression // of the index; nil for every key
	every    bool        // every instance counts, also in a series; else readers see its last
}

// lateExpressions lists the arguments of a task that may use what other tasks wrote.
func (d *taskText) lateExpressions() []*argument {
	var as []*argument
	if a := d.settings["when"]; a != nil {
		as = append(as, a)
	}
	if d.body != nil && d.body.name != "prompt" {
		as = append(as, d.body)
	}
	as = append(append(as, d.vars...), d.env...)
	if a := d.settings["secrets"]; a != nil {
		as = append(as, a)
	}
	return as
}

// linkTask finds the dependencies of a task and of each of its instances.
func (l *loader) linkTask(d *taskDef) {
	for _, a := range d.lateExpressions() {
		d.deps = l.appendDeps(d.deps, d, a.expression)
	}
	if d.expand != nil {
		for _, name := range []string{"items", "key"} {
			if a := d.expand.arg(name); a != nil {
				d.deps = l.appendDeps(d.deps, d, a.expression)
			}
		}
	}
	d.deps = append(d.deps, l.listDeps(d, d.dependsOn, dep{kind: DataRef, all: true, how: "depends on"})...)
	d.deps = append(d.deps, l.listDeps(d, d.tolerate, dep{kind: DataRef, tolerate: true, how: "tolerates"})...)
	d.deps = append(d.deps, l.listDeps(d, d.inherit, dep{kind: DataRef, inherit: true, how: "inherits"})...)
	d.deps = append(d.deps, l.listDeps(d, d.after, dep{kind: OrderRef, tolerate: true, how: "after"})...)
	d.deps = append(d.deps, l.compareDeps(d)...)
	for _, p := range d.contents {
		if p.expression != nil {
			p.deps[d] = l.appendDeps(nil, d, p.expression)
		}
	}
	d.task.Mentions = d.mentions()
	d.task.Refs = d.refs()
	d.task.Never = constantlyFalse(d.settings["when"])
	d.task.WhenEarly = l.early(d.settings["when"])
	l.linkInstances(d)
	l.checkInherit(d)
}

// appendDeps adds the dependencies that come from references in x.
func (l *loader) appendDeps(deps []dep, d *taskDef, x *expression) []dep {
	if x.broken {
		return deps
	}
	deps = slices.Grow(deps, len(x.uses))
	for u := range l.ev.lateUses(x) {
		how := "refers to"
		if u.through != "" {
			how += " through " + u.through
		}
		base := dep{kind: DataRef, how: how, place: u.place}
		if u.root == "group" {
			base.every = true
			deps = append(deps, l.groupDeps(d, u.name, base)...)
			continue
		}
		target, ok := l.ev.tasks[u.name]
		if !ok {
			continue
		}
		if target == d {
			l.error("UF2008", u.place, "task.%s cannot use its own result, as it does %s; use self for its own paths.", u.name, strings.TrimPrefix(how, "refers to "))
			continue
		}
		base.target = target
		base.key, base.every = u.selection(target)
		deps = append(deps, base)
	}
	return deps
}

// selection says which instances of the target a reference means.
func (u *use) selection(target *taskDef) (key *expression, every bool) {
	if u.key != nil {
		if target.forEach != nil {
			return analyze(u.key), true
		}
		return nil, true
	}
	rest := u.steps[2:]
	if len(rest) > 0 && target.forEach != nil {
		if name, ok := stepName(rest[0]); ok && name != "all" {
			key = constantKey(name, rest[0].SourceRange())
			rest = rest[1:]
		}
	}
	if len(rest) == 0 {
		return key, true
	}
	name, ok := stepName(rest[0])
	return key, !ok || name == "all"
}

func constantKey(k string, place hcl.Range) *expression {
	v := cty.StringVal(k)
	return &expression{syntax: &hclsyntax.LiteralValueExpr{Val: v, SrcRange: place}, place: place, constant: v}
}

// groupDeps returns one dependency for each member of a group. The task itself must not be one.
func (l *loader) groupDeps(d *taskDef, group string, base dep) []dep {
	g := l.ev.groups[group]
	if g == nil {
		return nil
	}
	if g == d.group {
		l.error("UF3002", base.place, "task.%s is in group.%s and depends on group.%s.", d.task.Name, group, group).
			also(d.node.arg("group").place, "it joins the group here").
			hint("Name the tasks it needs, or move it to another group.")
		return nil
	}
	var deps []dep
	for _, m := range g.members {
		one := base
		one.target = m
		deps = append(deps, one)
	}
	return deps
}

// listDeps returns the dependencies of a static list.
func (l *loader) listDeps(d *taskDef, list []direct, base dep) []dep {
	var deps []dep
	for _, r := range list {
		one := base
		one.place = r.place
		if r.root == "group" {
			one.every = true
			deps = append(deps, l.groupDeps(d, r.name, one)...)
			continue
		}
		target := l.ev.tasks[r.name]
		if target == nil || target == d {
			continue
		}
		one.target = target
		if r.key != nil {
			one.key = analyze(r.key)
			l.checkNames(one.key, site{kind: inTask, task: d})
		}
		deps = append(deps, one)
	}
	return deps
}

// allDeps lists the dependencies of a task, those of its prompt files included. It is not to be changed.
func (d *taskDef) allDeps() []dep {
	deps := slices.Clip(d.deps)
	for _, p := range d.contents {
		deps = append(deps, p.deps[d]...)
	}
	return deps
}

// constantlyFalse reports whether an argument is written as false, whatever the variables are.
func constantlyFalse(a *argument) bool {
	if a == nil || a.constant == cty.NilVal {
		return false
	}
	v := a.constant
	return v.Type() == cty.Bool && v.IsKnown() && !v.IsNull() && v.False()
}

// early reports whether an argument is there and has its value whatever other tasks write.
func (l *loader) early(a *argument) bool {
	if a == nil || a.broken {
		return false
	}
	for range l.ev.lateUses(a.expression) {
		return false
	}
	return true
}

// refs are the dependencies in order of appearance, one for each task and kind. Mentions are there
// already.
func (d *taskDef) refs() []Ref {
	type key struct {
		task string
		kind RefKind
	}
	seen := positions[key]{keys: make([]key, 0, len(d.task.Mentions))}
	for _, m := range d.task.Mentions {
		seen.add(key{m.Task, m.Kind})
	}
	if len(seen.keys) == len(d.task.Mentions) {
		return d.task.Mentions // both are never changed
	}
	refs := make([]Ref, 0, len(seen.keys))
	for _, m := range d.task.Mentions {
		if n, _ := seen.find(key{m.Task, m.Kind}); n < len(refs) {
			refs[n].Tolerate = refs[n].Tolerate || m.Tolerate
		} else {
			refs = append(refs, m)
		}
	}
	return refs
}

// mentions are the dependencies in order of appearance: the task's own file first, then prompts.
func (d *taskDef) mentions() []Ref {
	deps := d.allDeps()
	refs := make([]Ref, 0, len(deps))
	for _, one := range deps {
		refs = append(refs, Ref{Task: one.target.task.Name, Kind: one.kind, Tolerate: one.tolerate, One: one.key != nil, How: one.how, Range: at(one.place)})
	}
	slices.SortStableFunc(refs, func(a, b Ref) int {
		own := func(r Ref) int {
			if r.Range.File == d.task.Range.File {
				return 0
			}
			return 1
		}
		return cmp.Or(cmp.Compare(own(a), own(b)), cmp.Compare(a.Range.File, b.Range.File), cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte))
	})
	return refs
}

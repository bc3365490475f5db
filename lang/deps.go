package lang

import (
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
func (d *taskDef) lateExpressions() []*argument {
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
		d.deps = append(d.deps, l.expressionDeps(d, a.expression)...)
	}
	if d.expand != nil {
		for _, name := range []string{"items", "key"} {
			if a := d.expand.arg(name); a != nil {
				d.deps = append(d.deps, l.expressionDeps(d, a.expression)...)
			}
		}
	}
	d.deps = append(d.deps, l.listDeps(d, d.dependsOn, dep{kind: DataRef, all: true, how: "depends on"})...)
	d.deps = append(d.deps, l.listDeps(d, d.tolerate, dep{kind: DataRef, tolerate: true, how: "tolerates"})...)
	d.deps = append(d.deps, l.listDeps(d, d.inherit, dep{kind: DataRef, inherit: true, how: "inherits"})...)
	d.deps = append(d.deps, l.listDeps(d, d.after, dep{kind: OrderRef, tolerate: true, how: "after"})...)
	for _, p := range d.contents {
		if p.expression != nil {
			p.deps[d] = l.expressionDeps(d, p.expression)
		}
	}
	d.task.Mentions = d.mentions()
	d.task.Refs = d.refs()
	d.task.Never = constantlyFalse(d.settings["when"])
	l.linkInstances(d)
	l.checkInherit(d)
}

// expressionDeps returns the dependencies that come from references in x.
func (l *loader) expressionDeps(d *taskDef, x *expression) []dep {
	if x.broken {
		return nil
	}
	var deps []dep
	for _, u := range l.ev.lateUses(x) {
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
		if !ok || target == d {
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

// allDeps lists the dependencies of a task, those of its prompt files included.
func (d *taskDef) allDeps() []dep {
	deps := slices.Clone(d.deps)
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

// refs are the dependencies in order of appearance, one for each task and kind. Mentions are there
// already.
func (d *taskDef) refs() []Ref {
	type key struct {
		task string
		kind RefKind
	}
	first := map[key]int{}
	var refs []Ref
	for _, m := range d.task.Mentions {
		k := key{m.Task, m.Kind}
		if i, ok := first[k]; ok {
			refs[i].Tolerate = refs[i].Tolerate || m.Tolerate
			continue
		}
		first[k] = len(refs)
		refs = append(refs, m)
	}
	return refs
}

// mentions are the dependencies in order of appearance: the task's own file first, then prompts.
func (d *taskDef) mentions() []Ref {
	deps := d.allDeps()
	refs := make([]Ref, 0, len(deps))
	for _, one := range deps {
		refs = append(refs, Ref{Task: one.target.task.Name, Kind: one.kind, Tolerate: one.tolerate, How: one.how, Range: at(one.place)})
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

// linkInstances finds which instances each instance of a task needs.
func (l *loader) linkInstances(d *taskDef) {
	instances := d.task.Instances
	if d.expand != nil {
		instances = append(slices.Clone(instances), d.cells...)
	}
	shared := map[*prompt][]Need{}
	exact := slices.ContainsFunc(d.allDeps(), func(one dep) bool { return one.key != nil && one.key.constant == cty.NilVal })
	for _, i := range instances {
		needs, ok := shared[i.late.prompt]
		if !ok || exact {
			needs = l.needs(d, i)
			shared[i.late.prompt] = needs
		}
		i.Needs = l.withPrevious(i, needs)
		l.linkWorkspace(d, i)
	}
}

// withPrevious adds the instance before i in a series.
func (l *loader) withPrevious(i *Instance, needs []Need) []Need {
	if i.late.prev == nil {
		return needs
	}
	return append(slices.Clone(needs), Need{On: i.late.prev.Address, Kind: DataRef, All: true})
}

// linkWorkspace resolves which instances' trees the workspace starts from.
func (l *loader) linkWorkspace(d *taskDef, i *Instance) {
	if i.late.prev != nil {
		i.Workspace.Inherit = []Address{i.late.prev.Address}
		return
	}
	for _, one := range d.deps {
		if one.inherit {
			for _, t := range l.chosen(one, i) {
				i.Workspace.Inherit = appendAddress(i.Workspace.Inherit, t.Address)
			}
		}
	}
	for _, r := range d.prefer {
		one := dep{target: l.ev.tasks[r.name], place: r.place}
		if one.target == nil {
			continue
		}
		if r.key != nil {
			one.key = analyze(r.key)
		}
		for _, t := range l.chosen(one, i) {
			i.Workspace.Prefer = appendAddress(i.Workspace.Prefer, t.Address)
		}
	}
}

func appendAddress(list []Address, a Address) []Address {
	if slices.Contains(list, a) {
		return list
	}
	return append(list, a)
}

// needs returns the instances that i needs, in order of declaration.
func (l *loader) needs(d *taskDef, i *Instance) []Need {
	found := map[*Instance]*Need{}
	order := []*Instance{}
	tolerated := map[*Instance]bool{}
	for _, one := range l.depsOf(d, i) {
		for _, t := range l.chosen(one, i) {
			n, ok := found[t]
			if !ok {
				n = &Need{On: t.Address, Kind: one.kind}
				found[t] = n
				order = append(order, t)
				tolerated[t] = one.tolerate && one.kind == OrderRef
			}
			if one.kind == DataRef && n.Kind == OrderRef {
				n.Kind, tolerated[t] = DataRef, false
			}
			n.All = n.All || one.all
			n.Tolerate = n.Tolerate || one.tolerate && one.kind == DataRef
		}
	}
	slices.SortStableFunc(order, func(a, b *Instance) int {
		return cmp.Or(cmp.Compare(a.late.def.index, b.late.def.index), cmp.Compare(a.late.order, b.late.order))
	})
	needs := make([]Need, 0, len(order))
	for _, t := range order {
		n := found[t]
		n.Tolerate = n.Tolerate || tolerated[t]
		needs = append(needs, *n)
	}
	return needs
}

// depsOf lists the dependencies of one instance: the task's and those of its own prompt file.
func (l *loader) depsOf(d *taskDef, i *Instance) []dep {
	p := i.late.prompt
	if p == nil || len(p.deps[d]) == 0 {
		return d.deps
	}
	return append(slices.Clone(d.deps), p.deps[d]...)
}

// chosen returns the instances of the target that a dependency of i means.
func (l *loader) chosen(one dep, i *Instance) []*Instance {
	target := one.target
	all := target.task.Instances
	if target.expand != nil {
		return all // the pattern stands for every instance it will have
	}
	if one.key != nil {
		if key, ok := l.keyOf(one.key, i); ok {
			all = withKey(all, key)
			if len(all) == 0 {
				l.noSuchKey(one, key)
			}
		}
	}
	if target.task.Series && !one.every {
		return lastOfEach(all)
	}
	return all
}

func withKey(all []*Instance, key string) []*Instance {
	var some []*Instance
	for _, t := range all {
		if t.Address.Key == key {
			some = append(some, t)
		}
	}
	return some
}

// lastOfEach returns the last loop of every series.
func lastOfEach(all []*Instance) []*Instance {
	var last []*Instance
	for n, t := range all {
		if n+1 == len(all) || all[n+1].late.prev != t {
			last = append(last, t)
		}
	}
	return last
}

// keyOf evaluates the index of a reference for one instance; false when it is not known before the run.
func (l *loader) keyOf(key *expression, i *Instance) (string, bool) {
	if key.constant == cty.NilVal {
		for _, u := range key.uses {
			if isTaskRoot(u.root) || u.root == "item" || !slices.Contains(declaredRoots, u.root) && !slices.Contains(instanceRoots, u.root) {
				return "", false
			}
		}
	}
	if _, late := l.lateSource(key); late || key.broken {
		return "", false
	}
	v, ds := i.late.scope(l.ev).eval(key)
	if ds.HasErrors() {
		return "", false
	}
	s, ok := convertTo(plain(v), cty.String)
	if !ok || !s.IsKnown() || s.IsNull() {
		return "", false
	}
	return s.AsString(), true
}

func (l *loader) noSuchKey(one dep, key string) {
	if one.target.broken || one.target.forEach == nil || one.target.forEach.broken || len(one.target.task.Instances) == 0 {
		return
	}
	var keys []string
	for _, t := range one.target.task.Instances {
		if !slices.Contains(keys, t.Address.Key) {
			keys = append(keys, t.Address.Key)
		}
	}
	l.error("UF2103", one.key.place, "task.%s has no key %q.%s", one.target.task.Name, key, didYouMean(key, keys)).
		also(one.target.forEach.place, "its keys come from here")
}

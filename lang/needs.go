package lang

import (
	"cmp"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

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
		i.Compares = l.compares(d, i)
		l.linkWorkspace(d, i)
	}
}

// withPrevious adds the instance before i in a series.
func (l *loader) withPrevious(i *Instance, needs []Need) []Need {
	if i.late.prev == nil {
		return needs
	}
	return append(slices.Clone(needs), Need{On: &i.late.prev.Address, Kind: DataRef, All: true})
}

// linkWorkspace resolves which instances' trees the workspace starts from.
func (l *loader) linkWorkspace(d *taskDef, i *Instance) {
	if i.late.prev != nil {
		i.start([]Address{i.late.prev.Address}, nil)
		return
	}
	var inherit, prefer []Address
	for _, one := range d.deps {
		if one.inherit {
			for _, t := range l.chosen(one, i) {
				inherit = appendAddress(inherit, t.Address)
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
			prefer = appendAddress(prefer, t.Address)
		}
	}
	if len(inherit)+len(prefer) > 0 {
		i.start(inherit, prefer)
	}
}

// start sets the trees that the workspace starts from.
func (i *Instance) start(inherit, prefer []Address) {
	own := *i.Settings
	own.Workspace.Inherit, own.Workspace.Prefer = inherit, prefer
	i.Settings = &own
}

func appendAddress(list []Address, a Address) []Address {
	if slices.Contains(list, a) {
		return list
	}
	return append(list, a)
}

// needs returns the instances that i needs, in order of declaration.
func (l *loader) needs(d *taskDef, i *Instance) []Need {
	deps := l.depsOf(d, i)
	met := positions[*Instance]{keys: make([]*Instance, 0, len(deps))}
	needs := make([]Need, 0, len(deps))
	tolerated := make([]bool, 0, len(deps))
	for _, one := range deps {
		for _, t := range l.chosen(one, i) {
			k, added := met.add(t)
			if added {
				needs = append(needs, Need{On: &t.Address, Kind: one.kind})
				tolerated = append(tolerated, one.tolerate && one.kind == OrderRef)
			}
			n := &needs[k]
			if one.kind.strength() > n.Kind.strength() {
				n.Kind, tolerated[k] = one.kind, false
			}
			n.All = n.All || one.all
			n.Tolerate = n.Tolerate || one.tolerate && one.kind == DataRef
		}
	}
	order := make([]int, len(needs))
	for k := range needs {
		order[k] = k
		needs[k].Tolerate = needs[k].Tolerate || tolerated[k]
	}
	slices.SortStableFunc(order, func(x, y int) int {
		a, b := met.keys[x].late, met.keys[y].late
		return cmp.Or(cmp.Compare(a.def.index, b.def.index), cmp.Compare(a.order, b.order))
	})
	sorted := make([]Need, len(needs))
	for at, k := range order {
		sorted[at] = needs[k]
	}
	return sorted
}

// strength orders the kinds of reference: of two to one instance the stronger one says what it means.
func (k RefKind) strength() int {
	switch k {
	case DataRef:
		return 3
	case VerdictRef:
		return 2
	}
	return 1
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
			all = target.withKey(key)
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

// withKey returns the instances of a key; all of them where the task has no keys.
func (d *taskDef) withKey(key string) []*Instance {
	if d.forEach == nil {
		return d.task.Instances
	}
	return d.byKey[key]
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

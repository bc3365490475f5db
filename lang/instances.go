package lang

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
)

const (
	maxInstances = 20_000 // of a campaign; what the screens, the journal and a person can bear
	maxLoops     = 1000   // of one cell
)

// lateParts are the values that tell an instance from its siblings. Render evaluates with them.
type lateParts struct {
	def      *taskDef
	inst     *Instance
	keyed    bool
	symbolic bool      // it stands for instances whose keys or values are not known
	count    int       // loops of the cell
	order    int       // among the instances of the task
	prev     *Instance // the instance before it in a series; nil for none
	prompt   *prompt   // nil without a prompt file
	*cellValues
}

// cellValues are what tells the cells of a task apart. They are never changed.
type cellValues struct {
	value  cty.Value // each.value; NilVal without for_each
	matrix cty.Value // NilVal without a matrix
	item   cty.Value // NilVal without expand
}

// oneCell are those of a task that has but one cell.
var oneCell = &cellValues{}

// eachKey is one element of for_each.
type eachKey struct {
	key   string
	value cty.Value
}

// noKeys is the one empty key of a task without for_each.
var noKeys = []eachKey{{}}

// makeInstances expands for_each, matrix and loops, and decodes the settings of each instance.
func (l *loader) makeInstances(d *taskDef) {
	if d.broken {
		return
	}
	if d.forEach != nil && d.expand != nil {
		l.error("UF4101", d.forEach.nameRange, "A task takes its instances either from for_each or from expand, not from both.").
			also(d.expand.header, "expand is here")
	}
	keys := noKeys
	if d.forEach != nil {
		keys = l.eachKeys(d)
	}
	d.each = keys
	l.checkPlanTime(d)
	cells := l.plannedCells(d, keys)
	if !l.countInstances(d, keys, cells) {
		return
	}
	all := make([]*Instance, 0, len(cells))
	for i := range cells {
		all = l.addInstances(all, d, &cells[i])
	}
	l.keep(d, all)
	if len(all) == 0 && (d.forEach != nil || d.matrix != nil) {
		l.makeSymbolic(d)
	}
}

// makeSymbolic makes an instance that stands for those of a for_each or matrix whose values are not known, or of
// which there are none: its arguments and prompt are checked all the same.
func (l *loader) makeSymbolic(d *taskDef) {
	values := &cellValues{}
	if d.forEach != nil {
		values.value = cty.DynamicVal
	}
	if d.matrix != nil {
		values.matrix = cty.DynamicVal
	}
	cell := lateParts{def: d, keyed: d.forEach != nil, symbolic: true, cellValues: values, count: 1}
	d.ownFan().symbolic = l.instance(d, cell, Address{Task: d.task.Name}, 0, nil)
}

// plannedCells lists the cells of every key with how often each is looped.
func (l *loader) plannedCells(d *taskDef, keys []eachKey) []lateParts {
	cells := make([]lateParts, 0, len(keys))
	for _, k := range keys {
		base := lateParts{def: d, keyed: d.forEach != nil, cellValues: oneCell}
		if k.value != cty.NilVal {
			base.cellValues = &cellValues{value: k.value}
		}
		for _, c := range l.matrixCells(d, base, k.key) {
			cells = append(cells, base)
			cell := &cells[len(cells)-1]
			if c.value != cty.NilVal {
				cell.cellValues = &cellValues{value: k.value, matrix: c.value}
			}
			cell.inst = &Instance{Task: d.task, Address: Address{Task: d.task.Name, Key: k.key, Matrix: c.label}}
			cell.count = l.loopCount(d, cell)
			if len(cells) > maxInstances {
				return cells
			}
		}
	}
	return cells
}

func ofMatrix(d *taskDef) string {
	if d.matrix == nil {
		return ""
	}
	return ", each with the combinations of the matrix,"
}

// countInstances reports a campaign with too many instances before they are made.
func (l *loader) countInstances(d *taskDef, keys []eachKey, cells []lateParts) bool {
	total, most := 0, 0
	for i := range cells {
		total += cells[i].count
		most = max(most, cells[i].count)
	}
	switch {
	case len(cells) > maxInstances: // they were not counted to the end
		l.error("UF4303", d.node.header, "%d keys of for_each%s are over %d instances.", len(keys), ofMatrix(d), maxInstances)
		return false
	case total > maxInstances:
		l.error("UF4303", d.node.header, "for_each %d × matrix %d × loops %d is over %d instances.",
			len(keys), len(cells)/max(1, len(keys)), most, maxInstances)
		return false
	}
	if l.instances+total > maxInstances {
		l.error("UF4303", d.node.header, "With the %s of task.%s the campaign has over %d.", plural(total, "instance"), d.task.Name, maxInstances)
		return false
	}
	l.instances += total
	return true
}

// keep registers the instances of a task; those of expand are kept as patterns for run time.
func (l *loader) keep(d *taskDef, made []*Instance) {
	all := made
	if d.expand != nil && len(all) > 0 {
		l.readExpand(d)
		t := *all[0]
		t.Address = Address{Task: d.task.Name}
		late := *all[0].late
		late.inst = &t
		t.late = &late
		own := d.ownFan()
		own.template, own.cells = &t, all
		all = []*Instance{&t}
	}
	if d.task.Series {
		exportLast(made)
	}
	d.task.Instances = all
	if d.forEach != nil {
		d.ownFan().byKey = make(map[string][]*Instance, len(d.each))
	}
	for n, i := range all {
		i.late.order = n
		if d.forEach != nil {
			d.byKey[i.Address.Key] = append(d.byKey[i.Address.Key], i)
		}
		if len(all) > fewInstances {
			l.ev.byAddress[i.Address] = i
		}
	}
}

// exportLast leaves a path to which several loops of a series are exported to the last of them, which is what readers see.
func exportLast(all []*Instance) {
	later := map[string]bool{}
	for n, i := range slices.Backward(all) {
		if n+1 == len(all) || all[n+1].late.prev != i {
			clear(later) // the last of its series
		}
		i.Exports = slices.DeleteFunc(slices.Clone(i.Exports), func(e Export) bool { return later[e.To] })
		for _, e := range i.Exports {
			later[e.To] = true
		}
	}
}

// addInstances makes the instances of one cell, one for each loop, and adds them to all.
func (l *loader) addInstances(all []*Instance, d *taskDef, cell *lateParts) []*Instance {
	var prev *Instance
	for i := range cell.count {
		inst := l.instance(d, *cell, cell.inst.Address, i, prev)
		all = append(all, inst)
		if d.task.Series {
			prev = inst
		}
	}
	return all
}

// loopCount evaluates loops and loop_mode for one cell.
func (l *loader) loopCount(d *taskDef, cell *lateParts) int {
	s := cell.scope(l.ev)
	l.oneLoopMode(d)
	mode := l.wantEnum(s, d.settings["loop_mode"], "UF2110", "parallel", "series")
	d.task.Series = mode == "series"
	a := d.settings["loops"]
	if a == nil {
		return 1
	}
	if src, late := l.lateSource(a.expression); late {
		l.error("UF4201", src.place, "loops must be known before the run starts, but it depends on %s.", src.label()).
			hint("For a number of instances known only at run time use an expand block.")
		return 1
	}
	v, ok := l.planTime(s, a)
	if !ok || !v.IsKnown() {
		d.uncounted = true
		return 1
	}
	if v.IsNull() {
		return 1
	}
	if n, good := convertTo(plain(v), cty.Number); !good || !n.IsKnown() {
		d.uncounted = true
		l.error("UF4202", a.place, "%s needs a number, not %s.", a.name, describeType(v))
		return 1
	}
	return int(l.wantInt(s, a, 1, 1, maxLoops, "UF4203"))
}

// oneLoopMode reports a loop_mode that instances might have each their own of: whether loops follow each other is a fact of the
// whole task, which its readers see by.
func (l *loader) oneLoopMode(d *taskDef) {
	a := d.settings["loop_mode"]
	if a == nil {
		return
	}
	for i := range a.uses {
		if u := &a.uses[i]; slices.Contains(instanceRoots, u.root) {
			l.error("UF2110", u.place, "loop_mode is one for all instances of a task, so it may not use %s.", u.root)
			a.broken = true
		}
	}
}

// instance makes one instance and decodes its settings.
func (l *loader) instance(d *taskDef, cell lateParts, a Address, loop int, prev *Instance) *Instance {
	a.Loop, a.Looped = loop, cell.count > 1
	inst, late := new(Instance), new(lateParts)
	if l.packs != nil {
		inst, late = l.packs.instances.one(), l.packs.late.one()
	}
	*inst, *late = Instance{Task: d.task, Address: a, late: late}, cell
	late.inst, late.prev = inst, prev
	l.decodeInstance(d, inst)
	return inst
}

// scope returns a plan-time scope with the symbols of the instance.
func (p *lateParts) scope(ev *evaluator) *scope { return &scope{ev: ev, inst: p} }

// symbol returns the value of each, matrix, loop, item or self; NilVal where the task has none.
func (p *lateParts) symbol(name string) cty.Value {
	switch name {
	case "each":
		if !p.keyed {
			return cty.NilVal
		}
		key := cty.StringVal(p.inst.Address.Key)
		if p.symbolic {
			key = cty.UnknownVal(cty.String)
		}
		return cty.ObjectVal(map[string]cty.Value{"key": key, "value": p.value})
	case "matrix":
		return p.matrix
	case "loop":
		return cty.ObjectVal(map[string]cty.Value{
			"index": cty.NumberIntVal(int64(p.inst.Address.Loop)), "count": cty.NumberIntVal(int64(p.count)),
		})
	case "item":
		if p.item == cty.NilVal && p.def.expand != nil {
			return cty.DynamicVal
		}
		return p.item
	case "self":
		return p.self()
	}
	return cty.NilVal
}

// self is what an instance may know of itself.
func (p *lateParts) self() cty.Value {
	a := p.inst.Address
	outputs := map[string]cty.Value{}
	for _, o := range p.inst.Outputs {
		outputs[o.Name] = cty.ObjectVal(map[string]cty.Value{"path": cty.StringVal(o.Path), "contract": contractName(o.Contract)})
	}
	return cty.ObjectVal(map[string]cty.Value{
		"name": cty.StringVal(a.Task), "id": cty.StringVal(a.String()), "key": keyValue(a), "outputs": cty.ObjectVal(outputs),
	})
}

func keyValue(a Address) cty.Value {
	if a.Key == "" {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(a.Key)
}

func contractName(c *Contract) cty.Value {
	if c == nil {
		return cty.NullVal(cty.String)
	}
	return cty.StringVal(c.Name)
}

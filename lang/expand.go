package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// readExpand decodes what is known of the expand block at plan time.
func (l *loader) readExpand(d *taskDef) {
	s := l.campaignScope()
	e := &Expand{
		Range:    at(d.expand.header),
		OnEmpty:  l.wantEnum(s, d.expand.arg("on_empty"), "UF2110", "proceed", "fail"),
		MaxItems: int(l.wantInt(s, d.expand.arg("max_items"), 0, 1, maxInstances, "UF2110")),
	}
	if e.MaxItems > l.c.MaxDynamicTasks {
		n := l.error("UF4105", d.expand.arg("max_items").place, "max_items is %d, over the campaign's max_dynamic_tasks of %d.", e.MaxItems, l.c.MaxDynamicTasks)
		if a := l.decl.campaign.arg("max_dynamic_tasks"); a != nil {
			n.also(a.place, "the limit is set here")
		}
	}
	d.task.Expand = e
}

// Expand derives the instances of a task with an expand block from what its source wrote. The same
// items give the same instances in the same order. For other tasks it returns the instances known at
// plan time.
func (c *Campaign) Expand(t *Task, results Results) ([]*Instance, Diagnostics) {
	d := c.eval.tasks[t.Name]
	if d == nil || d.task != t {
		bug("task %s is not of this campaign", t.Name)
	}
	if d.expand == nil {
		return t.Instances, nil
	}
	e := expander{d: d, r: newRenderer(c.eval, d.template, results)}
	instances := e.run()
	return instances, e.r.all()
}

// expanded is Expand for the values of a reader: its problems are reported where the task itself is
// expanded, here they only leave out what is wrong.
func (ev *evaluator) expanded(d *taskDef, results Results) ([]*Instance, hcl.Diagnostics) {
	e := expander{d: d, r: newRenderer(ev, d.template, results)}
	if src, ok := e.source(); ok && !src {
		return nil, nil
	}
	return e.run(), nil
}

// expander makes instances of the items of one task.
type expander struct {
	d *taskDef
	r *renderer
}

// source reports whether what the items come from has succeeded; ok is false when they come from no task.
func (e *expander) source() (succeeded, ok bool) {
	for _, n := range e.r.inst.Needs {
		if !e.itemsUse(n.On.Task) {
			continue
		}
		ok = true
		res, found := e.r.values.results.Result(*n.On)
		if !found || !res.OK {
			return false, true
		}
	}
	return true, ok
}

func (e *expander) itemsUse(task string) bool {
	a := e.d.expand.arg("items")
	if a == nil {
		return false
	}
	for u := range e.r.ev.lateUses(a.expression) {
		if u.root == "task" && u.name == task {
			return true
		}
	}
	return false
}

func (e *expander) run() []*Instance {
	defer e.r.recovered(e.d.expand.header)
	items, ok := e.items()
	if !ok {
		return nil
	}
	var all []*Instance
	seen := map[string]string{}
	for _, item := range items {
		key, ok := e.key(item)
		if !ok {
			continue
		}
		low := strings.ToLower(key)
		if other, dup := seen[low]; dup {
			e.r.error("UFR106", e.d.expand.arg("key").place, "The key %q occurs twice among the items (%q).", key, other)
			continue
		}
		seen[low] = key
		all = append(all, e.instances(key, item)...)
	}
	return all
}

// items evaluates the list and checks its length.
func (e *expander) items() ([]cty.Value, bool) {
	a := e.d.expand.arg("items")
	if a == nil {
		return nil, false
	}
	v, ok := e.r.value(a.expression)
	if !ok {
		return nil, false
	}
	v, marks := v.Unmark()
	if v.IsNull() || !v.IsKnown() || !isSequence(v.Type()) {
		e.r.error("UFR107", a.place, "items needs a list of objects, but this is %s.", describeType(v))
		return nil, false
	}
	limit := e.d.task.Expand.MaxItems
	if limit == 0 {
		limit = e.r.ev.c.MaxDynamicTasks
	}
	if n := v.LengthInt(); n > limit {
		e.r.error("UFR108", a.place, "The list has %s; the limit is %d.", plural(n, "item"), limit).
			hint("Nothing is truncated. Raise max_items, or plan fewer.")
		return nil, false
	}
	if v.LengthInt() == 0 && e.d.task.Expand.OnEmpty == "fail" {
		e.r.error("UFR109", a.place, "The list is empty, and on_empty is \"fail\".")
	}
	var items []cty.Value
	for it := v.ElementIterator(); it.Next(); {
		_, item := it.Element()
		items = append(items, item.WithMarks(marks))
	}
	return items, true
}

// key evaluates the key of one item.
func (e *expander) key(item cty.Value) (string, bool) {
	a := e.d.expand.arg("key")
	if a == nil {
		return "", false
	}
	late := *e.d.template.late
	late.cellValues = late.with(item)
	e.r.scope.inst = &late
	v, ok := e.r.value(a.expression)
	if !ok {
		return "", false
	}
	s, ok := convertTo(plain(v), cty.String)
	if !ok || !s.IsKnown() || s.IsNull() {
		e.r.error("UFR110", a.place, "key must be text, but for one item it is %s.", describeType(plain(v)))
		return "", false
	}
	if err := ValidKey(s.AsString()); err != nil {
		e.r.error("UFR110", a.place, "%s.", sentenceCase(err.Error()))
		return "", false
	}
	return s.AsString(), true
}

// with returns the values of a cell for one item.
func (v *cellValues) with(item cty.Value) *cellValues {
	own := *v
	own.item = item
	return &own
}

// instances copies the patterns of the task for one item.
func (e *expander) instances(key string, item cty.Value) []*Instance {
	made := map[*Instance]*Instance{}
	all := make([]*Instance, 0, len(e.d.cells))
	for _, cell := range e.d.cells {
		i := *cell
		i.Address.Key = key
		late := *cell.late
		late.inst, late.cellValues = &i, late.with(item)
		if late.prev != nil {
			late.prev = made[cell.late.prev]
			i.start([]Address{late.prev.Address}, i.Workspace.Prefer)
			i.Needs = append(append([]Need(nil), i.Needs[:len(i.Needs)-1]...), Need{On: &late.prev.Address, Kind: DataRef, All: true})
		}
		i.late = &late
		made[cell] = &i
		all = append(all, &i)
	}
	return all
}

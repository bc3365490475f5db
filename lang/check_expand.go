package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// checkExpand checks the expand block and returns the type of item.
func (l *loader) checkExpand(d *taskDef, roots *rootTypes) *typ {
	items, key := d.expand.arg("items"), d.expand.arg("key")
	item := anyType
	if items != nil {
		l.nestedExpand(d, items)
		item = l.checkItems(d, items, l.checkTypes(items.expression, &checker{roots: roots}))
	}
	if key == nil {
		return item
	}
	roots.set("item", item)
	t := l.checkTypes(key.expression, &checker{roots: roots})
	switch {
	case key.broken:
	case !key.usesRoot("item"):
		l.error("UF4103", key.place, "key must use item.* and give text, but this is the same for every element.")
	case !t.textual() || t.shape == boolShape:
		l.error("UF4103", key.place, "key must use item.* and give text, but this is %s.", t)
	default:
		l.checkKeyOfInstance(items, key)
	}
	return item
}

// checkKeyOfInstance reports item.id of instances that have more than their task in it: no key may hold that, which would show when
// they have run.
func (l *loader) checkKeyOfInstance(items, key *argument) {
	if items == nil || nameText(key.syntax) != "item.id" {
		return
	}
	for _, d := range l.tasksOfAll(nameText(items.syntax)) {
		for _, i := range d.task.Instances {
			if err := ValidKey(i.Address.String()); err != nil {
				l.error("UF4103", key.place, "%s.", sentenceCase(err.Error())).
					hint("The id of an instance is its whole name. Use item.key, or another part that tells them apart.")
				return
			}
		}
	}
}

// tasksOfAll are the tasks whose instances task.NAME.all or group.NAME.all lists; none for any other text.
func (l *loader) tasksOfAll(text string) []*taskDef {
	root, rest, _ := strings.Cut(text, ".")
	name, all := strings.CutSuffix(rest, ".all")
	switch {
	case !all:
	case root == "task" && l.ev.tasks[name] != nil:
		return []*taskDef{l.ev.tasks[name]}
	case root == "group" && l.ev.groups[name] != nil:
		return l.ev.groups[name].members
	}
	return nil
}

// nameText is a name with its parts as it is written, such as task.a.all; "" for any other expression.
func nameText(e hclsyntax.Expression) string {
	t, ok := e.(*hclsyntax.ScopeTraversalExpr)
	if !ok {
		return ""
	}
	return traversalText(t.Traversal)
}

func (l *loader) checkItems(d *taskDef, a *argument, t *typ) *typ {
	if a.broken {
		return anyType
	}
	if t.shape == anyShape || t.shape == listShape && !t.limit && t.count == 0 {
		l.boundedItems(d)
	}
	if t.shape == anyShape {
		return anyType
	}
	_, elem, ok := t.elements()
	good := ok && (t.shape == listShape || t.shape == tupleShape || t.shape == unionShape)
	if good {
		for _, x := range elem.alternatives() {
			good = good && (x.shape == objectShape || x.shape == mapShape || x.shape == anyShape)
		}
	}
	if !good {
		l.error("UF4102", a.place, "This is %s; expand needs a list of objects.", t)
		return anyType
	}
	return elem
}

// boundedItems warns when neither the block nor the schema bounds the fan-out.
func (l *loader) boundedItems(d *taskDef) {
	if d.expand.arg("max_items") == nil {
		l.warn("UF4106", d.expand.header, "Nothing bounds this list: a planner could make %s.", plural(l.c.MaxDynamicTasks, "task")).
			hint("Set max_items, or maxItems in the schema of the list.")
	}
}

// nestedExpand reports expand over what an expanded task wrote: one level only.
func (l *loader) nestedExpand(d *taskDef, items *argument) {
	for u := range l.ev.lateUses(items.expression) {
		if t := l.ev.tasks[u.name]; u.root == "task" && t != nil && t != d && t.expand != nil {
			l.error("UF4104", u.place, "One level only: task.%s is itself expanded.", u.name).
				also(t.expand.header, "its expand block is here")
			items.broken = true
		}
	}
}

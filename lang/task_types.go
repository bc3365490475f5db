package lang

import (
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// taskTypes finds the types of declared symbols, each once.
type taskTypes struct {
	ev     *evaluator
	tasks  map[taskKey]*typ
	locals map[string]*typ
	values map[string]*typ       // of var, profile and the like
	asked  map[guardKey][]string // by local that uses tasks: what is there when it is true or false, see [checker.guards]
	varied map[string]bool       // by local: whether it differs between builds, see [checker.variable]
	few    bool                  // not to be kept for all tasks
	reader *taskDef              // the task whose expressions are checked: what it tolerates may be absent
}

// taskKey tells apart how a task looks to readers that tolerate its failure and to others.
type taskKey struct {
	def       *taskDef
	tolerated bool
}

func newTaskTypes(ev *evaluator) *taskTypes {
	return &taskTypes{
		ev: ev, tasks: map[taskKey]*typ{}, locals: map[string]*typ{}, values: map[string]*typ{},
		asked: map[guardKey][]string{}, varied: map[string]bool{},
	}
}

// declared returns the type of root.name.
func (x *taskTypes) declared(c *checker, root, name string) *typ {
	switch root {
	case "var":
		if x.ev.sensitive[name] {
			return typeOfCty(x.ev.variables.Type().AttributeType(name)) // nothing of its value is ever printed
		}
		return x.member(root, x.ev.variables, name)
	case "local":
		return x.local(c, name)
	case "task":
		if d := x.ev.tasks[name]; d != nil {
			return x.task(d, x.tolerates(d))
		}
	case "group":
		if g := x.ev.groups[name]; g != nil {
			return x.group(g)
		}
	default:
		if v, ok := x.ev.named[root]; ok {
			return x.member(root, v, name)
		}
	}
	return anyType
}

// member returns the type of an attribute of a value that does not change any more.
func (x *taskTypes) member(root string, of cty.Value, name string) *typ {
	key := root + "." + name
	t, ok := x.values[key]
	if !ok && of.Type().HasAttribute(name) {
		t, ok = typeOfValue(of.GetAttr(name)), true
		x.values[key] = t
	}
	if !ok {
		return anyType
	}
	return t
}

// local returns the type of a local; late ones are checked for it.
func (x *taskTypes) local(c *checker, name string) *typ {
	d := x.ev.decl.locals[name]
	if d == nil || d.broken {
		return anyType
	}
	if !d.late {
		if t, ok := x.locals[name]; ok {
			return t
		}
		x.locals[name] = typeOfValue(d.value)
		if d.taint {
			x.locals[name] = typeOfCty(d.value.Type())
		}
		return x.locals[name]
	}
	if x.reader != nil && len(x.reader.tolerate) > 0 {
		name += " for " + x.reader.task.Name
	}
	t, ok := x.locals[name]
	if !ok {
		x.locals[name] = anyType // ends a cycle, which is reported elsewhere
		inner := &checker{ev: c.ev, probs: &problems{}, typer: x}
		t = inner.check(d.syntax)
		x.locals[name] = t
	}
	return t
}

// tolerates reports whether the reader may run without the task.
func (x *taskTypes) tolerates(d *taskDef) bool {
	_, ok := x.toleratedAt(d.task.Name)
	return ok
}

// toleratedAt is the place where the reader says that it may run without a task.
func (x *taskTypes) toleratedAt(task string) (hcl.Range, bool) {
	d := x.ev.tasks[task]
	if x.reader == nil || d == nil {
		return hcl.Range{}, false
	}
	for _, r := range x.reader.tolerate {
		if r.root == "task" && r.name == task || r.root == "group" && r.name == d.task.Group {
			return r.place, true
		}
	}
	return hcl.Range{}, false
}

// fewTypes bounds the types of tasks that are kept while a large campaign is loaded: each takes as much as its tree.
const fewTypes = 1000

// task returns the type of task.NAME as the language page shapes it.
func (x *taskTypes) task(d *taskDef, tolerated bool) *typ {
	key := taskKey{d, tolerated}
	t, ok := x.tasks[key]
	if !ok {
		t = x.shaped(d, x.instance(d, tolerated))
		if x.few && len(x.tasks) >= fewTypes {
			clear(x.tasks)
		}
		x.tasks[key] = t
	}
	return t
}

// shaped gives the type of one instance the form of the whole task.
func (x *taskTypes) shaped(d *taskDef, one *typ) *typ {
	if d.broken || len(d.task.Instances) == 0 && d.forEach == nil && d.symbolic == nil {
		return anyType
	}
	all := listOf(one)
	if d.expand == nil && d.symbolic == nil && !d.uncounted {
		all.count = len(d.task.Instances)
	}
	if d.forEach == nil {
		return oneOrAllType(d, d.task.Instances, one, all)
	}
	attrs := map[string]*typ{"all": all}
	byKey := map[string][]*Instance{}
	for _, i := range d.task.Instances {
		byKey[i.Address.Key] = append(byKey[i.Address.Key], i)
	}
	for k, is := range byKey {
		attrs[k] = oneOrAllType(d, is, one, all)
	}
	t := objectOf(attrs)
	t.open = len(d.task.Instances) == 0 // the keys are not known, or there are none: any may be asked for
	if t.open && d.symbolic != nil && d.settings["loops"] == nil {
		t.rest = oneOrAllType(d, []*Instance{d.symbolic}, one, all)
	}
	t.hints = instanceHints(d.task.Name, "has for_each: write task."+d.task.Name+`["KEY"] for one instance or task.`+d.task.Name+".all for all of them")
	return t
}

func oneOrAllType(d *taskDef, is []*Instance, one, all *typ) *typ {
	if d.single(is) || d.task.Series && d.matrix == nil && d.expand == nil {
		attrs := map[string]*typ{"all": all}
		for k, v := range one.attrs {
			attrs[k] = v
		}
		t := objectOf(attrs)
		t.hints = one.hints
		return t
	}
	t := objectOf(map[string]*typ{"all": all})
	t.hints = instanceHints(d.task.Name, "has several instances: write task."+d.task.Name+".all")
	return t
}

// instanceHints explains why what one instance has is not there.
func instanceHints(name, text string) map[string]advice {
	h := map[string]advice{}
	for _, k := range []string{"outputs", "ok", "status", "dir", "id", "key", "loop", "task"} {
		h[k] = advice{"UF2101", fmt.Sprintf("task.%s %s.", name, text)}
	}
	return h
}

// keyType is the type of key: null where instances have none.
func keyType(d *taskDef) *typ {
	if d.forEach == nil && d.expand == nil {
		return nullType
	}
	return stringType
}

// instance returns the type of one instance of a task.
func (x *taskTypes) instance(d *taskDef, tolerated bool) *typ {
	outputs := map[string]*typ{}
	for _, o := range d.shapes() {
		outputs[o.name] = x.output(d, o, tolerated)
	}
	return objectOf(map[string]*typ{
		"task": stringType, "id": stringType, "key": keyType(d), "loop": numberType,
		"status": stringType, "ok": boolType, "dir": stringType, "outputs": objectOf(outputs),
	})
}

// output returns the type of one output: what can be read of it depends on its contract.
func (x *taskTypes) output(d *taskDef, o outputShape, tolerated bool) *typ {
	attrs := map[string]*typ{"path": stringType, "exists": boolType, "digest": stringType, "contract": stringType}
	t := objectOf(attrs)
	t.hints, t.symbol = map[string]advice{}, &Symbol{Kind: "output", Name: o.name, Of: d.task.Name}
	contract := x.contractOf(o)
	if !o.named {
		attrs["contract"] = nullType
	}
	maybe := ""
	if o.optional {
		maybe = fmt.Sprintf("Output %q of task.%s is optional, and this is null where it was not written", o.name, d.task.Name)
	}
	if tolerated {
		t.doubt = d.task.Name
		maybe = fmt.Sprintf("task.%s may have failed or been skipped, and this is null then", d.task.Name)
	}
	if o.tree {
		t.hints["json"] = advice{"UF6106", fmt.Sprintf("outputs.%s has no attribute \"json\": it is a tree.", o.name)}
		t.hints["text"] = advice{"UF6106", fmt.Sprintf("outputs.%s has no attribute \"text\": it is a tree.", o.name)}
		return t
	}
	of := "task." + d.task.Name
	attrs["text"] = maybeNull(stringType, maybe, of)
	switch {
	case isJSONKind(contract):
		attrs["json"] = maybeNull(typeOfJSON(x.ev.jsonTypes[contract.Name], contract), maybe, of)
	case contract == nil && o.named:
		attrs["json"] = anyType // that there is no such contract was said there
	case contract == nil:
		t.hints["json"] = advice{"UF6106", fmt.Sprintf("outputs.%s has no attribute \"json\": it has no contract of kind json.", o.name)}
	case !slices.Contains(contractKinds, contract.Kind):
		attrs["json"] = anyType // what the kind is to be was asked already
	default:
		t.hints["json"] = advice{"UF6106", fmt.Sprintf("outputs.%s has no attribute \"json\" (contract.%s is %s).", o.name, contract.Name, contract.Kind)}
	}
	return t
}

// maybeNull is the type with the reason why it may be null at run time, and the task that decides.
func maybeNull(t *typ, why, of string) *typ {
	if why == "" {
		return t
	}
	n := *t
	n.maybe, n.of, n.key = why, of, ""
	return &n
}

func (x *taskTypes) contractOf(o outputShape) *Contract {
	c, _ := x.ev.c.Contract(o.contract)
	return c
}

// group returns the type of group.NAME: only .all, of members that may differ.
func (x *taskTypes) group(g *groupDef) *typ {
	var members []*typ
	for _, d := range g.members {
		if d.broken {
			return anyType
		}
		if d != x.reader {
			members = append(members, x.instance(d, x.tolerates(d)))
		}
	}
	t := objectOf(map[string]*typ{"all": listOf(unionOf(members...))})
	t.hints = map[string]advice{"": {"", "A group has .all, the list of every instance of its tasks."}}
	return t
}

// unionOfValues is the type of a value that differs between instances.
func unionOfValues(vals []cty.Value) *typ {
	ts := make([]*typ, 0, len(vals))
	for _, v := range vals {
		t := *typeOfValue(v)
		if len(vals) > 1 {
			t.known, t.key = cty.NilVal, ""
		}
		ts = append(ts, &t)
	}
	return unionOf(ts...).loosely()
}

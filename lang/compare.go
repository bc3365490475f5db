package lang

import "slices"

// howCompared is the way of a reference that a contract makes.
const howCompared = "is compared with"

// contractsOf lists the contracts of a task's outputs, each once.
func (l *loader) contractsOf(d *taskDef) []*Contract {
	if len(l.c.Contracts) == 0 {
		return nil
	}
	var cs []*Contract
	for _, o := range d.shapes() {
		if c := l.typer.contractOf(o); c != nil && !slices.Contains(cs, c) {
			cs = append(cs, c)
		}
	}
	return cs
}

// compareDeps checks what the contracts of a task's outputs compare with, and returns the dependencies
// that come from it: the other task has to be finished before this one can be judged.
func (l *loader) compareDeps(d *taskDef) []dep {
	var deps []dep
	for _, c := range l.contractsOf(d) {
		for i := range c.operands {
			o := &c.operands[i]
			switch {
			case o.Own != "":
				l.checkOperandOutput(o, d, o.Own)
			case o.Input != "":
				l.checkOperandInput(o, d, c)
			case o.Task != "":
				if one, ok := l.compareDep(o, d); ok {
					deps = append(deps, one)
				}
			}
		}
	}
	return deps
}

// compareDep checks an operand in another task.
func (l *loader) compareDep(o *operandAt, d *taskDef) (dep, bool) {
	target := l.ev.tasks[o.Task]
	switch {
	case target == nil:
		names := make([]string, 0, len(l.ev.order))
		for _, t := range l.ev.order {
			names = append(names, t.task.Name)
		}
		l.error("UF6110", o.place, "There is no task %q to compare with.%s", o.Task, didYouMean(o.Task, names))
		return dep{}, false
	case target == d:
		l.error("UF6110", o.place, "task.%s cannot be compared with itself.", o.Task).
			because("A contract of its outputs names it.").
			hint("For another output of the same task write %q.", o.Output+":"+o.Path.String())
		return dep{}, false
	case !l.checkOperandOutput(o, target, o.Output):
		return dep{}, false
	}
	one := dep{target: target, kind: VerdictRef, how: howCompared, place: o.place}
	if o.Key != "" {
		if target.forEach == nil {
			l.error("UF6110", o.place, "task.%s has no keys: it has no for_each.", o.Task)
			return dep{}, false
		}
		one.key = constantKey(o.Key, o.place)
	}
	return one, true
}

// checkOperandOutput reports an output of d that is not there or is not JSON, and a path that it does not
// have.
func (l *loader) checkOperandOutput(o *operandAt, d *taskDef, output string) bool {
	i := slices.IndexFunc(d.outputs, func(n *node) bool { return n.name == output })
	if i < 0 {
		names := make([]string, len(d.outputs))
		for i, n := range d.outputs {
			names[i] = n.name
		}
		l.error("UF6110", o.place, "task.%s has no output %q to compare with.%s", d.task.Name, output, didYouMean(output, names)).
			also(d.node.header, "task %q is here", d.task.Name)
		return false
	}
	n := d.outputs[i]
	c := l.typer.contractOf(d.shapes()[i])
	what := ""
	switch {
	case n.arg("tree") != nil:
		what = "a tree"
	case c != nil && slices.Contains(contractKinds, c.Kind) && !isJSONKind(c):
		what = "of kind " + c.Kind
	}
	if what != "" {
		l.error("UF6110", o.place, "Output %q of task.%s is %s; only JSON can be compared with.", output, d.task.Name, what).
			also(n.label, "output %q is here", output)
		return false
	}
	if c != nil {
		l.checkOperandPath(o, c)
	}
	return true
}

// checkOperandPath reports a path or field that the schema of the other document does not have.
func (l *loader) checkOperandPath(o *operandAt, c *Contract) {
	end, why := l.ev.jsonTypes[c.Name].along(o.Path)
	if why != "" {
		l.error("UF6111", o.place, "%s names nothing in %s: by %s %s", o.Path, o.Name, c.Schema, why)
		return
	}
	if o.preserve != nil {
		l.entryFields(o.block, o.preserve, end, c.Schema)
	}
}

func (l *loader) checkOperandInput(o *operandAt, d *taskDef, c *Contract) {
	inputs := d.node.all("input")
	if slices.ContainsFunc(inputs, func(n *node) bool { return n.name == o.Input }) {
		return
	}
	names := make([]string, len(inputs))
	for i, n := range inputs {
		names[i] = n.name
	}
	l.error("UF6110", o.place, "task.%s has no input %q to compare with.%s", d.task.Name, o.Input, didYouMean(o.Input, names)).
		also(d.node.header, "task %q, whose output has contract.%s, is here", d.task.Name, c.Name)
}

// compares lists the documents outside an instance that its contracts compare with.
func (l *loader) compares(d *taskDef, i *Instance) []Compare {
	var list []Compare
	for _, c := range l.contractsOf(d) {
		for k := range c.operands {
			o := &c.operands[k]
			known := slices.ContainsFunc(list, func(have Compare) bool { return have.Name == o.Name })
			if known || o.Task == "" && o.Input == "" {
				continue
			}
			if one, ok := l.compare(o, i); ok {
				list = append(list, one)
			}
		}
	}
	return list
}

func (l *loader) compare(o *operandAt, i *Instance) (Compare, bool) {
	one := Compare{Name: o.Name, Output: o.Output, Input: o.Input}
	if o.Input != "" {
		return one, true
	}
	target := l.ev.tasks[o.Task]
	if target == nil || target.task == i.Task {
		return one, false
	}
	shapes := target.shapes()
	if n := slices.IndexFunc(shapes, func(s outputShape) bool { return s.name == o.Output }); n >= 0 {
		c := l.typer.contractOf(shapes[n])
		one.Lines = c != nil && c.Kind == "jsonl"
	}
	if target.expand != nil {
		one.On = []Address{{Task: o.Task}}
		return one, true
	}
	from := dep{target: target, place: o.place}
	if o.Key != "" {
		from.key = constantKey(o.Key, o.place)
	}
	for _, t := range l.chosen(from, i) {
		one.On = append(one.On, t.Address)
	}
	return one, true
}

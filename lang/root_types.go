package lang

import "github.com/zclconf/go-cty/cty"

// rootTypes are the types of the symbols that belong to an instance of a task, each made when it is
// first asked for.
type rootTypes struct {
	l        *loader
	task     *taskDef
	planTime bool // self has no outputs yet: they are being decided
	made     map[string]*typ
}

func (l *loader) rootTypes(d *taskDef, planTime bool) *rootTypes {
	return &rootTypes{l: l, task: d, planTime: planTime}
}

func (r *rootTypes) set(name string, t *typ) {
	if r.made == nil {
		r.made = map[string]*typ{}
	}
	r.made[name] = t
}

func (r *rootTypes) root(name string) *typ {
	if t, ok := r.made[name]; ok {
		return t
	}
	t := anyType
	r.set(name, t) // for an argument that refers to what follows from it
	switch name {
	case "loop":
		t = loopType
	case "self":
		t = r.l.selfType(r.task, r.planTime)
	case "each":
		t = r.eachType()
	case "matrix":
		t = r.matrixType()
	}
	r.set(name, t)
	return t
}

var loopType = objectOf(map[string]*typ{"index": numberType, "count": numberType})

// typeOnly is the type of an argument that is known before the run, as far as its text tells; what is wrong with it is said elsewhere.
func (r *rootTypes) typeOnly(a *argument) *typ {
	switch {
	case a.broken:
		return anyType
	case a.constant != cty.NilVal:
		return typeOfValue(a.constant)
	}
	c := &checker{roots: r, ev: r.l.ev, probs: &problems{}, typer: r.l.typer}
	return c.check(a.syntax)
}

// partOf is what a value of a collection may be.
func partOf(collection *typ) *typ {
	if _, elem, ok := collection.elements(); ok && elem != nil {
		return elem
	}
	return anyType
}

// eachType is the type of each, over all keys, or what the type of for_each tells where there are none.
func (r *rootTypes) eachType() *typ {
	d := r.task
	switch {
	case d.forEach == nil: // which was said where each is named
		return anyType
	case len(d.each) == 0:
		return objectOf(map[string]*typ{"key": stringType, "value": partOf(r.typeOnly(d.forEach))})
	}
	vals := make([]cty.Value, 0, len(d.each))
	for _, k := range d.each {
		vals = append(vals, k.value)
	}
	return objectOf(map[string]*typ{"key": stringType, "value": unionOfValues(vals)})
}

func (l *loader) selfType(d *taskDef, planTime bool) *typ {
	attrs := map[string]*typ{"name": stringType, "id": stringType, "key": keyType(d)}
	t := objectOf(attrs)
	if planTime {
		t.hints = map[string]advice{"outputs": {"UF2007", "self.outputs is not available here: outputs are decided first."}}
		return t
	}
	outputs := map[string]*typ{}
	for _, n := range d.outputs {
		o := map[string]*typ{"path": stringType, "contract": stringType}
		if n.arg("contract") == nil {
			o["contract"] = nullType
		}
		outputs[n.name] = objectOf(o)
		outputs[n.name].symbol = &Symbol{Kind: "output", Name: n.name, Of: d.task.Name}
	}
	attrs["outputs"] = objectOf(outputs)
	if d.task.Series {
		attrs["previous"] = l.typer.instance(d, false)
	} else {
		t.hints = map[string]advice{"previous": {"UF2101", `self.previous is only available with loop_mode = "series".`}}
	}
	return t
}

// matrixType is the type of matrix, over all cells, or what its text tells where there are none.
func (r *rootTypes) matrixType() *typ {
	d := r.task
	values := map[string][]cty.Value{}
	for _, i := range append(append([]*Instance(nil), d.task.Instances...), d.cells...) {
		if m := i.late.matrix; m != cty.NilVal {
			for k, v := range m.AsValueMap() {
				values[k] = append(values[k], v)
			}
		}
	}
	attrs := map[string]*typ{}
	if len(values) == 0 {
		if d.matrix == nil {
			return anyType
		}
		axes := r.typeOnly(d.matrix)
		if axes.shape != objectShape || axes.open {
			return anyType
		}
		for k, t := range axes.attrs {
			attrs[k] = partOf(t)
		}
		return objectOf(attrs)
	}
	for k, vs := range values {
		attrs[k] = unionOfValues(vs)
	}
	return objectOf(attrs)
}

// namedVars lets messages about vars name the task that sets them.
func namedVars(d *taskDef, vars *typ) *typ {
	if vars.shape != objectShape {
		return vars
	}
	n := *vars
	n.absent = "task." + d.task.Name + " sets no vars.%s."
	return &n
}

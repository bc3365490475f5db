package lang

import (
	"fmt"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// lateValues are the values of tasks and groups for one instance that is being rendered.
type lateValues struct {
	ev       *evaluator
	results  Results
	inst     *Instance
	derived  map[Address]bool // instances of expand that it needs too
	index    *needIndex       // nil until somebody asks for it
	failures hcl.Diagnostics
}

// needIndex tells what an instance needs.
type needIndex struct {
	needed map[Address]bool
	count  map[string]int             // needed instances by task
	keys   map[string]map[string]bool // needed keys by task
}

// needs reports whether the instance that is rendered needs another.
func (v *lateValues) needs(a Address) bool {
	if v.index == nil && len(v.inst.Needs) <= few {
		for i := range v.inst.Needs {
			if *v.inst.Needs[i].On == a {
				return true
			}
		}
		return v.derived[a]
	}
	return v.indexed().needed[a] || v.derived[a]
}

func (v *lateValues) indexed() *needIndex {
	if v.index != nil {
		return v.index
	}
	x := &needIndex{needed: make(map[Address]bool, len(v.inst.Needs)), count: map[string]int{}, keys: map[string]map[string]bool{}}
	for i := range v.inst.Needs {
		on := *v.inst.Needs[i].On
		x.needed[on] = true
		x.count[on.Task]++
		if x.keys[on.Task] == nil {
			x.keys[on.Task] = map[string]bool{}
		}
		x.keys[on.Task][on.Key] = true
	}
	v.index = x
	return x
}

func (v *lateValues) task(name string, r reads) cty.Value {
	d := v.ev.tasks[name]
	if d == nil {
		return cty.DynamicVal
	}
	return v.shaped(d, v.instances(d), r)
}

func (v *lateValues) group(name string, r reads) cty.Value {
	var all []cty.Value
	if g := v.ev.groups[name]; g != nil {
		for _, d := range g.members {
			vals, _ := v.values(v.instances(d), r)
			all = append(all, vals...)
		}
	}
	return cty.ObjectVal(map[string]cty.Value{"all": cty.TupleVal(all)})
}

// instances lists the instances of a task; those of expand are derived from what its source wrote.
func (v *lateValues) instances(d *taskDef) []*Instance {
	if d.expand == nil {
		return d.task.Instances
	}
	if !v.needs(Address{Task: d.task.Name}) {
		return nil
	}
	is, ds := v.ev.expanded(d, v.results)
	v.failures = append(v.failures, ds...)
	if v.derived == nil {
		v.derived = make(map[Address]bool, len(is))
	}
	for _, i := range is {
		v.derived[i.Address] = true
	}
	return is
}

// values are those of instances, and the attributes of the last one; nil when that is unknown, or there is none.
func (v *lateValues) values(is []*Instance, r reads) (vals []cty.Value, last map[string]cty.Value) {
	vals = make([]cty.Value, 0, len(is))
	for _, i := range is {
		if last = v.attributes(i, r); last == nil {
			vals = append(vals, cty.DynamicVal)
			continue
		}
		vals = append(vals, cty.ObjectVal(last))
	}
	return vals, last
}

// shaped gives a task's instances the form that the language page promises. Keys that the rendered
// instance does not need are left out: its references can only mean those it needs.
func (v *lateValues) shaped(d *taskDef, is []*Instance, r reads) cty.Value {
	if d.forEach == nil {
		vals, last := v.values(is, r)
		return oneOrAll(d, is, last, v.allOf(is, vals))
	}
	attrs := map[string]cty.Value{"all": cty.DynamicVal}
	if v.indexed().count[d.task.Name] == len(is) {
		vals, _ := v.values(is, r)
		attrs["all"] = cty.TupleVal(vals)
	}
	for key := range v.indexed().keys[d.task.Name] {
		group := d.byKey[key]
		vals, last := v.values(group, r)
		attrs[key] = oneOrAll(d, group, last, v.allOf(group, vals))
	}
	return cty.ObjectVal(attrs)
}

// allOf is the value of .all; unknown unless every instance is needed, since nothing refers to it then.
func (v *lateValues) allOf(is []*Instance, vals []cty.Value) cty.Value {
	for _, i := range is {
		if !v.needs(i.Address) {
			return cty.DynamicVal
		}
	}
	return cty.TupleVal(vals)
}

// oneOrAll is the last instance, by its attributes, with all[…] where there is one instance or a series, else just all[…].
func oneOrAll(d *taskDef, is []*Instance, last map[string]cty.Value, all cty.Value) cty.Value {
	if len(is) > 0 && (d.single(is) || d.task.Series && d.matrix == nil && d.expand == nil) {
		if last == nil {
			return cty.DynamicVal
		}
		last["all"] = all // values are made of copies
		return cty.ObjectVal(last)
	}
	return cty.ObjectVal(map[string]cty.Value{"all": all})
}

// instance returns the value of one instance; unknown when the rendered instance does not need it.
func (v *lateValues) instance(i *Instance, r reads) cty.Value {
	vals, _ := v.values([]*Instance{i}, r)
	return vals[0]
}

// attributes are those of the value of one instance; nil when the rendered instance does not need it.
func (v *lateValues) attributes(i *Instance, r reads) map[string]cty.Value {
	if !v.needs(i.Address) {
		return nil
	}
	res, found := v.results.Result(i.Address)
	if !found {
		res = Result{Status: "skipped"}
	}
	a := i.Address
	value := sourceMark{from: a}
	outputs := map[string]cty.Value{}
	for n := range i.Outputs {
		outputs[i.Outputs[n].Name] = v.output(i, &i.Outputs[n], res, r)
	}
	return map[string]cty.Value{
		"task":    cty.StringVal(a.Task),
		"id":      cty.StringVal(a.String()),
		"key":     keyValue(a),
		"loop":    cty.NumberIntVal(int64(a.Loop)),
		"status":  cty.StringVal(res.Status).Mark(value),
		"ok":      cty.BoolVal(res.OK).Mark(value),
		"dir":     cty.StringVal(instanceMount(a)).Mark(sourceMark{from: a, path: true}),
		"outputs": cty.ObjectVal(outputs),
	}
}

// instanceMount is the directory of an instance's outputs in a workspace.
func instanceMount(a Address) string { return MountDir + "/" + a.String() }

// outputMount is where one output lies in a workspace.
func outputMount(a Address, output string) string { return MountDir + "/" + a.String() + "/" + output }

// appendMount adds outputMount to b.
func appendMount(b []byte, a Address, output string) []byte {
	return append(append(append(append(b, MountDir+"/"...), a.String()...), '/'), output...)
}

// output returns the value of one output.
func (v *lateValues) output(i *Instance, o *Output, res Result, r reads) cty.Value {
	mark := sourceMark{from: i.Address, output: o.Name}
	path := mark
	path.path = true
	got := res.Outputs[o.Name]
	digest := cty.NullVal(cty.String)
	if got.Exists {
		digest = cty.StringVal(got.Digest)
	}
	attrs := map[string]cty.Value{
		"path":     cty.StringVal(outputMount(i.Address, o.Name)).Mark(path),
		"exists":   cty.BoolVal(got.Exists).Mark(mark),
		"digest":   digest.Mark(mark),
		"contract": contractName(o.Contract),
	}
	if o.Path != "" {
		attrs["text"] = v.text(i, o, got, r.text).Mark(mark)
		if isJSONKind(o.Contract) {
			attrs["json"] = v.json(i, o, got, r.json, mark)
		}
	}
	return cty.ObjectVal(attrs)
}

func isJSONKind(c *Contract) bool { return c != nil && (c.Kind == "json" || c.Kind == "jsonl") }

// text reads an output as text when the expression may look at it.
func (v *lateValues) text(i *Instance, o *Output, got OutputResult, wanted bool) cty.Value {
	if !wanted || !got.Exists || got.Read == nil {
		return cty.NullVal(cty.String)
	}
	b, err := got.Read()
	if err != nil {
		v.fail("UFR101", i, o, "cannot be read: %v.", err)
		return cty.UnknownVal(cty.String)
	}
	if !utf8.Valid(b) {
		v.fail("UFR118", i, o, "is not UTF-8 text; use its path.")
		return cty.UnknownVal(cty.String)
	}
	return cty.StringVal(string(b))
}

// json reads an output as JSON when the expression may look at it.
func (v *lateValues) json(i *Instance, o *Output, got OutputResult, wanted bool, mark sourceMark) cty.Value {
	t := v.ev.jsonTypes[o.Contract.Name]
	if !wanted || !got.Exists || got.Read == nil {
		return cty.NullVal(t.cty())
	}
	b, err := got.Read()
	if err != nil {
		v.fail("UFR101", i, o, "cannot be read: %v.", err)
		return cty.DynamicVal
	}
	val, err := decodeJSON(b, t, o.Contract.Kind == "jsonl", mark)
	if err != nil {
		v.fail("UFR102", i, o, "is not the JSON its contract promises: %v.", err)
		return cty.DynamicVal
	}
	return val
}

// fail notes what is wrong with an output; the reference to it is what gets blamed.
func (v *lateValues) fail(code string, i *Instance, o *Output, format string, args ...any) {
	v.failures = append(v.failures, &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: code,
		Detail: "Output " + o.Name + " of " + i.Address.String() + " " + fmt.Sprintf(format, args...),
	})
}

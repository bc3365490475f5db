package lang

import (
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// vars evaluates and merges vars; the object is what prompts read.
func (r *renderer) vars(args []*argument) cty.Value {
	if len(args) == 0 {
		return cty.EmptyObjectVal
	}
	merged := map[string]cty.Value{}
	for _, a := range args {
		v, ok := r.value(a.expression)
		if !ok {
			continue
		}
		r.merge(merged, v, a)
	}
	obj := cty.ObjectVal(merged)
	if len(merged) == 0 {
		return obj
	}
	r.note(obj)
	if !obj.IsWhollyKnown() {
		r.error("UFR105", args[len(args)-1].place, "vars is still unknown: it depends on something that has not run.")
		return obj
	}
	b, err := ctyjson.Marshal(plain(obj), plain(obj).Type())
	if err != nil {
		r.error("UFR112", args[len(args)-1].place, "vars cannot be written as JSON: %v.", err)
		return obj
	}
	r.out.Vars = unescapeHTML(string(b))
	return obj
}

// merge adds the attributes of an object to m.
func (r *renderer) merge(m map[string]cty.Value, v cty.Value, a *argument) {
	v, marks := v.Unmark()
	if v.IsNull() {
		return
	}
	if t := v.Type(); !v.IsKnown() || !t.IsObjectType() && !t.IsMapType() {
		r.error("UFR114", a.place, "%s needs an object, not %s.", a.name, describeType(v))
		return
	}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		m[k.AsString()] = e.WithMarks(marks)
	}
}

// plainEnvironment is environment where all values are plain texts; false else. Nothing flows by a value that another replaces.
func (r *renderer) plainEnvironment(args []*argument) bool {
	merged := map[string]plainPart{}
	p := plainTexts{r: r}
	for _, a := range args {
		if a.broken || !p.object(a.syntax, merged) {
			return false
		}
	}
	if !areNames(merged) {
		return false
	}
	r.takePlain(merged)
	return true
}

// areNames reports whether all that is set has the name of an environment variable.
func areNames(merged map[string]plainPart) bool {
	for k := range merged {
		if !envName().MatchString(k) {
			return false
		}
	}
	return true
}

// takePlain sets the environment.
func (r *renderer) takePlain(merged map[string]plainPart) {
	if len(merged) == 0 {
		return
	}
	p := plainTexts{r: r}
	for _, k := range sortedKeys(merged) {
		p.note(merged[k].used)
		r.out.Env = append(r.out.Env, EnvVar{k, Text{Real: merged[k].real}})
	}
}

func (r *renderer) environment(args []*argument) {
	if len(args) == 0 || r.plainEnvironment(args) {
		return
	}
	merged := map[string]cty.Value{}
	var last *argument
	for _, a := range args {
		if v, ok := r.value(a.expression); ok {
			r.merge(merged, v, a)
			last = a
		}
	}
	for _, k := range sortedKeys(merged) {
		if plain(merged[k]).IsNull() {
			continue // null unsets what the group sets
		}
		where := keyRange(last.expression, k)
		if !envName().MatchString(k) {
			r.error("UFR115", where, "%q is not the name of an environment variable.", k)
			continue
		}
		if t, ok := r.text(merged[k], where, "env."+k); ok {
			r.out.Env = append(r.out.Env, EnvVar{k, t})
		}
	}
}

// secrets evaluates the one argument a sensitive value may reach. Nothing of it is ever printed.
func (r *renderer) secrets(a *argument) {
	if a == nil || a.broken {
		return
	}
	v, ds := r.scope.eval(a.expression)
	if ds.HasErrors() {
		r.error("UFR103", subjectOf(ds[0], a.place), "secrets cannot be evaluated: %s.", ds[0].Summary)
		return
	}
	v = plain(v)
	if v.IsNull() {
		return
	}
	m, ok := convertTo(v, cty.Map(cty.String))
	if !ok || !m.IsWhollyKnown() {
		r.error("UFR114", a.place, "secrets needs a map of strings.")
		return
	}
	for it := m.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if !e.IsNull() {
			r.out.Secrets = append(r.out.Secrets, EnvVar{Name: k.AsString(), Value: Text{Real: e.AsString()}})
		}
	}
}

func (r *renderer) absent() {
	for _, n := range r.inst.Needs {
		if !n.Tolerate || n.Kind != DataRef {
			continue
		}
		for _, a := range r.addresses(*n.On) {
			if res, ok := r.values.results.Result(a); !ok || !res.OK && !leftSomething(res) {
				r.out.Absent = append(r.out.Absent, a)
			}
		}
	}
}

// addresses returns the instances behind a need: those of expand once they are known. Where they
// cannot be known, since their source failed, the task itself is absent.
func (r *renderer) addresses(a Address) []Address {
	d := r.ev.tasks[a.Task]
	if d == nil || d.expand == nil {
		return []Address{a}
	}
	e := expander{d: d, r: newRenderer(r.ev, d.template, r.values.results)}
	if succeeded, ok := e.source(); ok && !succeeded {
		return []Address{a}
	}
	var list []Address
	for _, i := range r.values.instances(d) {
		list = append(list, i.Address)
	}
	return list
}

func leftSomething(res Result) bool {
	for _, o := range res.Outputs {
		if o.Exists {
			return true
		}
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

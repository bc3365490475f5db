package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// evaluator holds what expressions are evaluated with. It is immutable after Load, so that Render may
// be called by many goroutines.
type evaluator struct {
	c         *Campaign
	src       *sources
	decl      *declarations
	functions map[string]function.Function
	variables cty.Value            // object of all variables
	named     map[string]cty.Value // object of all declarations by kind: profile, pool, …
	tasks     map[string]*taskDef
	order     []*taskDef // by file name, then position
	groups    map[string]*groupDef
	byAddress map[Address]*Instance // of tasks with many instances
	prompts   map[string]*prompt
	sensitive map[string]bool      // variables that hold secrets
	jsonTypes map[string]*jsonType // by contract: what its schema closes
	includes  []includeUse         // in prompts
	sets      []SetInput           // from the command line
	again     func() *Campaign     // loads it as a whole; nil where it was loaded so
	blocks    map[string][]int     // by campaign file: where the top-level blocks start, in bytes
}

func newEvaluator(c *Campaign, d *declarations, src *sources) *evaluator {
	return &evaluator{
		c: c, src: src, decl: d,
		functions: functionTable(src),
		variables: cty.EmptyObjectVal,
		named:     map[string]cty.Value{},
		tasks:     map[string]*taskDef{},
		groups:    map[string]*groupDef{},
		byAddress: map[Address]*Instance{},
		prompts:   map[string]*prompt{},
		sensitive: map[string]bool{},
		jsonTypes: map[string]*jsonType{},
		blocks:    map[string][]int{},
	}
}

// fewInstances is how many instances of a task are looked through for one.
const fewInstances = 8

// instance returns the instance at an address that is known at plan time.
func (ev *evaluator) instance(a Address) (*Instance, bool) {
	d := ev.tasks[a.Task]
	switch {
	case d == nil:
		return nil, false
	case len(d.task.Instances) > fewInstances:
		i, ok := ev.byAddress[a]
		return i, ok
	}
	for _, i := range d.task.Instances {
		if i.Address == a {
			return i, true
		}
	}
	return nil, false
}

// scope is what the expressions of one place may refer to. It is used by one goroutine.
type scope struct {
	ev     *evaluator
	inst   *lateParts            // nil outside tasks
	vars   cty.Value             // the value of vars in a prompt; NilVal elsewhere
	tasks  dependencyValues      // nil at plan time: tasks are unknown
	memo   map[memoKey]cty.Value // late locals and values of tasks and groups
	reader *readRecorder         // notes what file() and fileset() read; nil for none

	failures hcl.Diagnostics // of late locals
}

// memoKey is what a remembered value is the value of.
type memoKey struct {
	root, name string
	reads      reads
}

// dependencyValues gives the values of tasks and groups while one instance is rendered.
type dependencyValues interface {
	task(name string, r reads) cty.Value
	group(name string, r reads) cty.Value
}

// eval evaluates an expression. A panic below is returned as a diagnostic: it belongs to this
// expression alone.
func (s *scope) eval(x *expression) (v cty.Value, ds hcl.Diagnostics) {
	if x.constant != cty.NilVal {
		return x.constant, nil
	}
	defer func() {
		if r := recover(); r != nil {
			v, ds = cty.DynamicVal, append(ds, panicked(r, x.place))
		}
	}()
	return x.syntax.Value(s.context(x))
}

// panicSummary marks a diagnostic made from a panic.
const panicSummary = "internal error"

func panicked(r any, place hcl.Range) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: panicSummary, Detail: fmt.Sprint(r), Subject: &place}
}

// context builds an evaluation context of just the names that x uses.
func (s *scope) context(x *expression) *hcl.EvalContext {
	roots := map[string]cty.Value{}
	nested := map[string]map[string]cty.Value{}
	for i := range x.uses {
		u := &x.uses[i]
		switch u.root {
		case "local", "task", "group":
			m := nested[u.root]
			if m == nil {
				m = map[string]cty.Value{}
				nested[u.root] = m
			}
			if _, ok := m[u.name]; !ok && u.name != "" {
				m[u.name] = s.member(u.root, u.name, x.reads)
			}
		default:
			if v := s.root(u.root, x.reads); v != cty.NilVal {
				roots[u.root] = v
			}
		}
	}
	for root, m := range nested {
		roots[root] = cty.ObjectVal(m)
	}
	return &hcl.EvalContext{Variables: roots, Functions: s.functions(x)}
}

// root returns the value of a root symbol that is built once.
func (s *scope) root(name string, r reads) cty.Value {
	switch name {
	case "var":
		return s.ev.variables
	case "vars":
		return s.vars
	}
	if v, ok := s.ev.named[name]; ok {
		return v
	}
	if s.inst == nil {
		return cty.NilVal
	}
	if v, ok := s.tasks.(*lateValues); ok && name == "self" && s.inst.def.task.Series {
		return v.withPreviousValue(s.inst.symbol(name), s.inst, r)
	}
	v := s.inst.symbol(name)
	if name == "self" && s.tasks == nil && s.inst.def.task.Series {
		attrs := v.AsValueMap()
		attrs["previous"] = cty.DynamicVal
		return cty.ObjectVal(attrs)
	}
	return v
}

// member returns local.NAME, task.NAME or group.NAME.
func (s *scope) member(root, name string, r reads) cty.Value {
	if root == "local" {
		return s.local(name)
	}
	if s.tasks == nil {
		return cty.DynamicVal
	}
	key := memoKey{root, name, r}
	if v, ok := s.memo[key]; ok {
		return v
	}
	var v cty.Value
	if root == "task" {
		v = s.tasks.task(name, r)
	} else {
		v = s.tasks.group(name, r)
	}
	s.remember(key, v)
	return v
}

func (s *scope) remember(key memoKey, v cty.Value) {
	if s.memo == nil {
		s.memo = map[memoKey]cty.Value{}
	}
	s.memo[key] = v
}

// local returns the value of a local: one value for all where it is known at plan time, else evaluated
// once in each scope.
func (s *scope) local(name string) cty.Value {
	d, ok := s.ev.decl.locals[name]
	if !ok || d.broken {
		return cty.DynamicVal
	}
	if !d.late {
		return d.value
	}
	if s.tasks == nil {
		return cty.DynamicVal
	}
	key := memoKey{root: "local", name: name}
	if v, ok := s.memo[key]; ok {
		return v
	}
	v, ds := s.eval(d.expression)
	if ds.HasErrors() {
		v = cty.DynamicVal
		s.failures = append(s.failures, ds...)
	}
	s.remember(key, v)
	return v
}

// functions returns the function table; expressions that read files get one that notes them.
func (s *scope) functions(x *expression) map[string]function.Function {
	if s.reader != nil && x.callsAny("file", "fileset") {
		return functionTable(s.reader)
	}
	return s.ev.functions
}

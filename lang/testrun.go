package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// The statuses of an instance in a test.
const (
	statusOK      = "ok"
	statusFailed  = "failed"
	statusSkipped = "skipped"
)

// testStatuses are what a mock may say of an instance.
var testStatuses = []string{statusOK, statusFailed, statusSkipped}

// RunTest renders what the asserts of a test ask about, with made-up results in place of what agents and
// commands write; nothing is run. It returns what does not hold and what is wrong with the test. The
// campaign must have been loaded with the test's variables and preset.
func (c *Campaign) RunTest(t *Test) Diagnostics {
	r := &testRunner{c: c, source: t.source, byAddress: map[Address]*mock{}, byTask: map[string]*mock{}, states: map[Address]string{}, scope: &scope{ev: c.eval}}
	for _, n := range t.mocks {
		r.readMock(n)
	}
	if r.errors == 0 {
		for _, n := range t.asserts {
			r.assert(n)
		}
	}
	return r.all()
}

// testRunner is one run of a test. It answers for the instances that the test makes up, and works out
// which of the others would run.
type testRunner struct {
	problems
	c         *Campaign
	scope     *scope
	source    []byte // of the file of the test
	byAddress map[Address]*mock
	byTask    map[string]*mock
	states    map[Address]string
}

// mock is a made-up result.
type mock struct {
	status  string
	outputs map[string]OutputResult
}

func (r *testRunner) readMock(n *node) {
	a, err := ParseAddress(n.name)
	if err != nil {
		r.error("UF9302", n.label, "%q is no task and no instance: %v.", n.name, err)
		return
	}
	t, ok := r.c.Task(a.Task)
	if !ok {
		d := r.error("UF9302", n.label, "No task named %q is declared.", a.Task)
		if meant := Suggest(a.Task, r.taskNames()); meant != "" {
			d.hint("Did you mean %q?", meant)
		}
		return
	}
	m := &mock{status: statusOK, outputs: map[string]OutputResult{}}
	if s := r.text(n.arg("status")); s != "" {
		m.status = s
	}
	if !slices.Contains(testStatuses, m.status) {
		a, is := n.arg("status"), fmt.Sprintf("%q", m.status)
		if _, secret := r.c.eval.secretUse(a.expression); secret {
			is = "a secret"
		}
		r.error("UF9302", a.place, "status is %s; it must be ok, failed or skipped.", is)
	}
	r.outputs(n, t, m)
	if whole := (Address{Task: a.Task}); a == whole {
		r.byTask[a.Task] = m
		return
	}
	if _, known := r.c.Instance(a); !known && t.Expand == nil {
		r.error("UF9302", n.label, "Task %q has no instance %s.", a.Task, a).hint("Its instances are %s.", addressList(t.Instances))
		return
	}
	r.byAddress[a] = m
}

func (r *testRunner) taskNames() []string {
	var names []string
	for _, t := range r.c.Tasks {
		names = append(names, t.Name)
	}
	return names
}

// maxListed bounds how many instances a hint names.
const maxListed = 8

func addressList(is []*Instance) string {
	var names []string
	for _, i := range is[:min(len(is), maxListed)] {
		names = append(names, i.Address.String())
	}
	if len(is) > maxListed {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

// outputs reads what a mock says of the outputs of its task. What it does not mention exists when the
// task succeeded, and has no content that could be read.
func (r *testRunner) outputs(n *node, t *Task, m *mock) {
	declared := map[string]bool{}
	for _, i := range r.someInstances(t) {
		for _, o := range i.Outputs {
			declared[o.Name] = true
			m.outputs[o.Name] = unmocked(t.Name, o.Name, m.status == statusOK)
		}
	}
	for _, b := range n.all("output") {
		if !declared[b.name] {
			r.error("UF9302", b.label, "task.%s has no output %q.", t.Name, b.name).hint("It has %s.", strings.Join(sortedKeys(declared), ", "))
			continue
		}
		m.outputs[b.name] = r.output(b)
	}
}

// someInstances are the instances of a task, or what stands for those that come at run time.
func (r *testRunner) someInstances(t *Task) []*Instance {
	d := r.c.eval.tasks[t.Name]
	if d.template != nil {
		return []*Instance{d.template}
	}
	return t.Instances
}

// unmocked is an output that a test says nothing of: its path can be rendered, its content cannot.
func unmocked(task, output string, exists bool) OutputResult {
	return OutputResult{Exists: exists, Digest: "mock", Read: func() ([]byte, error) {
		return nil, fmt.Errorf("the test does not say what it holds; add to it: mock %q { output %q { content = … } }", task, output)
	}}
}

func (r *testRunner) output(b *node) OutputResult {
	content, file, exists := b.arg("content"), b.arg("file"), b.arg("exists")
	if exists != nil {
		v, ok := r.eval(exists.expression)
		if t, is := convertTo(v, cty.Bool); ok && is && !t.IsNull() && t.False() {
			return OutputResult{}
		}
	}
	if (content == nil) == (file == nil) {
		r.error("UF9302", b.header, "An output of a mock has either content or file.")
		return OutputResult{}
	}
	var bytes []byte
	if content != nil {
		bytes = []byte(r.text(content))
	} else if name := r.text(file); name != "" {
		var err error
		if bytes, err = r.c.eval.src.ReadFile(name); err != nil {
			r.error("UF9302", file.place, "%s cannot be read: %v.", name, plainCause(err))
		}
	}
	return OutputResult{Exists: true, Digest: "mock", Read: func() ([]byte, error) { return bytes, nil }}
}

// eval evaluates an expression of the test outside of asserts.
func (r *testRunner) eval(x *expression) (cty.Value, bool) {
	v, ds := r.scope.eval(x)
	r.evalFailed(ds, x)
	return plain(v), !ds.HasErrors()
}

// text evaluates an argument to a text; "" without one.
func (r *testRunner) text(a *argument) string {
	if a == nil {
		return ""
	}
	v, ok := r.eval(a.expression)
	if !ok {
		return ""
	}
	s, ok := convertTo(v, cty.String)
	if !ok || !s.IsKnown() || s.IsNull() {
		r.error("UF9303", a.place, "%s needs a text, not %s.", a.name, describeType(v))
		return ""
	}
	return s.AsString()
}

// Result implements Results.
func (r *testRunner) Result(a Address) (Result, bool) {
	if m := r.mocked(a); m != nil {
		return Result{OK: m.status == statusOK, Status: m.status, Outputs: m.outputs}, true
	}
	i, ok := r.instance(a)
	if !ok {
		return Result{}, false
	}
	res := Result{Status: r.state(i), Outputs: map[string]OutputResult{}}
	res.OK = res.Status == statusOK
	for _, o := range i.Outputs {
		res.Outputs[o.Name] = unmocked(a.Task, o.Name, res.OK)
	}
	return res, true
}

func (r *testRunner) mocked(a Address) *mock {
	if m := r.byAddress[a]; m != nil {
		return m
	}
	return r.byTask[a.Task]
}

// instance finds an instance, also one that comes at run time.
func (r *testRunner) instance(a Address) (*Instance, bool) {
	if i, ok := r.c.Instance(a); ok {
		return i, true
	}
	t, ok := r.c.Task(a.Task)
	if !ok || t.Expand == nil {
		return nil, false
	}
	is, _ := r.c.Expand(t, r) // its problems show where the test asks for the instances
	k := slices.IndexFunc(is, func(i *Instance) bool { return i.Address == a })
	if k < 0 {
		return nil, false
	}
	return is[k], true
}

// state says whether an instance would run: it is skipped when something it needs did not succeed, and
// when its own when is false.
func (r *testRunner) state(i *Instance) string {
	if m := r.mocked(i.Address); m != nil {
		return m.status
	}
	if s, ok := r.states[i.Address]; ok {
		return s
	}
	r.states[i.Address] = statusSkipped // a cycle needs itself, and never runs
	s := statusOK
	for _, n := range i.Needs {
		if n.Kind != OrderRef && !n.Tolerate && !r.succeeded(*n.On) {
			s = statusSkipped
		}
	}
	if s == statusOK {
		if out, _ := r.c.Render(i, r); !out.When {
			s = statusSkipped
		}
	}
	r.states[i.Address] = s
	return s
}

// succeeded reports whether an instance succeeded, or every instance of a task that fans out at run time.
func (r *testRunner) succeeded(a Address) bool {
	t, ok := r.c.Task(a.Task)
	if ok && t.Expand != nil && a == (Address{Task: a.Task}) {
		if m := r.byTask[a.Task]; m != nil {
			return m.status == statusOK
		}
		is, ds := r.c.Expand(t, r)
		return !ds.HasErrors() && !slices.ContainsFunc(is, func(i *Instance) bool { return r.state(i) != statusOK })
	}
	res, ok := r.Result(a)
	return ok && res.OK
}

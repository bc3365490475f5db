package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// renderer evaluates the run-time parts of one instance.
type renderer struct {
	problems
	ev     *evaluator
	inst   *Instance
	late   *lateParts
	scope  *scope
	values *lateValues
	marks  positions[sourceMark] // path marks met so far
	out    Rendered
	files  []string
	alone  [1]*Instance // what concrete returns
}

// Render evaluates everything of an instance that may use what other instances wrote. It is
// deterministic and safe for concurrent use. With errors in the diagnostics the instance cannot run.
func (c *Campaign) Render(i *Instance, results Results) (Rendered, Diagnostics) {
	r := newRenderer(c.eval, i, results)
	r.render()
	return r.out, r.all()
}

// Withheld reports whether an instance is skipped whatever other tasks leave: its when names none of them, and is false. It may be called
// from several goroutines.
func (c *Campaign) Withheld(i *Instance) bool {
	if !i.Task.WhenEarly {
		return false
	}
	r := newRenderer(c.eval, i, nil)
	r.condition()
	return !r.out.When && !r.all().HasErrors()
}

// condition evaluates when, and nothing else.
func (r *renderer) condition() {
	defer r.recovered(hcl.Range{})
	r.out.When = r.when(r.ev.lateArgs(r.late.def).when)
}

func newRenderer(ev *evaluator, i *Instance, results Results) *renderer {
	if i.late == nil {
		bug("instance %s was not made by Load or Expand", i.Address)
	}
	all := &struct {
		renderer
		values lateValues
		scope  scope
		reader readRecorder
	}{} // one allocation
	all.values = lateValues{ev: ev, results: results, inst: i}
	all.reader.src = ev.src
	all.scope = scope{ev: ev, inst: i.late, tasks: &all.values, reader: &all.reader}
	all.renderer = renderer{ev: ev, inst: i, late: i.late, values: &all.values, scope: &all.scope}
	return &all.renderer
}

func (r *renderer) render() {
	defer r.recovered(hcl.Range{})
	if r.out.When = r.plainRun(); !r.out.When && !r.longRun() {
		return
	}
	r.flows()
	r.absent()
	r.readFiles()
}

// longRun evaluates what plainRun does not render, and reports whether the instance runs.
func (r *renderer) longRun() bool {
	args := r.ev.lateArgs(r.late.def)
	if r.out.When = r.when(args.when); r.out.When {
		r.body(&args)
		r.environment(args.env)
		r.secrets(args.secrets)
	}
	return r.out.When
}

// value evaluates an expression and reports what failed; false then.
func (r *renderer) value(x *expression) (cty.Value, bool) {
	if x.broken {
		r.error("UFR199", x.place, "This expression has an error that check reports.")
		return cty.NilVal, false
	}
	v, ds := r.scope.eval(x)
	ds = append(append(hcl.Diagnostics(nil), r.takeFailures()...), ds...)
	r.noteFiles(x)
	if ds.HasErrors() {
		r.runProblems(ds, x)
		return cty.NilVal, false
	}
	if isSecret(v) {
		r.error("UFR117", x.place, "A sensitive variable reaches this expression. Secrets may only be passed in secrets.")
		return cty.NilVal, false
	}
	return v, true
}

// takeFailures returns what went wrong while values of dependencies were made.
func (r *renderer) takeFailures() hcl.Diagnostics {
	ds := append(r.scope.failures, r.values.failures...)
	r.scope.failures, r.values.failures = nil, nil
	return ds
}

// runProblems reports run-time problems of an expression under UFR codes.
func (r *renderer) runProblems(ds hcl.Diagnostics, x *expression) {
	for _, d := range ds {
		if d.Severity != hcl.DiagError {
			continue
		}
		code := "UFR103"
		if strings.HasPrefix(d.Summary, "UFR") {
			code = d.Summary
		} else if d.Summary == panicSummary {
			code = "UF9901"
		}
		summary, rest := sentence(d)
		r.error(code, subjectOf(d, x.place), "%s", summary).Detail = rest
	}
}

// noteFiles adds the files that locals behind x read at plan time.
func (r *renderer) noteFiles(x *expression) {
	for i := range x.uses {
		if x.uses[i].root == "local" {
			if d := r.ev.decl.locals[x.uses[i].name]; d != nil {
				r.files = append(r.files, d.files...)
			}
		}
	}
}

func (r *renderer) readFiles() {
	r.files = append(r.files, r.scope.reader.names()...)
	slices.Sort(r.files)
	r.out.Reads = slices.Compact(r.files)
}

func (r *renderer) when(a *argument) bool {
	if a == nil {
		return true
	}
	v, ok := r.value(a.expression)
	if !ok {
		return true
	}
	b, ok := convertTo(plain(v), cty.Bool)
	if !ok || !b.IsKnown() || b.IsNull() {
		r.error("UFR104", a.place, "when needs true or false, not %s.", describeType(plain(v)))
		return true
	}
	return b.True()
}

// body renders what the instance runs.
func (r *renderer) body(args *lateArgs) {
	vars := r.vars(args.vars)
	switch args.body.name {
	case "command":
		r.command(args.body)
	case "prompt_text":
		r.scope.vars = vars
		r.out.Prompt = r.prompt(args.body.expression)
	case "prompt":
		r.scope.vars = vars
		p := r.late.prompt
		switch {
		case p == nil || p.expression == nil && !p.verbatim:
			r.error("UFR199", args.body.place, "The prompt file has an error that check reports.")
		case p.verbatim:
			r.out.Prompt = Text{Real: p.text}
		default:
			r.out.Prompt = r.prompt(p.expression)
		}
	}
}

func (r *renderer) prompt(x *expression) Text {
	plain := plainTexts{r: r}
	if s, ok := plain.text(x.syntax); ok && !x.broken && strings.TrimSpace(s) != "" {
		plain.note(plain.used)
		return Text{Real: s}
	}
	v, ok := r.value(x)
	if !ok {
		return Text{}
	}
	t, ok := r.text(v, x.place, "The prompt")
	if ok && strings.TrimSpace(t.Real) == "" {
		r.error("UFR116", x.place, "The prompt is empty after rendering.")
	}
	return t
}

// text converts a value to text and notes the paths in it.
func (r *renderer) text(v cty.Value, where hcl.Range, what string) (Text, bool) {
	r.note(v)
	s, ok := convertTo(plain(v), cty.String)
	switch {
	case !ok:
		r.error("UFR112", where, "%s is %s and cannot be put into text.", what, describeType(plain(v)))
		return Text{}, false
	case !s.IsKnown():
		r.error("UFR105", where, "%s is still unknown: it depends on something that has not run.", what)
		return Text{}, false
	case s.IsNull():
		r.error("UFR111", where, "%s is null.", what)
		return Text{}, false
	}
	return Text{Real: s.AsString()}, true
}

// note collects the path marks anywhere in v.
func (r *renderer) note(v cty.Value) {
	if !v.ContainsMarked() {
		return
	}
	_, paths := v.UnmarkDeepWithPaths()
	for _, p := range paths {
		for m := range p.Marks {
			if s, ok := m.(sourceMark); ok && s.path {
				r.marks.add(s)
			}
		}
	}
}

func (r *renderer) command(a *argument) {
	plain := plainTexts{r: r}
	if argv, ok := plain.list(a.syntax); ok && !a.broken && len(argv) > 0 && argv[0].Real != "" {
		plain.note(plain.used)
		r.out.Argv = argv
		return
	}
	v, ok := r.value(a.expression)
	if !ok {
		return
	}
	v, marks := v.Unmark()
	if v.IsNull() || !v.IsKnown() || !isSequence(v.Type()) {
		r.error("UFR113", a.place, "command needs a list of strings, not %s.", describeType(v))
		return
	}
	n := 0
	for it := v.ElementIterator(); it.Next(); n++ {
		_, e := it.Element()
		if t, ok := r.text(e.WithMarks(marks), elementRange(a.expression, n), "This element of command"); ok {
			r.out.Argv = append(r.out.Argv, t)
		}
	}
	switch {
	case n == 0:
		r.error("UFR113", a.place, "command is empty.")
	case len(r.out.Argv) == n && r.out.Argv[0].Real == "":
		r.error("UFR113", elementRange(a.expression, 0), "command names no program: its first element is empty.")
	}
}

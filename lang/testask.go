package lang

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// assert checks one condition.
func (r *testRunner) assert(n *node) {
	a := n.arg("condition")
	if a == nil {
		return // reported when the test was read
	}
	v, ok := r.ask(a.expression)
	if !ok {
		return
	}
	v = plain(v)
	b, isBool := convertTo(v, cty.Bool)
	switch {
	case !isBool || !b.IsKnown() || b.IsNull():
		r.error("UF9303", a.place, "condition needs true or false, not %s.", describeType(v))
	case b.False():
		message := "The condition does not hold."
		if m, ok := r.ask(n.arg("error_message").expression); ok && !isSecret(m) {
			if s, isText := convertTo(plain(m), cty.String); isText && s.IsKnown() && !s.IsNull() && s.AsString() != "" {
				message = s.AsString()
			}
		}
		r.error("UF9301", a.place, "%s", message).because("%s", r.values(a.expression))
	}
}

// ask evaluates an expression that may ask about instances; the value keeps the mark of a secret.
func (r *testRunner) ask(x *expression) (v cty.Value, ok bool) {
	defer r.recovered(x.place)
	for i := range x.uses {
		if u := &x.uses[i]; u.root != "var" && u.root != "local" {
			r.error("UF9303", u.place, "%s means nothing in a test.", u.root).
				hint("Ask with prompt(\"NAME\"), command(\"NAME\"), env(\"NAME\"), status(\"NAME\") or instances(\"NAME\").")
			return cty.NilVal, false
		}
	}
	before := r.errors
	v, ds := x.syntax.Value(r.context(x))
	if r.errors > before {
		return cty.NilVal, false // the rendering says what is wrong
	}
	r.evalFailed(ds, x)
	return v, !ds.HasErrors()
}

// evalFailed reports why an expression of the test has no value; where a secret is in it, without a word of that.
func (r *testRunner) evalFailed(ds hcl.Diagnostics, x *expression) {
	if _, secret := r.c.eval.secretUse(x); secret && ds.HasErrors() {
		r.error("UF9303", x.place, "This fails on the value of a sensitive variable.").because("What exactly is wrong would print it.")
		return
	}
	for _, d := range ds {
		r.error("UF9303", subjectOf(d, x.place), "%s.", strings.TrimSuffix(d.Summary, ".")).because("%s", d.Detail)
	}
}

// context has the functions that ask beside what the campaign has.
func (r *testRunner) context(x *expression) *hcl.EvalContext {
	ctx := r.scope.context(x)
	functions := make(map[string]function.Function, len(ctx.Functions)+len(questions))
	for name, f := range ctx.Functions {
		functions[name] = f
	}
	for name, q := range questions {
		functions[name] = r.function(q)
	}
	ctx.Functions = functions
	return ctx
}

// question is a function of asserts. Lists come as tuples, so that they can be compared with [ … ].
type question struct {
	doc string
	typ cty.Type
	ask func(*testRunner, string) (cty.Value, error)
}

// QuestionDocs returns the documentation of the functions that only the asserts of tests have, sorted by name.
func QuestionDocs() []FunctionDoc {
	var docs []FunctionDoc
	for _, name := range sortedKeys(questions) {
		docs = append(docs, FunctionDoc{Name: name, Signature: name + "(name)", Params: []string{"name"}, Doc: questions[name].doc})
	}
	return docs
}

var questions = map[string]question{
	"prompt":    {"The prompt that an instance would get.", cty.String, (*testRunner).askPrompt},
	"command":   {"The words of the command that an instance would run.", cty.DynamicPseudoType, (*testRunner).askCommand},
	"env":       {"The environment that an instance would get, by name.", cty.Map(cty.String), (*testRunner).askEnv},
	"status":    {"What becomes of an instance: ok, failed or skipped.", cty.String, (*testRunner).askStatus},
	"instances": {"The names of the instances of a task.", cty.DynamicPseudoType, (*testRunner).askInstances},
}

func (r *testRunner) function(q question) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "name", Type: cty.String}},
		Type:   function.StaticReturnType(q.typ),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return q.ask(r, args[0].AsString())
		},
	})
}

// find returns the instance that a text names.
func (r *testRunner) find(name string) (*Instance, error) {
	a, err := ParseAddress(name)
	if err != nil {
		return nil, err
	}
	t, ok := r.c.Task(a.Task)
	if !ok {
		if meant := Suggest(a.Task, r.taskNames()); meant != "" {
			return nil, fmt.Errorf("no task named %q is declared; did you mean %q?", a.Task, meant)
		}
		return nil, fmt.Errorf("no task named %q is declared", a.Task)
	}
	if i, ok := r.instance(a); ok {
		return i, nil
	}
	is, err := r.instances(t)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("task %q has no instance %s; it has %s", a.Task, a, addressList(is))
}

// errRender says that the rendering has reported what is wrong.
var errRender = errors.New("it cannot be rendered")

func (r *testRunner) instances(t *Task) ([]*Instance, error) {
	is, ds := r.c.Expand(t, r)
	return is, r.report(ds)
}

func (r *testRunner) report(ds Diagnostics) error {
	for _, d := range ds {
		r.add(d)
	}
	if ds.HasErrors() {
		return errRender
	}
	return nil
}

// render renders an instance that would run.
func (r *testRunner) render(name string) (Rendered, *Instance, error) {
	i, err := r.find(name)
	if err != nil {
		return Rendered{}, nil, err
	}
	if s := r.state(i); s != statusOK {
		return Rendered{}, i, fmt.Errorf("%s is %s", i.Address, s)
	}
	out, ds := r.c.Render(i, r)
	return out, i, r.report(ds)
}

func (r *testRunner) askPrompt(name string) (cty.Value, error) {
	out, i, err := r.render(name)
	if err != nil {
		return cty.NilVal, err
	}
	if i.Task.Kind != Prompt {
		return cty.NilVal, fmt.Errorf("%s runs a command; ask for command(%q)", i.Address, name)
	}
	return cty.StringVal(out.Prompt.Real), nil
}

func (r *testRunner) askCommand(name string) (cty.Value, error) {
	out, i, err := r.render(name)
	if err != nil {
		return cty.NilVal, err
	}
	if i.Task.Kind != Command {
		return cty.NilVal, fmt.Errorf("%s has a prompt; ask for prompt(%q)", i.Address, name)
	}
	words := make([]cty.Value, len(out.Argv))
	for k, w := range out.Argv {
		words[k] = cty.StringVal(w.Real)
	}
	return cty.TupleVal(words), nil
}

func (r *testRunner) askEnv(name string) (cty.Value, error) {
	out, _, err := r.render(name)
	if err != nil || len(out.Env) == 0 {
		return cty.MapValEmpty(cty.String), err
	}
	env := map[string]cty.Value{}
	for _, e := range out.Env {
		env[e.Name] = cty.StringVal(e.Value.Real)
	}
	return cty.MapVal(env), nil
}

func (r *testRunner) askStatus(name string) (cty.Value, error) {
	i, err := r.find(name)
	if err != nil {
		return cty.NilVal, err
	}
	return cty.StringVal(r.state(i)), nil
}

// askInstances lists the instances of a task.
func (r *testRunner) askInstances(name string) (cty.Value, error) {
	a, err := ParseAddress(name)
	if err != nil {
		return cty.NilVal, err
	}
	t, ok := r.c.Task(a.Task)
	if !ok || a != (Address{Task: a.Task}) {
		return cty.NilVal, fmt.Errorf("there is no task %q", name)
	}
	is, err := r.instances(t)
	if err != nil {
		return cty.NilVal, err
	}
	names := make([]cty.Value, len(is))
	for k, i := range is {
		names[k] = cty.StringVal(i.Address.String())
	}
	return cty.TupleVal(names), nil
}

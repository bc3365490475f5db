package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// checkTypes runs the checker over an expression and marks it broken when it finds an error. c says
// which symbols of an instance there are.
func (l *loader) checkTypes(x *expression, c *checker) *typ {
	if x.broken && !x.names {
		return anyType
	}
	if x.constant != cty.NilVal {
		return typeOfValue(x.constant)
	}
	defer l.recovered(x.place)
	c.ev, c.probs, c.typer = l.ev, &l.problems, l.typer
	before := l.errors
	t := c.check(x.syntax)
	if l.errors > before || x.broken {
		x.broken = true
		return anyType
	}
	return t
}

// checkLateLocals checks the locals that use tasks, used or not.
func (l *loader) checkLateLocals() {
	l.typer.reader = nil
	for _, d := range l.decl.order {
		if d.late {
			l.checkTypes(d.expression, &checker{})
		}
	}
}

// noSecret reports a sensitive variable in an argument that is not made for it.
func (l *loader) noSecret(a *argument) bool {
	u, ok := l.ev.secretUse(a.expression)
	if !ok {
		return true
	}
	l.error("UF7301", u.place, "A sensitive variable reaches %s. Secrets may only be passed in secrets.", a.name).
		hint("Write secrets = { NAME = %s.%s } and read the environment variable NAME.", u.root, u.name)
	a.broken = true
	return false
}

// secretUse returns the first use of a sensitive variable, directly or through a local.
func (ev *evaluator) secretUse(x *expression) (*use, bool) {
	for i := range x.uses {
		u := &x.uses[i]
		if u.root == "var" && ev.sensitive[u.name] {
			return u, true
		}
		if d := ev.decl.locals[u.name]; u.root == "local" && d != nil && d.taint {
			return u, true
		}
	}
	return nil, false
}

// checkPlanTime checks the arguments of a task that are evaluated at plan time.
func (l *loader) checkPlanTime(d *taskDef) {
	roots := l.rootTypes(d, true)
	check := func(a *argument) {
		if a != nil && a.spec != nil && a.spec.Phase == PlanTime && a.constant == cty.NilVal {
			if _, late := l.lateSource(a.expression); !late { // reported when it is evaluated
				l.checkTypes(a.expression, &checker{roots: roots})
			}
		}
	}
	for _, name := range sortedKeys(d.settings) {
		check(d.settings[name])
	}
	for _, blocks := range [][]*node{d.outputs, d.node.all("input"), d.node.all("export"), {d.retry, d.expand, d.node.block("workspace")}} {
		for _, b := range blocks {
			if b != nil {
				for _, a := range b.args {
					check(a)
				}
			}
		}
	}
}

// checkRunTime checks everything of a task that is evaluated at run time, its prompts included.
func (l *loader) checkRunTime(d *taskDef) {
	if d.broken {
		return
	}
	l.typer.reader = d
	roots := l.rootTypes(d, false)
	if d.expand != nil {
		roots.set("item", l.checkExpand(d, roots))
	}
	var guarded []string
	check := func(a *argument) *typ {
		t := l.checkTypes(a.expression, &checker{roots: roots, guarded: guarded})
		if !l.noSecret(a) {
			return anyType
		}
		return t
	}
	if a := d.settings["when"]; a != nil {
		l.needs2110(a, check(a), "true or false", func(t *typ) bool { return operandOK(t, cty.Bool) })
		guarded = (&checker{ev: l.ev, typer: l.typer}).guards(a.syntax, true) // holds for everything the task does
	}
	var vars *typ
	if len(d.vars) > 0 || d.task.Kind == Prompt {
		vars = objectOf(map[string]*typ{})
	}
	for _, a := range d.vars {
		t := check(a)
		l.needs2110(a, t, "an object", objectLike)
		vars = addAttributes(vars, t)
	}
	if d.task.Kind == Prompt {
		roots.set("vars", namedVars(d, vars))
	}
	for _, a := range d.env {
		l.checkTextMap(d, a, check(a))
	}
	if a := d.settings["secrets"]; a != nil {
		l.checkTextMap(d, a, l.checkTypes(a.expression, &checker{roots: roots}))
		l.checkSecrecy(a)
	}
	l.checkBody(d, roots, guarded, check)
	l.checkValues(d)
}

// needs2110 reports an argument none of whose values has the right type.
func (l *loader) needs2110(a *argument, t *typ, what string, ok func(*typ) bool) {
	for _, x := range t.alternatives() {
		if x.shape != anyShape && !ok(x) {
			l.error("UF2110", a.place, "%s needs %s, not %s.", a.name, what, x)
			a.broken = true
			return
		}
	}
}

func objectLike(t *typ) bool {
	return t.shape == objectShape || t.shape == mapShape || t.shape == nullShape
}

// addAttributes merges the attributes of an object into another type; the later ones win.
func addAttributes(to, t *typ) *typ {
	if to.shape != objectShape || t.shape != objectShape {
		if t.shape == nullShape {
			return to
		}
		return anyType
	}
	n := objectOf(map[string]*typ{})
	n.open = to.open || t.open
	for k, v := range to.attrs {
		n.attrs[k] = v
	}
	for k, v := range t.attrs {
		n.attrs[k] = v
	}
	return n
}

// checkSecrecy warns of what is passed as a secret and is none: it is not in the key, so who changes it would be given the old result.
func (l *loader) checkSecrecy(a *argument) {
	plain := func(x *expression, what string) {
		if _, secret := l.ev.secretUse(x); !secret && !x.broken {
			l.warn("UF7303", x.place, "%s is no secret: no sensitive variable is in it.", what).
				because("Secrets are in no key, so another value would not run the task again.").
				hint("Put it into env, or set sensitive = true on the variable that it comes from.")
		}
	}
	o, ok := a.syntax.(*hclsyntax.ObjectConsExpr)
	if !ok {
		plain(a.expression, "This")
		return
	}
	for _, it := range o.Items {
		if name, ok := itemKey(it); ok {
			plain(analyze(it.ValueExpr), "secrets."+name)
		}
	}
}

// checkTextMap checks a map of texts, such as env: null unsets a name.
func (l *loader) checkTextMap(d *taskDef, a *argument, t *typ) {
	l.needs2110(a, t, "a map of strings", objectLike)
	for _, x := range t.alternatives() {
		if x.shape == mapShape && !x.elem.textual() {
			l.error("UF2104", a.place, "A value of %s is %s and cannot be put into text.", a.name, x.elem).hint("Use join() or jsonencode().")
			a.broken = true
		}
		for _, k := range sortedKeys(x.attrs) {
			if !envName().MatchString(k) {
				l.badEnvName(a, k)
			}
			l.overruled(keyRange(a.expression, k), k, d.task.Kind == Prompt)
			if !x.attrs[k].textual() {
				l.error("UF2104", valueRange(a.expression, k), "%s.%s is %s and cannot be put into text.", a.name, k, x.attrs[k]).
					hint("Use join() or jsonencode().")
				a.broken = true
			}
		}
	}
}

// checkBody checks what the task runs.
func (l *loader) checkBody(d *taskDef, roots *rootTypes, guarded []string, check func(*argument) *typ) {
	if d.body == nil {
		return
	}
	switch d.body.name {
	case "command":
		l.checkCommand(d.body, check(d.body))
	case "prompt_text":
		l.countInPrompt(d.body.expression)
		if c := d.body.constant; c != cty.NilVal && (c.IsNull() || c.Type() == cty.String && strings.TrimSpace(c.AsString()) == "") {
			l.error("UF5007", d.body.place, "The prompt is empty.")
			return
		}
		t := check(d.body)
		l.notNull(d.body.place, t)
		if !t.textual() {
			l.error("UF2104", d.body.place, "prompt_text is %s and cannot be put into text.", t).hint("%s", textHint(d.body.syntax, t))
		}
	case "prompt":
		for _, p := range d.contents {
			if p.expression != nil {
				l.checkPrompt(p, roots, guarded)
			}
		}
	}
}

func (l *loader) checkPrompt(p *prompt, roots *rootTypes, guarded []string) {
	if u, secret := l.ev.secretUse(p.expression); secret {
		l.error("UF7302", u.place, "A sensitive variable reaches this prompt.").
			because("Prompts are stored and shown.").hint("Pass it in secrets; the agent finds it in its environment.")
		p.broken = true
		return
	}
	t := l.checkTypes(p.expression, &checker{roots: roots, guarded: guarded})
	l.notNull(p.place, t)
	if !t.textual() {
		l.error("UF2104", p.place, "The prompt is %s and cannot be put into text.", t).hint("%s", textHint(p.syntax, t))
	}
}

// notNull reports a value that may be null where nothing has asked.
func (l *loader) notNull(where hcl.Range, t *typ) {
	if t.maybe != "" {
		(&checker{probs: &l.problems}).mayBeNullAt(where, t, "")
	}
}

func (l *loader) checkCommand(a *argument, t *typ) {
	if a.broken || t.shape == anyShape {
		return
	}
	_, elem, ok := t.elements()
	if !ok || t.shape == objectShape || t.shape == mapShape {
		l.error("UF7101", a.place, "command needs a list of strings, not %s.", t).
			hint("To run a line of shell: command = [\"sh\", \"-c\", \"…\"].")
		a.broken = true
		return
	}
	switch {
	case t.shape != tupleShape:
	case len(t.elems) == 0:
		l.error("UF7101", a.place, "command is empty.")
	case t.elems[0].known != cty.NilVal && t.elems[0].known.RawEquals(cty.StringVal("")):
		l.error("UF7101", elementRange(a.expression, 0), "command names no program: its first element is empty.")
	}
	parts := []*typ{elem}
	if t.shape == tupleShape {
		parts = t.elems
	}
	for i, e := range parts {
		l.notNull(elementRange(a.expression, i), e)
		if !e.textual() || e.shape == nullShape {
			l.error("UF7101", elementRange(a.expression, i), "command needs a list of strings, but this element is %s.", e).
				hint("%s", textHint(elementSyntax(a.expression, i), e))
			a.broken = true
		}
	}
}

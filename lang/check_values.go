package lang

import (
	"github.com/zclconf/go-cty/cty"
)

// checkValues evaluates what is evaluated at run time once with tasks unknown: calls and operators may
// fail on the values that are known already.
func (l *loader) checkValues(d *taskDef) {
	for _, i := range d.task.Instances {
		if i.Address.Loop > 0 {
			continue // it differs in loop.index alone
		}
		s := i.late.scope(l.ev)
		first := i == d.task.Instances[0]
		for _, a := range d.lateExpressions() {
			if a.name == "prompt_text" {
				continue
			}
			l.tryValue(s, a.expression, first)
		}
		l.checkPromptValues(d, i, s, first)
	}
}

func (l *loader) checkPromptValues(d *taskDef, i *Instance, s *scope, first bool) {
	x := d.body.expression
	if d.body.name == "prompt" {
		if i.late.prompt == nil {
			return
		}
		x = i.late.prompt.expression
	} else if d.body.name == "command" {
		return
	}
	if x == nil || !x.computes {
		return
	}
	s.vars = l.varsValue(d, s)
	l.tryValue(s, x, first || d.body.name == "prompt")
}

// varsValue is the value of vars as far as it is known at plan time.
func (l *loader) varsValue(d *taskDef, s *scope) cty.Value {
	merged := map[string]cty.Value{}
	for _, a := range d.vars {
		if a.broken {
			return cty.DynamicVal
		}
		v, ds := s.eval(a.expression)
		v, _ = v.Unmark()
		if ds.HasErrors() || !v.IsKnown() || v.IsNull() || !v.Type().IsObjectType() && !v.Type().IsMapType() {
			return cty.DynamicVal
		}
		for k, e := range v.AsValueMap() {
			merged[k] = e
		}
	}
	return cty.ObjectVal(merged)
}

// tryValue evaluates x for its problems. Where nothing of an instance is in it, once is enough.
func (l *loader) tryValue(s *scope, x *expression, first bool) {
	if x.broken || !x.computes || !first && !x.usesRoot(instanceRoots...) && !x.usesRoot("vars") {
		return
	}
	if _, ds := s.eval(x); ds.HasErrors() {
		_, secret := l.ev.secretUse(x)
		l.discreetly(secret, ds, x.place)
	}
}

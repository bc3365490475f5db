package lang

import (
	"strings"

	"github.com/zclconf/go-cty/cty"
)

// validate evaluates the rules of a variable over its value.
func (l *loader) validate(d *variableDef) {
	used := l.decl.kinds["variable"].used
	defer func(was bool) { used[d.node.name] = was }(used[d.node.name]) // a rule about a variable is no use of it
	if d.broken || d.value == cty.NilVal {
		return
	}
	s := &scope{ev: l.ev}
	for _, n := range d.node.all("validation") {
		cond, msg := n.arg("condition"), n.arg("error_message")
		if cond == nil || msg == nil || !l.validationNames(d, cond) || !l.validationNames(d, msg) {
			continue
		}
		v, ds := s.eval(cond.expression)
		if ds.HasErrors() {
			l.discreetly(d.sensitive, ds, cond.place)
		}
		v = plain(v)
		if ds.HasErrors() || !v.IsKnown() {
			continue
		}
		if b, ok := convertTo(v, cty.Bool); !ok || b.IsNull() {
			l.error("UF2110", cond.place, "condition needs true or false, not %s.", describeType(v))
		} else if b.False() {
			l.invalidValue(d, s, cond, msg)
		}
	}
}

func (l *loader) invalidValue(d *variableDef, s *scope, cond, msg *argument) {
	text := "the value is not allowed."
	v, ds := s.eval(msg.expression)
	if ds.HasErrors() {
		l.discreetly(d.sensitive, ds, msg.place)
	}
	if out, ok := convertTo(plain(v), cty.String); ok && !ds.HasErrors() && out.IsKnown() && !out.IsNull() && !isSecret(v) {
		text = out.AsString()
	}
	n := l.error("UF9004", cond.place, "var.%s: %s", d.node.name, text)
	n.because("The value was set by %s.", d.origin)
	n.also(d.node.label, "the variable is declared here")
	if strings.HasPrefix(d.origin, "preset ") {
		n.also(d.place, "the value is set here")
	}
}

// validationNames lets a validation refer to its own variable alone.
func (l *loader) validationNames(d *variableDef, a *argument) bool {
	for i := range a.uses {
		u := &a.uses[i]
		if u.root != "var" || u.name != d.node.name {
			l.error("UF2007", u.place, "A validation may refer to var.%s alone.", d.node.name).
				also(d.node.label, "the variable is declared here")
			return false
		}
	}
	l.checkNames(a.expression, sitePlan)
	l.checkTypes(a.expression, &checker{})
	return !a.broken
}

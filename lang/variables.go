package lang

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// envPrefix starts the environment variables that set variables.
const envPrefix = "UF_VAR_"

// variableDef is a declared variable while its value is found.
type variableDef struct {
	node      *node
	typ       cty.Type
	defaults  *typeexpr.Defaults
	sensitive bool
	nullable  bool
	broken    bool
	value     cty.Value // NilVal until something sets it
	origin    string
	place     hcl.Range // of what set it
}

// loadVariables decides the value of every variable: default < preset < environment < command line.
func (l *loader) loadVariables() {
	defs := map[string]*variableDef{}
	var order []*variableDef
	for _, n := range l.decl.kinds["variable"].list {
		d := l.readVariable(n)
		defs[n.name] = d
		order = append(order, d)
	}
	l.applyPreset(defs)
	l.applyEnviron(defs)
	l.applyInputs(defs)
	values := map[string]cty.Value{}
	for _, d := range order {
		values[d.node.name] = l.finishVariable(d)
	}
	l.ev.variables = cty.ObjectVal(values)
	for _, d := range order {
		l.validate(d)
		l.c.Variables = append(l.c.Variables, d.plainData())
	}
	l.tryPresets(defs)
}

func (l *loader) readVariable(n *node) *variableDef {
	s := &scope{ev: l.ev}
	d := &variableDef{
		node: n, typ: cty.DynamicPseudoType,
		sensitive: l.wantBool(s, l.literal(n, "sensitive"), false),
		nullable:  l.wantBool(s, l.literal(n, "nullable"), true),
	}
	if a := n.arg("type"); a != nil {
		t, defaults, ds := typeexpr.TypeConstraintWithDefaults(a.syntax)
		for _, e := range ds {
			summary, _ := sentence(e)
			l.error("UF9003", subjectOf(e, a.place), "%s", summary)
			d.broken = true
		}
		if !ds.HasErrors() {
			d.typ, d.defaults = t, defaults
		}
	}
	if a := n.arg("default"); a != nil {
		l.readDefault(d, a)
	}
	return d
}

func (l *loader) readDefault(d *variableDef, a *argument) {
	if len(a.uses) > 0 || len(a.calls) > 0 {
		var place hcl.Range
		if len(a.uses) > 0 {
			place = a.uses[0].place
		} else {
			place = a.calls[0].place
		}
		l.error("UF9005", place, "Variables may not refer to anything: the default of %q must be constant.", d.node.name)
		d.broken = true
		return
	}
	v, ds := (&scope{ev: l.ev}).eval(a.expression)
	if ds.HasErrors() {
		l.evalProblems(ds, a.place)
		d.broken = true
		return
	}
	l.assign(d, v, "default", a.place)
}

// assign converts v to the variable's type and takes it.
func (l *loader) assign(d *variableDef, v cty.Value, origin string, place hcl.Range) {
	if d.broken {
		return
	}
	if v.IsNull() && !d.nullable {
		l.error("UF9003", place, "var.%s: null is not allowed, since nullable is false.", d.node.name)
		d.broken = true
		return
	}
	if path, name, known := dropped(v, d.typ); name != "" {
		n := l.error("UF9003", place, "var.%s: %s has no %q.%s", d.node.name, cmp.Or(path, "it"), name, didYouMean(name, known))
		n.because("It was set by %s.", origin).also(d.node.label, "the variable is declared here").hint("It takes %s.", orList(known))
		d.broken = true
		return
	}
	if d.defaults != nil && !v.IsNull() {
		v = d.defaults.Apply(v)
	}
	out, err := convert.Convert(v, d.typ)
	if err != nil {
		n := l.error("UF9003", place, "var.%s: %s.", d.node.name, conversionError(err)).
			because("It was set by %s.", origin).also(d.node.label, "the variable is declared here")
		if d.typ == cty.Bool {
			n.hint("Write true or false.")
		}
		d.broken = true
		return
	}
	d.value, d.origin, d.place = out, origin, place
}

// conversionError says where in a value the wrong type is.
func conversionError(err error) string {
	if pe, ok := err.(cty.PathError); ok && len(pe.Path) > 0 {
		return fmt.Sprintf("%s: %s", pathText(pe.Path), pe.Error())
	}
	return err.Error()
}

func pathText(p cty.Path) string {
	var b strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case cty.GetAttrStep:
			b.WriteString("." + s.Name)
		case cty.IndexStep:
			if s.Key.Type() == cty.String {
				fmt.Fprintf(&b, "[%q]", s.Key.AsString())
			} else if s.Key.Type() == cty.Number {
				fmt.Fprintf(&b, "[%s]", s.Key.AsBigFloat().Text('f', 0))
			}
		}
	}
	return b.String()
}

// finishVariable returns the value expressions see.
func (l *loader) finishVariable(d *variableDef) cty.Value {
	v := d.value
	l.ev.sensitive[d.node.name] = d.sensitive
	switch {
	case d.broken:
		return cty.DynamicVal
	case v == cty.NilVal && l.opts.RequireValues:
		l.error("UF9002", d.node.label, "The variable %q has no value.", d.node.name).
			hint("Set it with --var %s=…, a --var-file, or %s%s.", d.node.name, envPrefix, d.node.name)
		return cty.DynamicVal
	case v == cty.NilVal:
		v = cty.UnknownVal(d.typ.WithoutOptionalAttributesDeep())
	}
	if d.sensitive {
		v = v.Mark(secretMark{})
	}
	return v
}

// plainData describes the variable for people.
func (d *variableDef) plainData() *Variable {
	v := &Variable{Name: d.node.name, Sensitive: d.sensitive, Nullable: d.nullable, Range: at(d.node.header), Type: "any"}
	if d.node.arg("type") != nil {
		v.Type = typeexpr.TypeString(d.typ)
	}
	if a := d.node.arg("description"); a != nil && a.constant != cty.NilVal && a.constant.Type() == cty.String {
		v.Description = a.constant.AsString()
	}
	if d.value != cty.NilVal && !d.broken {
		v.Origin = d.origin
		v.Value = "(sensitive)"
		if !d.sensitive {
			v.Value = valueText(d.value)
		}
	}
	return v
}

// valueText prints a known value as the language writes it.
func valueText(v cty.Value) string {
	if !v.IsWhollyKnown() {
		return ""
	}
	return string(hclwrite.TokensForValue(v).Bytes())
}

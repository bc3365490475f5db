package lang

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
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
		place := a.place
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
	if d.defaults != nil && !v.IsNull() {
		v = d.defaults.Apply(v)
	}
	out, err := convert.Convert(v, d.typ)
	if err != nil {
		l.error("UF9003", place, "var.%s: %s.", d.node.name, conversionError(err)).
			because("It was set by %s.", origin).also(d.node.label, "the variable is declared here")
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

func (l *loader) applyPreset(defs map[string]*variableDef) {
	for _, n := range l.decl.kinds["preset"].list {
		for _, a := range n.args {
			if d, ok := l.presetValue(defs, n, a); ok && n.name == l.opts.Preset {
				v, ds := (&scope{ev: l.ev}).eval(a.expression)
				l.evalProblems(ds, a.place)
				if !ds.HasErrors() {
					l.assign(d, v, "preset "+n.name, a.place)
				}
			}
		}
	}
	if p := l.opts.Preset; p != "" && l.decl.kinds["preset"].byName[p] == nil {
		l.error("UF9001", hcl.Range{}, "--preset %s: there is no preset of this name.%s", p,
			didYouMean(p, l.decl.kinds["preset"].names()))
	}
}

// presetValue checks one argument of a preset, chosen or not.
func (l *loader) presetValue(defs map[string]*variableDef, n *node, a *argument) (*variableDef, bool) {
	d, ok := defs[a.name]
	switch {
	case !ok:
		l.error("UF9001", a.nameRange, "No variable named %q is declared.", a.name).
			meant(a.nameRange, a.name, l.decl.kinds["variable"].names())
		return nil, false
	case len(a.uses) > 0:
		l.error("UF9005", a.uses[0].place, "Variables may not refer to anything: the value in preset %q must be constant.", n.name)
		return nil, false
	}
	return d, true
}

func didYouMean(name string, candidates []string) string {
	if s := suggest(name, candidates); s != "" {
		return fmt.Sprintf(" Did you mean %q?", s)
	}
	return ""
}

func (l *loader) applyEnviron(defs map[string]*variableDef) {
	for _, kv := range l.opts.Environ {
		name, ok := strings.CutPrefix(kv, envPrefix)
		if !ok {
			continue
		}
		name, value, _ := strings.Cut(name, "=")
		d, ok := defs[name]
		if !ok {
			l.warn("UF9007", hcl.Range{}, "%s%s: no variable named %q is declared.%s", envPrefix, name, name,
				didYouMean(name, l.decl.kinds["variable"].names()))
			continue
		}
		l.assignText(d, value, envPrefix+name, hcl.Range{})
	}
}

func (l *loader) applyInputs(defs map[string]*variableDef) {
	for _, in := range l.opts.Vars {
		place := originRange(in.Origin)
		d, ok := defs[in.Name]
		if !ok {
			l.error("UF9001", place, "%s: no variable named %q is declared.%s", in.Origin, in.Name,
				didYouMean(in.Name, l.decl.kinds["variable"].names()))
			continue
		}
		if place.Filename == "" {
			l.assignText(d, in.Value, in.Origin, place)
			continue
		}
		l.assignExpression(d, in.Value, in.Origin, place)
	}
}

// originRange returns the line of a variable file that "file.hcl:3" names; no file for "--var".
func originRange(origin string) hcl.Range {
	i := strings.LastIndexByte(origin, ':')
	if i < 0 {
		return hcl.Range{}
	}
	line, err := strconv.Atoi(origin[i+1:])
	if err != nil {
		return hcl.Range{}
	}
	pos := hcl.Pos{Line: line, Column: 1}
	return hcl.Range{Filename: origin[:i], Start: pos, End: pos}
}

// assignText reads command-line text as the declared type says: a string is taken as it is, anything
// else is a literal of the language.
func (l *loader) assignText(d *variableDef, text, origin string, place hcl.Range) {
	if d.typ == cty.String || d.typ == cty.DynamicPseudoType && !looksComposite(text) {
		l.assign(d, cty.StringVal(text), origin, place)
		return
	}
	if d.typ.IsPrimitiveType() {
		l.assign(d, cty.StringVal(strings.TrimSpace(text)), origin, place)
		return
	}
	l.assignExpression(d, text, origin, place)
}

func looksComposite(text string) bool {
	t := strings.TrimSpace(text)
	return strings.HasPrefix(t, "[") || strings.HasPrefix(t, "{")
}

func (l *loader) assignExpression(d *variableDef, text, origin string, place hcl.Range) {
	v, problem := constantFrom(text)
	if problem != "" {
		l.error("UF9003", place, "var.%s: %s", d.node.name, problem).because("It was set by %s.", origin).
			also(d.node.label, "the variable is declared here")
		d.broken = true
		return
	}
	l.assign(d, v, origin, place)
}

// constantFrom reads text as a constant expression; problem is a sentence when it is none.
func constantFrom(text string) (v cty.Value, problem string) {
	if _, depth := tooDeep([]byte(text), "value"); depth > 0 {
		return cty.NilVal, "the value is nested too deeply."
	}
	x, ds := hclsyntax.ParseExpression([]byte(text), "value", hcl.InitialPos)
	if ds.HasErrors() {
		summary, _ := sentence(ds[0])
		return cty.NilVal, "the value is not a literal of the language: " + summary
	}
	if len(x.Variables()) > 0 {
		return cty.NilVal, "the value must be constant; put quotes around text."
	}
	v, ds = x.Value(&hcl.EvalContext{})
	if ds.HasErrors() {
		summary, _ := sentence(ds[0])
		return cty.NilVal, summary
	}
	return v, ""
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
		l.evalProblems(ds, cond.place)
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
	l.evalProblems(ds, msg.place)
	if out, ok := convertTo(plain(v), cty.String); ok && !ds.HasErrors() && out.IsKnown() && !out.IsNull() && !isSecret(v) {
		text = out.AsString()
	}
	n := l.error("UF9004", cond.place, "var.%s: %s", d.node.name, text)
	n.because("The value was set by %s.", d.origin)
	n.also(d.node.label, "the variable is declared here")
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

// ParseVarFile reads a file of variable values: arguments without blocks. Values are the text of their
// expressions.
func ParseVarFile(name string, src []byte) ([]VarInput, Diagnostics) {
	var p problems
	f := &parsedFile{name: name}
	whole := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
	if f.acceptable(src, whole) {
		f.parseNative(src, whole)
	}
	for _, d := range f.probs.list {
		p.add(*d)
	}
	if f.body == nil {
		return nil, p.all()
	}
	for _, b := range f.body.Blocks {
		p.error("UF1102", b.TypeRange, "Blocks are not expected in a variable file.")
	}
	var in []VarInput
	for _, a := range sortedAttributes(f.body) {
		r := a.Expr.Range()
		in = append(in, VarInput{
			Name:   a.Name,
			Value:  string(r.SliceBytes(src)),
			Origin: fmt.Sprintf("%s:%d", name, a.NameRange.Start.Line),
		})
	}
	return in, p.all()
}

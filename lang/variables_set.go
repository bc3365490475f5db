package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

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
			didYouMean(p, l.decl.kinds["preset"].names())).hint("%s", declared("preset", p, l.decl.kinds["preset"].names()))
	}
}

// tryPresets holds the values of presets that are not chosen to the types and rules of their variables,
// so that choosing one later brings no surprise.
func (l *loader) tryPresets(defs map[string]*variableDef) {
	for _, n := range l.decl.kinds["preset"].list {
		if n.name == l.opts.Preset {
			continue
		}
		for _, a := range n.args {
			if d := defs[a.name]; d != nil && len(a.uses) == 0 {
				l.tryPreset(d, n, a)
			}
		}
	}
}

func (l *loader) tryPreset(d *variableDef, n *node, a *argument) {
	v, ds := (&scope{ev: l.ev}).eval(a.expression)
	if ds.HasErrors() || d.broken {
		l.evalProblems(ds, a.place)
		return
	}
	trial := *d
	l.assign(&trial, v, "preset "+n.name, a.place)
	if trial.broken {
		return
	}
	chosen := l.ev.variables
	values := chosen.AsValueMap()
	values[d.node.name] = trial.value
	if d.sensitive {
		values[d.node.name] = trial.value.Mark(secretMark{})
	}
	l.ev.variables = cty.ObjectVal(values)
	l.validate(&trial)
	l.ev.variables = chosen
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
	if s := Suggest(name, candidates); s != "" {
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
		d, ok := defs[in.Name]
		if !ok {
			said := "No"
			if in.At.File == "" {
				said = in.Origin + ": no"
			}
			l.error("UF9001", in.At.hcl(), "%s variable named %q is declared.%s", said, in.Name,
				didYouMean(in.Name, l.decl.kinds["variable"].names())).hint("%s", declared("variable", in.Name, l.decl.kinds["variable"].names()))
			continue
		}
		if in.At.File == "" {
			l.assignText(d, in.Value, in.Origin, hcl.Range{})
			continue
		}
		l.assignExpression(d, in.Value, in.Origin, in.ValueAt.hcl())
	}
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
		if d.sensitive {
			problem = "the value is not a literal of the language."
		}
		e := l.error("UF9003", place, "var.%s: %s", d.node.name, problem).because("It was set by %s.", origin).
			also(d.node.label, "the variable is declared here")
		if form := exampleOf(d.typ); form != "" && place.Filename == "" {
			e.hint("It is of type %s; in a shell write it as in '%s=%s'", typeexpr.TypeString(d.typ), d.node.name, form)
		}
		d.broken = true
		return
	}
	l.assign(d, v, origin, place)
}

// exampleOf shows how a value of a collection type is written; empty for other types.
func exampleOf(t cty.Type) string {
	switch {
	case t.IsListType(), t.IsSetType(), t.IsTupleType():
		if t.IsTupleType() || t.ElementType() != cty.Number {
			return `["a", "b"]`
		}
		return "[1, 2]"
	case t.IsMapType(), t.IsObjectType():
		return `{ a = "b" }`
	}
	return ""
}

// constantFrom reads text as a constant expression; problem is a sentence when it is none.
func constantFrom(text string) (v cty.Value, problem string) {
	if _, depth := tooDeep([]byte(text), "value"); depth > 0 {
		return cty.NilVal, "the value is nested too deeply."
	}
	x, ds := hclsyntax.ParseExpression([]byte(text+"\n"), "value", hcl.InitialPos) // a heredoc ends with its line
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

// declared says which blocks of a kind there are to choose from, unless one of them is likely to be meant.
func declared(kind, name string, names []string) string {
	switch {
	case Suggest(name, names) != "":
		return ""
	case len(names) == 0:
		return "The campaign declares no " + kind + "."
	}
	return "The campaign declares " + strings.Join(names, ", ") + "."
}

package lang

import (
	"math/big"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

// sourceMark says where a late value comes from. Every leaf of a dependency's value carries one;
// containers carry none, so that what a for expression leaves out does not count as used.
type sourceMark struct {
	from      Address
	output    string // "" for the directory of all outputs, and for status and ok
	reference string // name of the reference, when it is no output
	path      bool   // the path of an output: its bytes flow. Else a value: it counts as the text it renders to
}

// kindMark tells a reference to a declaration from any other object that has a name.
type kindMark string

// secretMark is on everything that was made from a sensitive variable.
type secretMark struct{}

// isSecret reports whether a secret is anywhere in v.
func isSecret(v cty.Value) bool {
	if v == cty.NilVal {
		return false
	}
	if v.HasMark(secretMark{}) {
		return true
	}
	if !v.ContainsMarked() {
		return false
	}
	_, paths := v.UnmarkDeepWithPaths()
	for _, p := range paths {
		if _, ok := p.Marks[secretMark{}]; ok {
			return true
		}
	}
	return false
}

// plain returns v without marks.
func plain(v cty.Value) cty.Value {
	if !v.ContainsMarked() {
		return v
	}
	v, _ = v.UnmarkDeep()
	return v
}

// convertTo converts v; false when it has no conversion to t.
func convertTo(v cty.Value, t cty.Type) (cty.Value, bool) {
	if v.Type().Equals(t) {
		return v, true
	}
	out, err := convert.Convert(v, t)
	return out, err == nil
}

// describeType says what a value is, for people.
func describeType(v cty.Value) string {
	if v.IsNull() && v.Type() == cty.DynamicPseudoType {
		return "null"
	}
	switch t := v.Type(); {
	case t.IsTupleType():
		return "a list"
	case t.IsObjectType():
		return "an object"
	default:
		return withArticle(t)
	}
}

// planTime evaluates an argument that must be known before anything runs. It reports problems and
// returns false when there is no value to go on with.
func (l *loader) planTime(s *scope, a *argument) (cty.Value, bool) {
	if a.constant != cty.NilVal {
		return a.constant, true
	}
	if a.broken || !l.known(a.name, a.expression) || !l.noSecret(a) {
		return cty.NilVal, false
	}
	v, ds := s.eval(a.expression)
	if ds.HasErrors() {
		l.evalProblems(ds, a.place)
		return cty.NilVal, false
	}
	if !a.usesRoot(instanceRoots...) {
		a.constant = v // it is the same for every instance
	}
	return v, true
}

// discreetly reports problems of an evaluation; those of a secret without a word of its value.
func (l *loader) discreetly(secret bool, ds hcl.Diagnostics, where hcl.Range) {
	if secret {
		l.error("UF2202", where, "This fails on the value of a sensitive variable.").because("What exactly is wrong would print it.")
		return
	}
	l.evalProblems(ds, where)
}

// known reports an argument whose value comes from a task.
func (l *loader) known(name string, x *expression) bool {
	src, ok := l.lateSource(x)
	if !ok {
		return true
	}
	l.error("UF4301", src.place, "%s must be known before the run starts, but it depends on %s.", name, src.label())
	return false
}

// wanted evaluates a plan-time argument and converts it; what says what the type is, as in "a number".
func (l *loader) wanted(s *scope, a *argument, t cty.Type, what string) (cty.Value, bool) {
	if a == nil {
		return cty.NilVal, false
	}
	v, ok := l.planTime(s, a)
	if !ok {
		return cty.NilVal, false
	}
	v = plain(v)
	if !v.IsWhollyKnown() {
		return cty.NilVal, false
	}
	if v.IsNull() {
		if a.spec != nil && (a.spec.Required || a.spec.Filled) {
			l.error("UF1103", a.place, "The argument %q must not be null.", a.name)
		}
		return cty.NilVal, false // null takes the default
	}
	if path, name, known := dropped(v, t); name != "" {
		n := l.error("UF2110", a.place, "%s has no %q.%s", a.name+path, name, didYouMean(name, known)).hint("It takes %s.", orList(known))
		if where := keyRange(a.expression, name); path == "" && where != a.place {
			r := at(where)
			n.Subject = &r
		}
		return cty.NilVal, false
	}
	out, ok := convertTo(v, t)
	if !ok || !out.IsWhollyKnown() {
		n := l.error("UF2110", a.place, "%s needs %s, not %s.", a.name, what, describeType(v))
		if b, ok := l.ev.src.source(a.place.Filename); ok && t.Equals(cty.List(cty.String)) && v.Type() == cty.String {
			n.fixed(a.place, "["+string(a.place.SliceBytes(b))+"]")
		}
		return cty.NilVal, false
	}
	return out, true
}

// dropped finds an attribute that a conversion of v to t would drop, and the path to it; "" when there is none.
func dropped(v cty.Value, t cty.Type) (path, name string, known []string) {
	if v, _ = v.Unmark(); v.IsNull() || !v.IsKnown() || !v.CanIterateElements() {
		return "", "", nil
	}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		of := t
		switch {
		case t.IsObjectType() && k.Type() == cty.String:
			if !t.HasAttribute(k.AsString()) {
				return "", k.AsString(), sortedKeys(t.AttributeTypes())
			}
			of = t.AttributeType(k.AsString())
		case t.IsCollectionType():
			of = t.ElementType()
		default:
			return "", "", nil
		}
		if path, name, known = dropped(e, of); name != "" {
			return pathText(cty.Path{cty.IndexStep{Key: k}}) + path, name, known
		}
	}
	return "", "", nil
}

// wantString and its siblings return the zero value when the argument is not set or not good.
func (l *loader) wantString(s *scope, a *argument) string {
	v, ok := l.wanted(s, a, cty.String, "a string")
	if !ok {
		return ""
	}
	text := v.AsString()
	if a.spec != nil && text == "" && (a.spec.Required || a.spec.Filled) {
		l.empty(a)
	}
	return text
}

// empty reports an argument that says nothing where it has to.
func (l *loader) empty(a *argument) *Diagnostic {
	return l.error("UF1103", a.place, "The argument %q must not be empty.", a.name)
}

func (l *loader) wantBool(s *scope, a *argument, fallback bool) bool {
	v, ok := l.wanted(s, a, cty.Bool, "true or false")
	if !ok {
		return fallback
	}
	return v.True()
}

// wantInt returns a whole number; code is for one that is none or out of the range from low to high.
func (l *loader) wantInt(s *scope, a *argument, fallback, low, high int64, code string) int64 {
	v, ok := l.wanted(s, a, cty.Number, "a number")
	if !ok {
		return fallback
	}
	f := v.AsBigFloat()
	n, _ := f.Int64()
	if !f.IsInt() || n < low || n > high {
		l.error(code, a.place, "%s is %s; it must be a whole number between %d and %d.", a.name, f.Text('g', 12), low, high)
		return fallback
	}
	return n
}

// wantNumber returns a number, nil when it is not set.
func (l *loader) wantNumber(s *scope, a *argument) *big.Float {
	v, ok := l.wanted(s, a, cty.Number, "a number")
	if !ok {
		return nil
	}
	return v.AsBigFloat()
}

var stringList = cty.List(cty.String)

// wantStrings returns the elements of a list of strings; [elementRange] is where each of them stands.
func (l *loader) wantStrings(s *scope, a *argument) []string {
	if a != nil && len(a.texts) > 0 {
		return slices.Clone(a.texts)
	}
	v, ok := l.wanted(s, a, stringList, "a list of strings")
	if !ok {
		return nil
	}
	if a.spec != nil && a.spec.Filled && v.LengthInt() == 0 {
		l.empty(a)
	}
	list := make([]string, 0, v.LengthInt())
	for it := v.ElementIterator(); it.Next(); {
		_, e := it.Element()
		if e.IsNull() {
			l.error("UF2110", a.place, "%s holds null; every element must be a string.", a.name)
			return nil
		}
		list = append(list, e.AsString())
	}
	return list
}

func (l *loader) wantStringMap(s *scope, a *argument) map[string]string {
	v, ok := l.wanted(s, a, cty.Map(cty.String), "a map of strings")
	if !ok {
		return nil
	}
	m := map[string]string{}
	for it := v.ElementIterator(); it.Next(); {
		k, e := it.Element()
		if !e.IsNull() {
			m[k.AsString()] = e.AsString()
		}
	}
	return m
}

// wantEnum returns one of a few words; the first is the fallback.
func (l *loader) wantEnum(s *scope, a *argument, code string, words ...string) string {
	v, ok := l.wanted(s, a, cty.String, "a string")
	if !ok {
		return words[0]
	}
	got := v.AsString()
	for _, w := range words {
		if w == got {
			return got
		}
	}
	l.error(code, a.place, "%s is %q; it must be %s.", a.name, got, orList(words)).meantIn(a.syntax, got, words)
	return words[0]
}

// quoted returns the range of the text between the quotes of a string that is written out without escapes; false for
// anything else, such as a variable that holds the text.
func quoted(e hclsyntax.Expression) (hcl.Range, bool) {
	v, ok := literalValue(e)
	if !ok || v.IsNull() || v.Type() != cty.String {
		return hcl.Range{}, false
	}
	r := withoutQuotes(e.Range(), v.AsString())
	return r, r != e.Range()
}

// withoutQuotes narrows the range of a text in quotes to the text; where it is spelt with escapes, or has no quotes, the
// range stays as it is.
func withoutQuotes(r hcl.Range, text string) hcl.Range {
	if r.End.Byte-r.Start.Byte == len(text)+2 {
		r.Start.Byte++
		r.Start.Column++
		r.End.Byte--
		r.End.Column--
	}
	return r
}

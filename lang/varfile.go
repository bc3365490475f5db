package lang

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// ParseVarFile reads a file of variable values: arguments without blocks, or one object where the name ends in .json. Values are the
// text of their expressions; those of JSON are what they say, without templates.
func ParseVarFile(name string, src []byte) ([]VarInput, Diagnostics) {
	var p problems
	f := &parsedFile{name: name}
	whole := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
	var in []VarInput
	if f.acceptable(src, whole) {
		if strings.HasSuffix(name, ".json") {
			in = f.valuesOfJSON(src, whole)
		} else {
			in = f.valuesOf(src, whole)
		}
	}
	for _, d := range f.probs.list {
		p.add(*d)
	}
	return in, p.all()
}

func (f *parsedFile) valuesOf(src []byte, whole hcl.Range) (in []VarInput) {
	f.parseNative(src, whole, nil)
	if f.body == nil {
		return nil
	}
	for _, b := range f.body.Blocks {
		f.probs.error("UF1102", b.TypeRange, "Blocks are not expected in a variable file.")
	}
	for _, a := range sortedAttributes(f.body) {
		in = append(in, f.varInput(a.Name, string(a.Expr.Range().SliceBytes(src)), a.NameRange, a.Expr.Range()))
	}
	return in
}

func (f *parsedFile) valuesOfJSON(src []byte, whole hcl.Range) (in []VarInput) {
	defer f.probs.recovered(whole)
	r := jsonReader{f.name, src, &f.probs}
	body := r.parse(whole)
	if body == nil {
		return nil
	}
	args, ds := body.JustAttributes()
	r.report(ds)
	for name, a := range args {
		if name == "//" {
			continue // a comment
		}
		place := withoutQuotes(a.NameRange, name)
		if !hclsyntax.ValidIdentifier(name) {
			f.probs.error("UF1006", place, "%q cannot be the name of a variable.", name)
			continue
		}
		v, ds := a.Expr.Value(nil)
		r.report(ds)
		if !ds.HasErrors() {
			in = append(in, f.varInput(name, valueText(v), place, a.Expr.Range()))
		}
	}
	slices.SortFunc(in, func(a, b VarInput) int { return cmp.Compare(a.At.Start.Byte, b.At.Start.Byte) })
	return in
}

func (f *parsedFile) varInput(name, value string, place, valuePlace hcl.Range) VarInput {
	return VarInput{
		Name: name, Value: value, Origin: fmt.Sprintf("%s:%d", f.name, place.Start.Line),
		At: at(place), ValueAt: at(valuePlace),
	}
}

package lang

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// ParseVarFile reads a file of variable values: arguments without blocks. Values are the text of their
// expressions.
func ParseVarFile(name string, src []byte) ([]VarInput, Diagnostics) {
	var p problems
	f := &parsedFile{name: name}
	whole := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
	if f.acceptable(src, whole) {
		f.parseNative(src, whole, nil)
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

package lang

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/customdecode"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// tryFunc and canFunc are HCL's, but keep marks on unknown results: a late value that went through
// try is still known to be late, and a secret is still a secret.
var tryFunc = function.New(&function.Spec{
	VarParam: &function.Parameter{Name: "expressions", Type: customdecode.ExpressionClosureType},
	Type: func(args []cty.Value) (cty.Type, error) {
		v, err := firstValue(args)
		if err != nil {
			return cty.NilType, err
		}
		return v.Type(), nil
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return firstValue(args) },
})

var canFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "expression", Type: customdecode.ExpressionClosureType}},
	Type:   function.StaticReturnType(cty.Bool),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, diags := customdecode.ExpressionClosureFromVal(args[0]).Value()
		if diags.HasErrors() {
			return cty.False, nil
		}
		if !v.IsWhollyKnown() {
			return cty.UnknownVal(cty.Bool).WithMarks(deepMarks(v)), nil
		}
		return cty.True, nil
	},
})

// firstValue evaluates expressions in turn and returns the first value. A value with unknown parts
// may still fail once it is known, and then another type would come out: it is wholly unknown.
func firstValue(args []cty.Value) (cty.Value, error) {
	if len(args) == 0 {
		return cty.NilVal, errors.New("try needs at least one expression")
	}
	var failed hcl.Diagnostics
	for _, arg := range args {
		v, diags := customdecode.ExpressionClosureFromVal(arg).Value()
		if diags.HasErrors() {
			failed = append(failed, diags...)
			continue
		}
		if !v.IsWhollyKnown() {
			return cty.DynamicVal.WithMarks(deepMarks(v)), nil
		}
		return v, nil
	}
	return cty.NilVal, noValueError(failed)
}

// noValueError lists why each expression failed.
func noValueError(failed hcl.Diagnostics) error {
	var b strings.Builder
	b.WriteString("none of the expressions has a value:")
	for _, d := range failed {
		if d.Severity == hcl.DiagError {
			fmt.Fprintf(&b, " %s: %s", strings.TrimSuffix(d.Summary, "."), d.Detail)
		}
	}
	return errors.New(b.String())
}

// deepMarks returns the marks of a value and of everything in it.
func deepMarks(v cty.Value) cty.ValueMarks {
	_, marks := v.UnmarkDeep()
	return marks
}

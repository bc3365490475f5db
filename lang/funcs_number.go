package lang

import (
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// allTrueFunc and anyTrueFunc stop at the element that decides, known or not.
var (
	allTrueFunc = boolFoldFunc(cty.True, cty.Value.And)
	anyTrueFunc = boolFoldFunc(cty.False, cty.Value.Or)
)

// boolFoldFunc makes a function that combines the elements of a list of bools. Null is false.
func boolFoldFunc(start cty.Value, combine func(a, b cty.Value) cty.Value) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Bool)}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			result := start
			for it := args[0].ElementIterator(); it.Next(); {
				_, v := it.Element()
				if v.IsNull() {
					v = cty.False
				}
				result = combine(result, v)
			}
			return result, nil
		},
	})
}

// sumFunc adds up a list of numbers. Unlike Terraform's, the sum of nothing is 0: a list that a task
// wrote may well be empty.
var sumFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "list", Type: cty.List(cty.Number)}},
	Type:   function.StaticReturnType(cty.Number),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		total := cty.Zero
		for it := args[0].ElementIterator(); it.Next(); {
			_, v := it.Element()
			if v.IsNull() {
				return cty.NilVal, function.NewArgErrorf(0, "an element is null")
			}
			total = total.Add(v)
		}
		return total, nil
	},
})

package lang

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// dynamic is a parameter that takes anything but null.
func dynamic(name string) function.Parameter {
	return function.Parameter{Name: name, Type: cty.DynamicPseudoType, AllowDynamicType: true}
}

// isSequence reports whether t is a list, set or tuple.
func isSequence(t cty.Type) bool { return t.IsListType() || t.IsSetType() || t.IsTupleType() }

// needSequence returns an error when t is known not to be a list, set or tuple.
func needSequence(arg int, t cty.Type) error {
	if t == cty.DynamicPseudoType || isSequence(t) {
		return nil
	}
	return function.NewArgErrorf(arg, "a list, set or tuple is required, not %s", withArticle(t))
}

// withArticle names a type as a noun: "a string", "an object".
func withArticle(t cty.Type) string {
	name := t.FriendlyName()
	if name == "object" {
		return "an object"
	}
	words := strings.Split(name, " of ")
	for i, w := range words[1:] {
		words[i+1] = w + "s"
	}
	return "a " + strings.Join(words, " of ")
}

// lengthFunc counts characters of texts too. Only the container's own marks reach the result:
// how many elements there are says nothing of what is in them.
var lengthFunc = function.New(&function.Spec{
	Params: []function.Parameter{{
		Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true, AllowUnknown: true, AllowMarked: true,
	}},
	Type: func(args []cty.Value) (cty.Type, error) {
		t := args[0].Type()
		if t == cty.DynamicPseudoType || t == cty.String || isSequence(t) || t.IsMapType() || t.IsObjectType() {
			return cty.Number, nil
		}
		return cty.NilType, function.NewArgErrorf(0, "a list, set, map or text is required, not %s", withArticle(t))
	},
	RefineResult: func(b *cty.RefinementBuilder) *cty.RefinementBuilder { return b.NotNull() },
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, marks := args[0].Unmark()
		t := v.Type()
		switch {
		case t == cty.String:
			n, err := stdlib.Strlen(v)
			return n.WithMarks(marks), err
		case t.IsObjectType():
			return cty.NumberIntVal(int64(len(t.AttributeTypes()))).WithMarks(marks), nil
		}
		return v.Length().WithMarks(marks), nil
	},
})

// indexFunc is Terraform's index(list, value), not cty's element access.
var indexFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		dynamic("list"),
		{Name: "value", Type: cty.DynamicPseudoType, AllowDynamicType: true, AllowNull: true},
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		t := args[0].Type()
		if t == cty.DynamicPseudoType || t.IsListType() || t.IsTupleType() {
			return cty.Number, nil
		}
		return cty.NilType, function.NewArgErrorf(0, "a list is required, not %s: only lists have positions", withArticle(t))
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		for it := args[0].ElementIterator(); it.Next(); {
			i, v := it.Element()
			eq, err := stdlib.Equal(v, args[1])
			if err != nil {
				return cty.NilVal, err
			}
			if !eq.IsKnown() {
				return cty.UnknownVal(cty.Number), nil
			}
			if eq.True() {
				return i, nil
			}
		}
		return cty.NilVal, function.NewArgErrorf(1, "%s is not in the list", describeValue(args[1]))
	},
})

// describeValue prints a text, number or bool, and names the type of anything else.
func describeValue(v cty.Value) string {
	if v.IsNull() {
		return "null"
	}
	if v.IsKnown() && v.Type().IsPrimitiveType() {
		if s, err := convert.Convert(v, cty.String); err == nil {
			return fmt.Sprintf("%q", clip(s.AsString(), 60))
		}
	}
	return "the " + v.Type().FriendlyName()
}

// coalesceFunc is Terraform's: empty texts are passed over like null.
var coalesceFunc = function.New(&function.Spec{
	VarParam: &function.Parameter{
		Name: "values", Type: cty.DynamicPseudoType,
		AllowUnknown: true, AllowDynamicType: true, AllowNull: true, AllowMarked: true,
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		var types []cty.Type
		for _, v := range args {
			if v.IsNull() && v.Type() == cty.DynamicPseudoType {
				continue // a plain null fits every type
			}
			types = append(types, v.Type())
		}
		return commonType(types)
	},
	Impl: func(args []cty.Value, want cty.Type) (cty.Value, error) {
		marks := make(cty.ValueMarks)
		for _, arg := range args {
			v, own := arg.Unmark()
			for m := range own {
				marks[m] = struct{}{}
			}
			if v.IsNull() {
				continue
			}
			if !v.IsKnown() {
				return cty.UnknownVal(want).WithMarks(marks), nil
			}
			if v.Type() == cty.String && v.AsString() == "" {
				continue
			}
			converted, err := convert.Convert(v, want)
			return converted.WithMarks(marks), err
		}
		return cty.NilVal, errors.New("every value is null or an empty text")
	},
})

// commonType returns the type that all types convert to.
func commonType(types []cty.Type) (cty.Type, error) {
	if len(types) == 0 {
		return cty.DynamicPseudoType, nil
	}
	t, _ := convert.UnifyUnsafe(types)
	if t != cty.NilType {
		return t, nil
	}
	for i, other := range types[1:] {
		if two, _ := convert.UnifyUnsafe([]cty.Type{types[0], other}); two == cty.NilType {
			return cty.NilType, function.NewArgErrorf(i+1, "all values must have one type, but the first is %s and this is %s",
				withArticle(types[0]), withArticle(other))
		}
	}
	return cty.NilType, errors.New("all values must have one type")
}

// flattenFunc says what it got when it is not a list.
var flattenFunc = function.New(&function.Spec{
	Params: stdlib.FlattenFunc.Params(),
	Type: func(args []cty.Value) (cty.Type, error) {
		v, _ := args[0].UnmarkDeep()
		if err := needSequence(0, v.Type()); err != nil {
			return cty.NilType, err
		}
		return stdlib.FlattenFunc.ReturnTypeForValues(args)
	},
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) { return stdlib.FlattenFunc.Call(args) },
})

// oneFunc is Terraform's: null for no element, an error for several.
var oneFunc = function.New(&function.Spec{
	Params: []function.Parameter{dynamic("list")},
	Type: func(args []cty.Value) (cty.Type, error) {
		t := args[0].Type()
		switch {
		case t == cty.DynamicPseudoType:
			return cty.DynamicPseudoType, nil
		case t.IsListType() || t.IsSetType():
			return t.ElementType(), nil
		case t.IsTupleType() && t.Length() == 0:
			return cty.DynamicPseudoType, nil
		case t.IsTupleType() && t.Length() == 1:
			return t.TupleElementType(0), nil
		case t.IsTupleType():
			return cty.NilType, tooManyError(t.Length())
		}
		return cty.NilType, needSequence(0, t)
	},
	Impl: func(args []cty.Value, want cty.Type) (cty.Value, error) {
		n := args[0].Length()
		if !n.IsKnown() {
			return cty.UnknownVal(want), nil
		}
		switch size := args[0].LengthInt(); size {
		case 0:
			return cty.NullVal(want), nil
		case 1:
			it := args[0].ElementIterator()
			it.Next()
			_, v := it.Element()
			return v, nil
		default:
			return cty.NilVal, tooManyError(size)
		}
	},
})

// tooManyError says why one() fails.
func tooManyError(n int) error {
	return function.NewArgErrorf(0, "at most one element is allowed, but there are %d", n)
}

// matchKeysFunc is Terraform's matchkeys.
var matchKeysFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "values", Type: cty.List(cty.DynamicPseudoType)},
		{Name: "keys", Type: cty.List(cty.DynamicPseudoType)},
		{Name: "search", Type: cty.List(cty.DynamicPseudoType)},
	},
	Type: func(args []cty.Value) (cty.Type, error) {
		if _, err := commonType([]cty.Type{args[1].Type(), args[2].Type()}); err != nil {
			return cty.NilType, errors.New("keys and search must have elements of one type")
		}
		return args[0].Type(), nil
	},
	Impl: func(args []cty.Value, want cty.Type) (cty.Value, error) {
		if !args[0].IsWhollyKnown() || !args[1].IsWhollyKnown() || !args[2].IsWhollyKnown() {
			return cty.UnknownVal(want), nil
		}
		if args[0].LengthInt() != args[1].LengthInt() {
			return cty.NilVal, errors.New("values and keys must have the same length")
		}
		var out []cty.Value
		values, keys := args[0].AsValueSlice(), args[1].AsValueSlice()
		for i, key := range keys {
			for _, s := range args[2].AsValueSlice() {
				if eq, err := stdlib.Equal(key, s); err == nil && eq.IsKnown() && eq.True() {
					out = append(out, values[i])
					break
				}
			}
		}
		if len(out) == 0 {
			return cty.ListValEmpty(want.ElementType()), nil
		}
		return cty.ListVal(out), nil
	},
})

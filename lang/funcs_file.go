package lang

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

// fileFunc makes file(path), which reads text through r.
func fileFunc(r fileReader) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			name := args[0].AsString()
			if err := checkFunctionPath(name); err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			b, err := r.ReadFile(name)
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			if !utf8.Valid(b) {
				return cty.NilVal, function.NewArgErrorf(0, "%s is not UTF-8 text", name)
			}
			return cty.StringVal(string(b)), nil
		},
	})
}

// filesetFunc makes fileset(glob), which lists files through r. The result is a list so that its
// order is fixed; toset() makes it fit for for_each.
func filesetFunc(r fileReader) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "glob", Type: cty.String}},
		Type:   function.StaticReturnType(cty.List(cty.String)),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			glob := args[0].AsString()
			if err := checkFunctionPath(glob); err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			if !doublestar.ValidatePattern(glob) {
				return cty.NilVal, function.NewArgErrorf(0, "%q is not a valid glob", glob)
			}
			names, err := r.Glob(glob)
			if err != nil {
				return cty.NilVal, function.NewArgError(0, err)
			}
			return textList(names), nil
		},
	})
}

// textList makes a sorted list of strings.
func textList(names []string) cty.Value {
	if len(names) == 0 {
		return cty.ListValEmpty(cty.String)
	}
	vals := make([]cty.Value, 0, len(names))
	for _, n := range slices.Sorted(slices.Values(names)) {
		vals = append(vals, cty.StringVal(n))
	}
	return cty.ListVal(vals)
}

// checkFunctionPath refuses paths and globs that are not clean or leave the campaign root.
func checkFunctionPath(p string) error {
	if !fs.ValidPath(p) || strings.ContainsAny(p, "\\\x00") {
		return fmt.Errorf("%q must be a clean path below the campaign directory: no \"..\", no \"/\" at its start", p)
	}
	return nil
}

var basenameFunc = pathFunc(path.Base)
var dirnameFunc = pathFunc(path.Dir)

// pathFunc makes a function of one slash path.
func pathFunc(f func(string) string) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "path", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal(f(args[0].AsString())), nil
		},
	})
}

package lang

import (
	"errors"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// A task may write "1e99999999" where a number is wanted. Expressions compute exactly and write numbers out, which would take a plan
// minutes for a tenth of that. So numbers are bounded where text becomes one, and where one comes of others.
const (
	maxNumberDigits   = 5000
	maxExponentDigits = 4       // 9999
	maxNumberBits     = 1 << 16 // 20,000 digits: more than what is let through as text
)

var errWildNumber = errors.New("a number of thousands of digits is not computed with")

// The operators of the syntax tree convert text by themselves.
func init() {
	for _, op := range []*hclsyntax.Operation{hclsyntax.OpAdd, hclsyntax.OpSubtract, hclsyntax.OpMultiply, hclsyntax.OpDivide, hclsyntax.OpModulo} {
		op.Impl = bounded(op.Impl, nil)
	}
}

// bounded makes a function refuse numbers without bounds: as its result, and before it looks at them where refuses says so of an argument.
func bounded(f function.Function, refuses func(arg string) bool) function.Function {
	return function.New(&function.Spec{
		Params:   f.Params(),
		VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			for i, arg := range args {
				if refuses != nil && anyOf(arg, func(v cty.Value) bool {
					return v.Type() == cty.String && v.IsKnown() && !v.IsNull() && refuses(v.AsString())
				}) {
					return cty.NilType, function.NewArgError(i, errWildNumber)
				}
			}
			return f.ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			out, err := f.Call(args)
			if err != nil {
				return out, err
			}
			// Of what refuses text, only a number that it makes of it is new.
			if refuses == nil && anyOf(out, isWild) || refuses != nil && out.Type() == cty.Number && anyOf(out, isWild) {
				return cty.NilVal, errWildNumber
			}
			return out, nil
		},
	})
}

// anyOf reports whether something holds of a value or of one in it, whatever marks they have.
func anyOf(v cty.Value, holds func(cty.Value) bool) bool {
	v, _ = v.UnmarkDeep()
	found := false
	_ = cty.Walk(v, func(_ cty.Path, v cty.Value) (bool, error) { // the callback gives no error
		found = found || holds(v)
		return !found, nil
	})
	return found
}

func isWild(v cty.Value) bool {
	if v.Type() != cty.Number || !v.IsKnown() || v.IsNull() || v.AsBigFloat().IsInf() {
		return false
	}
	exponent := v.AsBigFloat().MantExp(nil)
	return exponent > maxNumberBits || exponent < -maxNumberBits
}

// boundedFormat is for functions whose first argument is a pattern: only where that has verbs for numbers does text become one.
func boundedFormat(f function.Function) function.Function {
	guarded := bounded(f, wildNumberText)
	return function.New(&function.Spec{
		Params:   f.Params(),
		VarParam: f.VarParam(),
		Type: func(args []cty.Value) (cty.Type, error) {
			return formatBy(args, f, guarded).ReturnTypeForValues(args)
		},
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return formatBy(args, f, guarded).Call(args)
		},
	})
}

func formatBy(args []cty.Value, f, guarded function.Function) function.Function {
	pattern, _ := args[0].Unmark()
	if pattern.Type() != cty.String || !pattern.IsKnown() || pattern.IsNull() {
		return f
	}
	for _, verb := range strings.Split(pattern.AsString(), "%")[1:] {
		if rest := strings.TrimLeft(verb, "0123456789.+-# []*"); rest != "" && strings.ContainsRune("bdeEfgGoxX", rune(rest[0])) {
			return guarded
		}
	}
	return f
}

// wildNumberText reports whether a text is a number beyond what is computed with.
func wildNumberText(s string) bool {
	s = strings.TrimSpace(s)
	return s != "" && len(s) == numberLength(s) && wildNumber(s)
}

// longDigits reports whether a text has more digits than is computed with.
func longDigits(s string) bool { return len(strings.TrimSpace(s)) > maxNumberDigits }

// holdsWildNumber reports whether a JSON text holds a number beyond what is computed with.
func holdsWildNumber(s string) bool {
	inString, escaped := false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '-' || '0' <= c && c <= '9':
			n := numberLength(s[i:])
			if wildNumber(s[i : i+n]) {
				return true
			}
			i += max(n, 1) - 1
		}
	}
	return false
}

// numberLength is how many bytes of what numbers are written with begin s.
func numberLength(s string) int {
	return len(s) - len(strings.TrimLeft(s, "0123456789.+-eE"))
}

func wildNumber(s string) bool {
	if len(s) > maxNumberDigits {
		return true
	}
	at := strings.IndexAny(s, "eE")
	if at < 0 {
		return false
	}
	return len(strings.TrimLeft(s[at+1:], "+-0")) > maxExponentDigits
}

// Functions by which text becomes a number.
var (
	tonumberFunc   = bounded(stdlib.MakeToFunc(cty.Number), wildNumberText)
	parseIntFunc   = bounded(stdlib.ParseIntFunc, longDigits)
	jsonDecodeFunc = bounded(stdlib.JSONDecodeFunc, holdsWildNumber)
	formatFunc     = boundedFormat(stdlib.FormatFunc)
	formatListFunc = boundedFormat(stdlib.FormatListFunc)
)

package lang

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
	"github.com/zeebo/blake3"
)

var (
	startsWithFunc  = textTestFunc("prefix", strings.HasPrefix)
	endsWithFunc    = textTestFunc("suffix", strings.HasSuffix)
	strContainsFunc = textTestFunc("part", strings.Contains)
)

// textTestFunc makes a function that tests a text against another.
func textTestFunc(param string, test func(s, part string) bool) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}, {Name: param, Type: cty.String}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.BoolVal(test(args[0].AsString(), args[1].AsString())), nil
		},
	})
}

var (
	sha256Func = digestFunc(func(b []byte) []byte { sum := sha256.Sum256(b); return sum[:] })
	blake3Func = digestFunc(func(b []byte) []byte { sum := blake3.Sum256(b); return sum[:] })
)

// digestFunc makes a function that prints the digest of a text in hexadecimal.
func digestFunc(sum func([]byte) []byte) function.Function {
	return function.New(&function.Spec{
		Params: []function.Parameter{{Name: "text", Type: cty.String}},
		Type:   function.StaticReturnType(cty.String),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			return cty.StringVal(hex.EncodeToString(sum([]byte(args[0].AsString())))), nil
		},
	})
}

// replaceFunc is Terraform's: a text between slashes is a regular expression.
var replaceFunc = function.New(&function.Spec{
	Params: []function.Parameter{
		{Name: "text", Type: cty.String}, {Name: "old", Type: cty.String}, {Name: "new", Type: cty.String},
	},
	Type: function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		old := args[1].AsString()
		if len(old) > 1 && strings.HasPrefix(old, "/") && strings.HasSuffix(old, "/") {
			return stdlib.RegexReplace(args[0], cty.StringVal(old[1:len(old)-1]), args[2])
		}
		return stdlib.Replace(args[0], args[1], args[2])
	},
})

// jsonencodeFunc writes <, > and & plainly: the text goes into prompts, not into web pages.
var jsonencodeFunc = function.New(&function.Spec{
	Params:       stdlib.JSONEncodeFunc.Params(),
	Type:         function.StaticReturnType(cty.String),
	RefineResult: func(b *cty.RefinementBuilder) *cty.RefinementBuilder { return b.NotNull() },
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		v, err := stdlib.JSONEncodeFunc.Call(args)
		if err != nil || !v.IsKnown() {
			return v, err
		}
		return cty.StringVal(unescapeHTML(v.AsString())), nil
	},
})

// htmlEscapes are what encoding/json writes for <, > and &; a backslash pair is passed over whole so
// that a literal backslash before "u003c" stays.
var htmlEscapes = strings.NewReplacer(`\\`, `\\`, `\u003c`, "<", `\u003e`, ">", `\u0026`, "&")

// unescapeHTML undoes the escapes that JSON does not need.
func unescapeHTML(s string) string { return htmlEscapes.Replace(s) }

// durationFunc checks a length of time and returns its canonical text, so that equal times compare
// equal: "90m" and "1h30m" are both "1h30m".
var durationFunc = function.New(&function.Spec{
	Params: []function.Parameter{{Name: "text", Type: cty.String}},
	Type:   function.StaticReturnType(cty.String),
	Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
		d, err := readDuration(args[0].AsString())
		if err != nil {
			return cty.NilVal, function.NewArgError(0, err)
		}
		return cty.StringVal(DurationText(d)), nil
	},
})

// readDuration reads a length of time such as 2h, 90m or 1h30m. It is never negative.
func readDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a duration: use 2h, 90m, 1h30m, 45s", s)
	}
	return d, nil
}

// DurationText prints d as a campaign file has it, without the units that are zero at its end: 2h, not 2h0m0s.
func DurationText(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

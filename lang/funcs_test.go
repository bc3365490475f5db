package lang

import (
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/stretchr/testify/require"
	"github.com/zclconf/go-cty/cty"
)

// mapReader reads from a map of files.
type mapReader struct{ fstest.MapFS }

func (m mapReader) Glob(pattern string) ([]string, error) {
	return doublestar.Glob(m.MapFS, pattern, doublestar.WithFilesOnly())
}

var testFiles = mapReader{fstest.MapFS{
	"notes.txt":   {Data: []byte("Hello")},
	"src/b.sol":   {Data: []byte("b")},
	"src/a.sol":   {Data: []byte("a")},
	"binary.data": {Data: []byte{0xff, 0xfe}},
}}

// evalText evaluates an expression with all functions and the given variables.
func evalText(t *testing.T, text string, vars map[string]cty.Value) (cty.Value, error) {
	t.Helper()
	e, diags := hclsyntax.ParseExpression([]byte(text), "test.hcl", hcl.InitialPos)
	require.False(t, diags.HasErrors(), "%s: %v", text, diags)
	v, diags := e.Value(&hcl.EvalContext{Variables: vars, Functions: functionTable(testFiles)})
	if diags.HasErrors() {
		return v, diags
	}
	return v, nil
}

// printValue prints a value as HCL text; sets print as lists.
func printValue(v cty.Value) string {
	return string(hclwrite.TokensForValue(v).Bytes())
}

func TestEveryFunctionExampleIsTrue(t *testing.T) {
	for _, d := range FunctionDocs() {
		v, err := evalText(t, d.Example, nil)
		require.NoError(t, err, d.Name)
		require.Equal(t, d.Result, printValue(v), d.Example)
		require.Contains(t, d.Signature, d.Name+"(")
		require.Regexp(t, `\.$`, d.Doc, d.Name)
		require.Contains(t, d.Example, d.Name+"(", d.Name)
	}
}

func TestFunctionTableIsSortedAndComplete(t *testing.T) {
	names := functionNames()
	require.True(t, slices.IsSorted(names), names)
	require.Equal(t, len(names), len(functionTable(testFiles)), "a name is there twice")
	for _, banned := range []string{"timestamp", "uuid", "env", "nonsensitive", "templatefile", "bcrypt"} {
		require.NotContains(t, names, banned)
	}
	for name := range functionHints {
		require.NotContains(t, names, name)
	}
	require.Contains(t, functionHint("Timestamp"), "no clock")
	require.Empty(t, functionHint("nothing"))
}

func TestFunctionValues(t *testing.T) {
	for text, want := range map[string]string{
		`index(["a", "b"], "b")`:                       `1`,
		`index([1, "1"], "1")`:                         `1`,
		`index(tolist([1, 2]), 2)`:                     `1`,
		`coalesce("", "a")`:                            `"a"`,
		`coalesce(null, 3)`:                            `3`,
		`coalesce(3, "x")`:                             `"3"`,
		`flatten([])`:                                  `[]`,
		`flatten(["a", [["b"]]])`:                      `["a", "b"]`,
		`one([])`:                                      `null`,
		`one(toset(["x"]))`:                            `"x"`,
		`alltrue([])`:                                  `true`,
		`anytrue([])`:                                  `false`,
		`alltrue([true, null])`:                        `false`,
		`anytrue([null, true])`:                        `true`,
		`sum([])`:                                      `0`,
		`sum([1.5, 2])`:                                `3.5`,
		`length("größe")`:                              `5`,
		`length("")`:                                   `0`,
		`length({ a = 1, b = 2 })`:                     `2`,
		`length(tomap({ a = 1 }))`:                     `1`,
		`length(toset([1, 1]))`:                        `1`,
		`replace("a.b.c", ".", "-")`:                   `"a-b-c"`,
		`replace("a/b", "/", "-")`:                     `"a-b"`,
		`replace("ab", "/(a)(b)/", "$2$1")`:            `"ba"`,
		`startswith("abc", "b")`:                       `false`,
		`endswith("abc", "b")`:                         `false`,
		`strcontains("abc", "z")`:                      `false`,
		`duration("2h")`:                               `"2h"`,
		`duration("7200s")`:                            `"2h"`,
		`duration("90s")`:                              `"1m30s"`,
		`duration("1h0m5s")`:                           `"1h0m5s"`,
		`duration("0")`:                                `"0s"`,
		`duration("10m")`:                              `"10m"`,
		`duration("100h")`:                             `"100h"`,
		`jsonencode("\\u003c & <")`:                    `"\"\\\\u003c & <\""`,
		`jsonencode({ b = [1, null], a = "é" })`:       `"{\"a\":\"é\",\"b\":[1,null]}"`,
		`jsonencode(null)`:                             `"null"`,
		`jsondecode("{\"a\": [1]}").a[0]`:              `1`,
		`yamldecode("a: {b: 2}").a.b`:                  `2`,
		`try(jsondecode("{}").x, "none")`:              `"none"`,
		`try("a", "b")`:                                `"a"`,
		`try(null, 1)`:                                 `null`,
		`can("a")`:                                     `true`,
		`can([1][3])`:                                  `false`,
		`fileset("src/*.sol")`:                         `["src/a.sol", "src/b.sol"]`,
		`fileset("none/*")`:                            `[]`,
		`file("src/a.sol")`:                            `"a"`,
		`dirname("a")`:                                 `"."`,
		`basename("a/b/")`:                             `"b"`,
		`matchkeys([1, 2, 3], ["a", "b", "a"], ["a"])`: `[1, 3]`,
		`matchkeys([1], ["a"], [])`:                    `[]`,
		`sha256("")`:                                   `"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"`,
		`blake3("")`:                                   `"af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"`,
		`[for k, v in { a = 1 } : "${k}${v}"]`:         `["a1"]`,
	} {
		v, err := evalText(t, text, nil)
		require.NoError(t, err, text)
		require.Equal(t, want, printValue(v), text)
	}
}

func TestFunctionErrorsSayWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		`index(["a"], "z")`:              `"z" is not in the list`,
		`index(["a"], null)`:             `null is not in the list`,
		`index("abc", "a")`:              `a list is required, not a string`,
		`index({ a = 1 }, 1)`:            `a list is required, not an object`,
		`coalesce()`:                     `every value is null or an empty text`,
		`coalesce("", null)`:             `every value is null or an empty text`,
		`coalesce(["a"], "x")`:           `the first is a tuple and this is a string`,
		`flatten("a")`:                   `a list, set or tuple is required, not a string`,
		`flatten({ a = [] })`:            `not an object`,
		`one(["a", "b"])`:                `there are 2`,
		`one(tolist(["a", "b", "c"]))`:   `there are 3`,
		`one("a")`:                       `not a string`,
		`length(3)`:                      `a list, set, map or text is required, not a number`,
		`length(null)`:                   `must not be null`,
		`sum(["a"])`:                     `number`,
		`sum([null, 1])`:                 `is null`,
		`duration("2 hours")`:            `use 2h, 90m, 1h30m`,
		`duration("-1h")`:                `use 2h`,
		`try()`:                          `at least one expression`,
		`try(tonumber("x"), [1][2])`:     `none of the expressions has a value`,
		`file("../x")`:                   `clean path below the campaign directory`,
		`file("/etc/passwd")`:            `clean path below the campaign directory`,
		`file("none.txt")`:               `does not exist`,
		`file("binary.data")`:            `not UTF-8`,
		`fileset("../*")`:                `clean path`,
		`fileset("[")`:                   `not a valid glob`,
		`matchkeys([1], ["a", "b"], [])`: `same length`,
		`jsondecode("{")`:                `EOF`,
		`replace("a", "/(/", "")`:        `missing closing`,
	} {
		_, err := evalText(t, text, nil)
		require.ErrorContains(t, err, want, text)
	}
}

// TestMarksReachTheResult calls every function with each argument marked in turn.
func TestMarksReachTheResult(t *testing.T) {
	type mark struct{ name string }
	secret := mark{"secret"}
	for _, c := range []string{
		`abs(m.n)`, `alltrue([m.b])`, `anytrue([m.b])`, `basename(m.s)`, `blake3(m.s)`, `sha256(m.s)`, `coalesce(m.s, "x")`,
		`coalesce(m.empty, "x")`, `concat([m.s], ["b"])`, `contains(["a"], m.s)`, `duration(m.d)`, `endswith(m.s, "a")`,
		`flatten([[m.s]])`, `format("%s", m.s)`, `index(["a"], m.s)`, `join(",", [m.s])`, `jsonencode({ a = m.s })`,
		`length(m.s)`, `length(m.l)`, `lookup({ a = m.s }, "a", "")`, `merge({ a = m.s }, {})`, `one([m.s])`, `one(m.l)`,
		`replace(m.s, "a", "b")`, `sum([m.n])`, `tostring(m.n)`, `try(m.s, "x")`, `try(m.o.zz, m.s)`, `toset([m.s])`,
		`values({ a = m.s })`, `matchkeys([m.s], ["a"], ["a"])`, `split(",", m.s)`, `file(m.f)`, `yamldecode(m.s)`,
		`try(m.u, "x")`, `can(m.u)`, `try([m.u], "x")`, `coalesce(m.u, "x")`, `startswith(m.s, "a")`, `tolist([m.s])`,
	} {
		v, err := evalText(t, c, map[string]cty.Value{"m": cty.ObjectVal(map[string]cty.Value{
			"s": cty.StringVal("a").Mark(secret), "empty": cty.StringVal("").Mark(secret), "n": cty.NumberIntVal(1).Mark(secret),
			"b": cty.True.Mark(secret), "d": cty.StringVal("1h").Mark(secret), "f": cty.StringVal("notes.txt").Mark(secret),
			"l": cty.ListVal([]cty.Value{cty.StringVal("a")}).Mark(secret), "o": cty.EmptyObjectVal,
			"u": cty.UnknownVal(cty.String).Mark(secret),
		})})
		require.NoError(t, err, c)
		require.Contains(t, deepMarks(v), secret, c)
	}
}

func TestLengthDoesNotTakeMarksOfElements(t *testing.T) {
	v, err := evalText(t, `length(l)`, map[string]cty.Value{"l": cty.TupleVal([]cty.Value{cty.StringVal("a").Mark("x")})})
	require.NoError(t, err)
	require.Empty(t, deepMarks(v))
}

func TestUnknownArgumentsGiveUnknownResults(t *testing.T) {
	vars := map[string]cty.Value{
		"s": cty.UnknownVal(cty.String), "l": cty.UnknownVal(cty.List(cty.String)), "d": cty.DynamicVal,
	}
	for _, c := range []string{
		`index(l, "a")`, `index([s], "a")`, `index(d, "a")`, `coalesce(s, "a")`, `coalesce(d, "a")`, `flatten(l)`, `flatten([l])`,
		`flatten(d)`, `one(l)`, `one(d)`, `length(s)`, `length(l)`, `length(d)`, `replace(s, "a", "b")`, `duration(s)`, `file(s)`,
		`jsonencode(s)`, `jsonencode([d])`, `matchkeys(l, l, l)`, `try(s, "x")`, `can(s)`, `startswith(s, "a")`, `alltrue([d])`,
		`jsondecode(s)`, `yamldecode(s)`, `sha256(d)`, `fileset(s)`, `sum(d)`,
	} {
		v, err := evalText(t, c, vars)
		require.NoError(t, err, c)
		require.False(t, v.IsWhollyKnown(), c)
	}
	v, err := evalText(t, `length([s, s])`, vars)
	require.NoError(t, err)
	require.Equal(t, "2", printValue(v))
}

func TestFunctionsReadThroughTheReader(t *testing.T) {
	read := &recordingReader{files: testFiles}
	table := functionTable(read)
	_, err := table["file"].Call([]cty.Value{cty.StringVal("notes.txt")})
	require.NoError(t, err)
	_, err = table["fileset"].Call([]cty.Value{cty.StringVal("src/**")})
	require.NoError(t, err)
	_, err = table["file"].Call([]cty.Value{cty.StringVal("a/../notes.txt")})
	require.Error(t, err)
	require.Equal(t, []string{"read notes.txt", "glob src/**"}, read.calls)
}

// recordingReader remembers what it was asked.
type recordingReader struct {
	files mapReader
	calls []string
}

func (r *recordingReader) ReadFile(p string) ([]byte, error) {
	r.calls = append(r.calls, fmt.Sprintf("read %s", p))
	return fs.ReadFile(r.files, p)
}

func (r *recordingReader) Glob(p string) ([]string, error) {
	r.calls = append(r.calls, fmt.Sprintf("glob %s", p))
	return r.files.Glob(p)
}

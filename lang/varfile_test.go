package lang

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestParseVarFileOfJSON reads values as they stand, whatever the language would make of such text.
func TestParseVarFileOfJSON(t *testing.T) {
	in, ds := ParseVarFile("v.json", []byte(`{
  "//": "a comment",
  "n": 7, "s": "a ${x} %{if} \"q\" \u00e9\n",
  "l": ["a", {"b": null, "c d": true}]
}`))
	require.Empty(t, ds)
	got := map[string]string{}
	for _, v := range in {
		got[v.Name+" "+v.Origin] = v.Value
		value, problem := constantFrom(v.Value)
		require.Empty(t, problem)
		require.Equal(t, v.Value, valueText(value), "it is read back")
	}
	require.Equal(t, map[string]string{
		"n v.json:3": "7", "s v.json:3": `"a $${x} %%{if} \"q\" é\n"`, "l v.json:4": "[\"a\", {\n  b     = null\n  \"c d\" = true\n}]",
	}, got)
	require.Equal(t, []string{"n", "s", "l"}, []string{in[0].Name, in[1].Name, in[2].Name}, "in their order")
	require.Equal(t, Pos{Line: 3, Column: 4, Byte: 26}, in[0].At.Start, "without its quotes")
	require.Equal(t, Pos{Line: 3, Column: 8, Byte: 30}, in[0].ValueAt.Start)
}

func TestParseVarFileOfBadJSON(t *testing.T) {
	for text, want := range map[string]string{
		`{"n": 1, "n": 2}`:  "v.json:1:10 UF1104",
		`{"n": 1`:           "v.json:1:1 UF1006",
		`[1]`:               "v.json:1:1 UF1006",
		`7`:                 "v.json:1:1 UF1006",
		``:                  "v.json:1:1 UF1006",
		`{"a b": 1}`:        "v.json:1:3 UF1006",
		"{\"a\": \"\xff\"}": "v.json:1:8 UF1002",
	} {
		in, ds := ParseVarFile("v.json", []byte(text))
		require.Len(t, ds, 1, text)
		at := ds[0].Subject
		require.Equal(t, want, fmt.Sprintf("%s:%d:%d %s", at.File, at.Start.Line, at.Start.Column, ds[0].Code), "%s: %v", text, ds)
		require.LessOrEqual(t, len(in), 1, text)
	}
}

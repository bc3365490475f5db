package lang

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSyntaxInOurWords says what is wrong and what to write, in words that need no knowledge of a parser.
func TestSyntaxInOurWords(t *testing.T) {
	for text, want := range map[string][2]string{
		"task \"a\" {\n  command = [\"true\"\n}\n":       {"A comma or ] is missing before this.", "The elements of a list are separated by commas."},
		"task \"a\" {\n  command = [\"true]\n}\n":        {"This text has no closing quote on its line.", "Text of several lines goes between <<-END and END."},
		"task \"a\" {\n  command: [\"true\"]\n}\n":       {"A setting or a block is expected here.", `Write a setting as NAME = VALUE, and a block as TYPE "NAME" { … }.`},
		"task \"a\"\n{\n}\n":                             {"The opening brace of a block stands on the line of its name.", `Write TYPE "NAME" { and then the settings.`},
		"task a = {\n}\n":                                {"A block takes no equals sign.", `Write TYPE "NAME" { … }.`},
		"task \"a\" {\n  command = [\"true\"]\n":         {"This block is never closed.", "Add } where it ends. The one that is missing may belong to a block inside of it."},
		"task \"a\" { command = [\"x\"], cache = true }": {"A block on one line holds one setting.", "Put every setting on a line of its own."},
		"locals {\n  x = 'abc'\n}\n":                     {"Text stands in double quotes, not in single ones.", `Write "…".`},
		"locals {\n  x = { a = 1 b = 2 }\n}\n":           {"A comma or a new line is missing before this.", "Each entry of an object stands on a line of its own, or behind a comma."},
		"locals {\n  x = true ? 1\n}\n":                  {"This condition has no second value.", "Write CONDITION ? VALUE : OTHER."},
	} {
		_, ds := Load(Options{Dir: writeTree(t, map[string]string{"campaign.hcl": text})})
		require.NotEmpty(t, ds, text)
		require.Equal(t, want, [2]string{ds[0].Summary, ds[0].Hint}, text)
	}
}

// TestShortNames takes short names at their word: of four letters one may be wrong, or two may have changed
// places.
func TestShortNames(t *testing.T) {
	require.Empty(t, Suggest("fuzz", []string{"lint", "full", "fax"}))
	require.Equal(t, "task", Suggest("tsak", []string{"path", "task"}))
	require.Equal(t, "lint", Suggest("lnt", []string{"list", "lint"}))
	require.Equal(t, "strategy", Suggest("stratgey", []string{"strategy"}))
}

package lang

import (
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/stretchr/testify/require"
)

// What a shell takes for a parameter is most likely meant for one, so each of its forms says how to write it.
func TestTextForAShellIsToldHowToBeText(t *testing.T) {
	const value = "Text stands in double quotes; a name needs its kind before it, such as var.NAME or task.NAME. "
	for text, hint := range map[string]string{
		"${x}":      "for the shell's ${x} write $${x}",
		"${!x}":     "for the shell's ${!x} write $${!x}",
		"${x[0]}":   "for the shell's ${x[0]} write $${x[0]}",
		"${x[*]}":   "for the shell's ${x[*]} write $${x[*]}",
		"${x/y/}":   value + textHints["${"],
		"${x%y}":    "for the shell's ${x%y} write $${x%y}",
		"${x%.*}":   value + textHints["${"],
		"${x##*/}":  textHints["${"],
		"${x//a/b}": textHints["${"],
		"${x:-y}":   textHints["${"],
		"${#x}":     "If this is text and no template, such as a length in a shell, write $${# instead of ${#.",
		"${":        textHints["${"],
		"${}":       value + textHints["${"],
		"%{ if }":   value + textHints["%{"],
		"%{ if":     textHints["%{"],
		"%{x}":      textHints["%{"],
		"${x.y}":    "",
	} {
		const task = "agent \"e\" {\n  adapter = \"exec\"\n  command = [\"cat\"]\n}\nprofile \"default\" { agent = agent.e }\n" +
			"task \"a\" {\n  prompt = \"p.md\"\n  output \"o\" { path = \"o\" }\n}\n"
		_, ds := Load(Options{Dir: writeTree(t, map[string]string{"campaign.hcl": task, "p.md": "Say\n" + text + "\n"})})
		require.NotEmpty(t, ds, text)
		require.Equal(t, hint, ds[0].Hint, text)
		require.Equal(t, int32(2), ds[0].Subject.Start.Line, text)
	}
}

// What is read once more for the sake of an error has a bound, which the first of a large file does not meet.
func TestTokensHaveABound(t *testing.T) {
	p := problems{lexed: maxLexed}
	src := []byte("a = 1\n")
	require.NotEmpty(t, p.tokens(src, hcl.InitialPos, "a.hcl", false))
	require.Empty(t, p.tokens(src, hcl.InitialPos, "a.hcl", false))
	require.Empty(t, p.tokens(src, hcl.InitialPos, "a.md", true))
}

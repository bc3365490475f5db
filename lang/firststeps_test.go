package lang

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAdviceForFirstSteps holds what a newcomer is told after the likeliest first attempts.
func TestAdviceForFirstSteps(t *testing.T) {
	c := readCase(t, "testdata/invalid/first-steps.txtar")
	c.o.Dir = writeTree(t, c.files)
	_, ds := Load(c.o)
	advice := map[string]string{}
	for _, d := range ds {
		advice[d.Code] += d.Detail + "|" + d.Hint
	}
	require.Equal(t, "|Write name = \"words\" in the block.", advice["UF1107"])
	require.Equal(t, "|Blocks are written input \"NAME\" { … }.", advice["UF1101"])
	require.Equal(t, "2 more keys are like it.|Give each instance a short key and keep the path as its value, which "+
		"each.value is then.", advice["UF4003"])
	require.Equal(t, "|For example: fileset(\"*.txt\")|For example: upper(\"abc\")", advice["UF2204"])
}

// TestAdviceForSecondSteps holds what is told to who writes retries, variables of a shell and lists of files as
// other tools take them: the hint, and the text that mends it.
func TestAdviceForSecondSteps(t *testing.T) {
	c := readCase(t, "testdata/invalid/second-steps.txtar")
	c.o.Dir = writeTree(t, c.files)
	_, ds := Load(c.o)
	var advice []string
	for _, d := range ds {
		fix := ""
		if d.Fix != nil {
			fix = d.Fix.Text
		}
		advice = append(advice, d.Code+"|"+d.Hint+"|"+fix)
	}
	require.Equal(t, []string{
		"UF2001|for the shell's ${f} write $${f}|",
		"UF2004||group.hunt",
		"UF1101|write a block: retry { attempts = 3 }|",
		`UF2110||["notes/*.md"]`,
		"UF4004|" + shortKeys + `.|{ for f in fileset("*/same.md") : replace(f, "/", "-") => f }`,
		"UF1101|write a block: retry { attempts = 2 }|",
		"UF6102||",
		"UF6103||",
		"UF2001|for the shell's ${HOME} write $${HOME}|",
	}, advice)
}

// TestFixForPaths offers short keys where a set of paths stands, with the list that is in it.
func TestFixForPaths(t *testing.T) {
	c := readCase(t, "testdata/invalid/first-steps.txtar")
	c.o.Dir = writeTree(t, c.files)
	_, ds := Load(c.o)
	for _, d := range ds {
		if d.Code == "UF4003" {
			require.Equal(t, `{ for f in fileset("notes/*.md") : basename(f) => f }`, d.Fix.Text)
			return
		}
	}
	require.Fail(t, "no UF4003")
}

func TestTheExpandBlockThatIsMeant(t *testing.T) {
	c := readCase(t, "testdata/invalid/expand-instead.txtar")
	_, ds := Load(Options{Dir: writeTree(t, c.files)})
	for _, d := range ds[:2] {
		require.Equal(t, "Use an expand block:\n  expand {\n    items = local.plan\n    key   = item.name\n  }", d.Hint)
	}
	c = readCase(t, "testdata/invalid/expand-instances.hcl")
	_, ds = Load(Options{Dir: writeTree(t, c.files)})
	require.Equal(t, "Use an expand block:\n  expand {\n    items = task.every.all\n    key   = item.key\n  }", ds[len(ds)-2].Hint)
	require.Equal(t, "Use an expand block:\n  expand {\n    items = group.plain.all\n    key   = item.id\n  }", ds[len(ds)-1].Hint)
}

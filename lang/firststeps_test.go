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
	require.Equal(t, "So is it with 2 more keys.|Give each instance a short key and keep the path as its value, which "+
		"each.value is then:\n  for_each = { for f in fileset(\"notes/*.md\") : basename(f) => f }", advice["UF4003"])
	require.Equal(t, "|For example: fileset(\"*.txt\")|For example: upper(\"abc\")", advice["UF2204"])
}

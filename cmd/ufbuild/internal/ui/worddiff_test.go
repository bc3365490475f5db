package ui

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWordDiffMarksOnlyWhatDiffers(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"same", "one two", "one two", "one two"},
		{"a word", "find every bug now", "find each bug now", "find [-every-]{+each+} bug now"},
		{"added", "find bugs", "find all bugs", "find {+all +}bugs"},
		{"removed", "find all bugs", "find bugs", "find [-all -]bugs"},
		{"all", "", "x", "{+x+}"},
		{"two places", "a b c d e", "a x c y e", "a [-b-]{+x+} c [-d-]{+y+} e"},
		{"blanks", "a  b", "a b", "a[-  -]{+ +}b"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, WordDiff(Style{}, c.old, c.new))
		})
	}
}

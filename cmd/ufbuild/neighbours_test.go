package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOtherVerbsAreVerbsHere(t *testing.T) {
	root := newRoot(&app{})
	for other, here := range otherVerbs {
		if verb, rest, err := root.Find([]string{other}); err == nil {
			require.Equal(t, root, verb, "%s is a verb here", other)
			require.Len(t, rest, 1)
		}
		words := strings.Fields(here)
		verb, rest, err := root.Find(words)
		require.NoError(t, err, other)
		require.NotEqual(t, root, verb, other)
		require.NoError(t, verb.ParseFlags(rest), other)
		if len(words) > 1 && verb.HasSubCommands() {
			t.Errorf("%s: %s has no verb of that name", other, here)
		}
	}
}

func TestOtherFlagsNameWhatIsThere(t *testing.T) {
	root := newRoot(&app{})
	build, _, err := root.Find([]string{"build"})
	require.NoError(t, err)
	quoted := regexp.MustCompile(`"ufbuild ([a-z]+)`)
	for other, instead := range otherFlags {
		if len(other) == 1 {
			require.Nil(t, build.Flags().ShorthandLookup(other), other)
		} else {
			require.Nil(t, build.Flags().Lookup(other), other)
		}
		require.True(t, hasFlagOf(build, instead) || other == "output" || other == "o" || other == "format", "%s: %s", other, instead)
		if m := quoted.FindStringSubmatch(instead); m != nil {
			verb, _, err := root.Find(m[1:])
			require.NoError(t, err)
			require.NotEqual(t, root, verb, other)
		}
	}
}

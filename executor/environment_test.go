package executor

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

// What the language warns of is what is replaced: no more and no less.
func TestOwnVariablesAreThoseWarnedOf(t *testing.T) {
	b := &Builder{Build: "b1"}
	b.Decider.Campaign = &lang.Campaign{Root: "/c"}
	b.Environ = func(string) (string, bool) { return "", false }
	listed := append(lang.OwnVariables(lang.Prompt), "GIT_CEILING_DIRECTORIES", "GIT_CONFIG_GLOBAL", "HOME", "LANG", "OTHER", "PATH", "UF_EFFORT", "UF_MODEL")
	for _, kind := range []lang.Kind{lang.Prompt, lang.Command} {
		for _, mode := range []lang.WorkspaceMode{lang.ModeInputs, lang.ModeInplace} {
			a := &Action{Kind: kind, Mode: mode, Sandbox: "strict"}
			for _, n := range listed {
				a.Env = append(a.Env, lang.EnvVar{Name: n, Value: text("/theirs")})
			}
			at := &cache.Attempt{Workspace: "/w"}
			require.Equal(t, lang.OwnVariables(kind), slices.Sorted(maps.Keys(b.ownVariables(a, at))))
			var lost []string
			for _, n := range listed {
				if env := b.environment(a, at, map[string]string{"UF_MODEL": "m"}); !slices.Contains(env, n+"=/theirs") {
					lost = append(lost, n)
				}
			}
			want := lang.OwnVariables(kind)
			if mode == lang.ModeInputs { // both count
				require.Contains(t, b.environment(a, at, nil), "GIT_CEILING_DIRECTORIES=/w:/theirs")
				want = append(want, "GIT_CEILING_DIRECTORIES")
			}
			require.ElementsMatch(t, want, lost)
		}
	}
}

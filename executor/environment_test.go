package executor

import (
	"slices"
	"strings"
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
			var own environ
			b.setOwnVariables(&own, a, at)
			require.Equal(t, lang.OwnVariables(kind), own.names())
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

// names are the variables that are set, sorted.
func (e environ) names() []string {
	var names []string
	for _, s := range e {
		name, _, _ := strings.Cut(s, "=")
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// TestEnvironment proves what a task gets and what replaces what, and that what is kept for all tasks of a build is not changed by one.
func TestEnvironment(t *testing.T) {
	user := map[string]string{"PATH": "/bin", "HOME": "/home/ann", "TOKEN": "t", "EMPTY": "", "PATHS": "no"}
	b := &Builder{Decider: Decider{Campaign: &lang.Campaign{Root: "/c"}}, Build: "b1"}
	b.Environ = func(name string) (string, bool) { v, ok := user[name]; return v, ok }
	at := &cache.Attempt{Workspace: "/w/1", Ordinal: 2}
	a := &Action{
		Kind: lang.Command, Address: lang.Address{Task: "a"}, PassEnv: []string{"TOKEN", "EMPTY", "UNSET", "PATH"},
		Env:     []lang.EnvVar{{Name: "PATH", Value: lang.Text{Real: "/mine"}}, {Name: "A1", Value: lang.Text{Real: "x=y"}}, {Name: "A", Value: lang.Text{Real: "1"}}},
		Secrets: []lang.EnvVar{{Name: "A", Value: lang.Text{Real: "secret"}}},
	}
	want := []string{
		"A1=x=y", "A=secret", "EMPTY=", "GIT_CEILING_DIRECTORIES=/w/1", "HOME=/home/ann", "PATH=/mine", "TMPDIR=/w/1/tmp", "TOKEN=t",
		"UF_ATTEMPT=b1:2", "UF_OUT=/w/1/ws", "UF_TASK=a",
	}
	require.Equal(t, want, b.environment(a, at, nil))
	require.Equal(t, want, b.environment(a, at, map[string]string{"A": "driver's"}))

	plain := &Action{Kind: lang.Command, Address: lang.Address{Task: "b"}, Mode: lang.ModeInplace, Sandbox: "strict"}
	require.Equal(t, []string{
		"GIT_CONFIG_GLOBAL=/dev/null", "HOME=/home/ann", "PATH=/bin", "TMPDIR=/w/1/tmp", "UF_ATTEMPT=b1:2", "UF_OUT=/c", "UF_TASK=b",
	}, b.environment(plain, at, nil))
}

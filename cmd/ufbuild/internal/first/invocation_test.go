package first

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func spelled(t *testing.T, environ []string, args ...string) string {
	t.Helper()
	s, ok := Invocation(args, environ, "/here")
	require.True(t, ok, args)
	return s
}

func TestInvocationsThatAreTheSameQuestion(t *testing.T) {
	env := []string{"HOME=/root", "UFBUILD_STORE=/s", "UF_VAR_a="}
	want := spelled(t, env, "build", "a", "b")
	for _, args := range [][]string{
		{"run", "a", "b"}, {"plan", "a", "b"}, {"build", "-j", "3", "a", "b"}, {"build", "a", "--jobs=3", "b"},
		{"build", "a", "--progress", "none", "b", "--wait", "-k", "--require-complete"},
	} {
		require.Equal(t, want, spelled(t, env, args...), args)
	}
	require.Equal(t, want, spelled(t, append(env, "TERM=dumb", "XDG_DATA_HOME=", "UFBUILD_LOGS="), "build", "a", "b"))
	slices.Reverse(env)
	require.Equal(t, want, spelled(t, env, "build", "a", "b"), "another order of the environment")
}

func TestInvocationsThatAreNot(t *testing.T) {
	env := []string{"HOME=/root"}
	seen := map[string]bool{}
	add := func(s string) { require.False(t, seen[s], s); seen[s] = true }
	add(spelled(t, env, "build"))
	add(spelled(t, env, "build", "a"))
	add(spelled(t, env, "build", "b"))
	add(spelled(t, env, "build", "a b"))
	add(spelled(t, env, "build", `a" target "b`))
	add(spelled(t, env, "build", "a", "b"))
	add(spelled(t, []string{"HOME=/other"}, "build"))
	add(spelled(t, append(env, "UFBUILD_STORE=/s"), "build"))
	add(spelled(t, append(env, "UF_VAR_a="), "build"))
	add(spelled(t, append(env, "XDG_CONFIG_HOME=/c"), "build"))
	add(spelled(t, append(env, "PATH=/bin"), "build"))
	other, ok := Invocation([]string{"build"}, env, "/there")
	require.True(t, ok)
	add(other)
}

func TestInvocationsForTheLongWay(t *testing.T) {
	for _, args := range [][]string{
		{}, {"check"}, {"version"}, {"build", "--json"}, {"build", "-C", "x"}, {"build", "--var", "a=b"}, {"build", "-j", "0"},
		{"build", "-j"}, {"build", "--jobs="}, {"build", "--wait=false"}, {"build", "--progress=json"}, {"build", "--"},
		{"plan", "-j", "3"}, {"plan", "--detailed-exitcode"}, {"build", "-jk"}, {"build", "--budget=1"}, {"build", "-"},
		{"build", "--fail-fast", "-k"}, {"build", "--keep-going", "a", "--fail-fast"},
		{"build", "a", "--only"}, {"plan", "--from", "a"}, {"build", "--until=a"},
	} {
		_, ok := Invocation(args, nil, "/here")
		require.False(t, ok, args)
	}
	_, ok := Invocation([]string{"build"}, []string{NoStamp + "="}, "/here")
	require.False(t, ok)
}

// TestAnswersNeedAStamp proves that an invocation without one goes the long way and writes nothing.
func TestAnswersNeedAStamp(t *testing.T) {
	t.Chdir(t.TempDir())
	l := Ask([]string{"build"}, nil)
	require.Nil(t, l)
	require.False(t, l.Holds(nil))
}

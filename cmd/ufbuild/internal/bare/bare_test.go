package bare

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// says makes this test's program say its value.
const says = "BARE_SAYS"

func TestMain(m *testing.M) {
	if text := os.Getenv(says); text != "" {
		Say(text)
		os.Exit(3)
	}
	os.Exit(m.Run())
}

func TestKnowsWhatOsKnows(t *testing.T) {
	require.Equal(t, os.Args, Args())
	require.Subset(t, Environ(), os.Environ())
	Args()[0] = "changed"
	require.NotEqual(t, "changed", Args()[0])
	before := Nanoseconds()
	require.GreaterOrEqual(t, Nanoseconds(), before)
}

func TestCut(t *testing.T) {
	for _, s := range []string{"", "=", "a", "a=", "=b", "a=b", "a=b=c"} {
		before, after, _ := strings.Cut(s, "=")
		gotBefore, gotAfter := Cut(s, '=')
		require.Equal(t, [2]string{before, after}, [2]string{gotBefore, gotAfter})
	}
}

// TestSay proves that all is said or nothing is taken for an answer.
func TestSay(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	long := strings.Repeat("x", 100_000) // more than a pipe holds
	run := func(to *os.File) (string, int) {
		var out bytes.Buffer
		cmd := exec.Cmd{Path: self, Env: []string{says + "=" + long}}
		if cmd.Stdout = &out; to != nil {
			cmd.Stdout = to
		}
		_ = cmd.Run()
		return out.String(), cmd.ProcessState.ExitCode()
	}
	got, code := run(nil)
	require.Zero(t, code)
	require.Equal(t, long, got)
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	defer full.Close()
	_, code = run(full)
	require.Equal(t, 3, code, "the program goes on, and says what is wrong")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	defer w.Close()
	_, code = run(w)
	require.Equal(t, 3, code)
}

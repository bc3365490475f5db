package local

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// TestLogWithoutRoom wants of a log that takes nothing the end of what was printed, after a line that says what is missing.
func TestLogWithoutRoom(t *testing.T) {
	log, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	require.NoError(t, err)
	var heard strings.Builder
	s, err := openStream(effect.Wrap(log), &executor.Invocation{}, func(p []byte) { heard.Write(p) })
	require.NoError(t, err)
	s.read()
	text := strings.Repeat("words\n", workspace.MaxTail/6) + "result\n"
	_, err = s.child.WriteString(text)
	require.NoError(t, err)
	s.started()
	require.NoError(t, s.finish())
	require.Equal(t, text, heard.String(), "who listens hears all")
	tail := string(s.missing())
	require.LessOrEqual(t, len(tail), workspace.MaxTail)
	require.Regexp(t, `^\nufbuild: \d+ bytes of this log are missing here: write /dev/full: no space left on device\n`, tail)
	require.True(t, strings.HasSuffix(text, tail[strings.LastIndex(tail, "device\n")+len("device\n"):]))
	require.True(t, strings.HasSuffix(tail, "words\nresult\n"))
}

// TestHeardLater wants a program that nobody follows to write to its log itself, and who listens to hear all of it at its end.
func TestHeardLater(t *testing.T) {
	r, store := newRunner(t)
	inv := invocation(t, "readlink /proc/$$/fd/1; echo bad >&2")
	inv.Later = true
	var heard strings.Builder
	got, err := r.Run(t.Context(), inv, func(p []byte) { heard.Write(p) })
	require.NoError(t, err)
	require.Equal(t, inv.Dir+"/log\nbad\n", heard.String())
	require.Equal(t, heard.String(), text(t, store, got.Log))

	for name, does := range map[string]string{
		"gone": "rm ../log", "another file": "mv ../log ../other; echo ill > ../log", "a pipe": "rm ../log; mkfifo ../log", "a link": "rm ../log; ln -s o ../log",
	} {
		lost := invocation(t, "echo heard; "+does)
		lost.Later = true
		heard.Reset()
		got, err = r.Run(t.Context(), lost, func(p []byte) { heard.Write(p) })
		require.NoError(t, err, name)
		require.Zero(t, got.Exit, name)
		require.Equal(t, "heard\n", heard.String(), name)
	}

	masked := invocation(t, "echo hunter22")
	masked.Later, masked.Mask = true, []string{"hunter22"}
	heard.Reset()
	_, err = r.Run(t.Context(), masked, func(p []byte) { heard.Write(p) })
	require.NoError(t, err)
	require.Equal(t, "***\n", heard.String())
}

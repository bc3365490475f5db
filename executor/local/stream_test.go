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

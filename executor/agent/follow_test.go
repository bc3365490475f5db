package agent_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
)

type lines []string

func (l *lines) Line(b []byte)      { *l = append(*l, string(b)) }
func (l *lines) Usage() cache.Usage { return cache.Usage{} }

func TestFollowerCutsLines(t *testing.T) {
	var got lines
	f := agent.Follow(&got)
	long := strings.Repeat("x", 5<<20) // a tool printed a file
	for _, piece := range []string{"a", "b\n\nc\n" + long[:1<<20], long[1<<20:], "y\nd", "e\n", "no end"} {
		n, err := f.Write([]byte(piece))
		require.NoError(t, err)
		require.Equal(t, len(piece), n)
	}
	require.Equal(t, lines{"ab", "", "c", "de"}, got, "a line that is too long is dropped, and the next one counts")
}

func TestUsageSoFar(t *testing.T) {
	u := agent.UsageSoFar([]byte(`{"cost_usd": 1.5}{"cost_usd": 2}{"cost_u`))
	require.True(t, u.AtLeast)
	require.InDelta(t, 3.5, *u.CostUSD, 1e-9)
	u = agent.UsageSoFar(nil)
	require.Nil(t, u.CostUSD)
}

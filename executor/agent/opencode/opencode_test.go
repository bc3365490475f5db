package opencode_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/agent/agenttest"
	"github.com/ufbuild/ufbuild/executor/agent/opencode"
	"github.com/ufbuild/ufbuild/lang"
)

func in(u cache.Usage, cost ...float64) cache.Usage {
	u.Session = "ses_1"
	for _, c := range cost {
		u.CostUSD = &c
	}
	return u
}

func TestStreams(t *testing.T) {
	none := in(cache.Usage{})
	agenttest.Streams(t, opencode.Driver{}, map[string]agenttest.Want{
		"ok":             {Class: agent.OK, Usage: in(agenttest.Tokens(280, 130, 35), 0.003), Final: "All done."},
		"recovered":      {Class: agent.OK, Usage: in(agenttest.Tokens(150, 30, 25), 0.001), Final: "All done."},
		"missing-finish": {Class: agent.OK, Usage: none, Final: "All done."},
		"rate-limit":     {Exit: 1, Class: agent.RateLimited, Message: "APIError: This request would exceed", Wait: 17 * time.Second, Usage: none},
		"login":          {Exit: 1, Class: agent.Login, Message: "invalid x-api-key", Usage: none},
		"quota":          {Exit: 1, Class: agent.Credit, Message: "current quota", Usage: none},
		"empty":          {Class: agent.Failed, Message: "empty result", Usage: in(agenttest.Tokens(120, 0, 0), 0.001)},
		"no-start":       {Exit: 1, Class: agent.Failed, Message: "exit 1: Error: Model not found: x/y"},
	})
}

// An error without words is said to be one.
func TestErrorWithoutWords(t *testing.T) {
	for log, want := range map[string]string{
		`{"type":"error"}`: "reported an error without words",
		`{"type":"error","error":{"data":{"message":"no route"}}}`: "no route",
	} {
		end := opencode.Driver{}.Read(agent.Ended{Exit: 1, Log: []byte(log)})
		require.Equal(t, agent.Failed, end.Class)
		require.Equal(t, want, end.Message)
	}
}

func FuzzRead(f *testing.F) { agenttest.Fuzz(f, opencode.Driver{}) }

func TestStart(t *testing.T) {
	p := &lang.Profile{Agent: &lang.Agent{Name: "a"}, Model: "p/m", Effort: "high", Args: []string{"--agent", "x"}}
	cmd, err := opencode.Driver{}.Start(agent.Start{Profile: p, Prompt: "-do \"it\""})
	require.NoError(t, err)
	require.Equal(t, []string{"opencode", "run", "--format", "json", "--model", "p/m", "--variant", "high", "--agent", "x"}, cmd.Argv)
	require.Equal(t, "-do \"it\"", string(cmd.Stdin))
}

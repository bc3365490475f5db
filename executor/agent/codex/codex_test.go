package codex_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/agent/agenttest"
	"github.com/ufbuild/ufbuild/executor/agent/codex"
	"github.com/ufbuild/ufbuild/lang"
)

func in(u cache.Usage) cache.Usage {
	u.Session = "01a2-thread"
	return u
}

func TestStreams(t *testing.T) {
	full, none := in(agenttest.Tokens(150, 30, 25)), in(cache.Usage{})
	agenttest.Streams(t, codex.Driver{}, map[string]agenttest.Want{
		"ok":          {Class: agent.OK, Usage: full, Final: "All done."},
		"recorded":    {Class: agent.OK, Usage: in(agenttest.Tokens(300, 60, 50)), Final: "All done."},
		"two-turns":   {Class: agent.OK, Usage: in(agenttest.Tokens(150, 30, 12)), Final: "Second."},
		"reconnected": {Class: agent.OK, Usage: full, Final: "All done."},
		"rate-limit":  {Exit: 1, Class: agent.RateLimited, Message: "429 Too Many Requests", Usage: none},
		"usage-limit": {Exit: 1, Class: agent.RateLimited, Message: "usage limit", Wait: 76*time.Hour + 5*time.Minute, Usage: none},
		"login":       {Exit: 1, Class: agent.Login, Message: "401 Unauthorized", Usage: none},
		"payment":     {Exit: 1, Class: agent.Credit, Message: "402 Payment Required", Usage: none},
		"quota":       {Exit: 1, Class: agent.Credit, Message: "Quota exceeded", Usage: none},
		"failed":      {Exit: 1, Class: agent.Failed, Message: "connection refused", Usage: none},
		"empty":       {Class: agent.Failed, Message: "empty result", Usage: in(agenttest.Tokens(10, 0, 0))},
		"cut":         {Class: agent.Failed, Message: "exit 0, but its stream has no result", Usage: none},
		"no-start":    {Exit: 2, Class: agent.Failed, Message: "exit 2: error: unexpected argument"},
	})
}

func FuzzRead(f *testing.F) { agenttest.Fuzz(f, codex.Driver{}) }

func TestLastMessageFile(t *testing.T) {
	log := `{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}`
	end := codex.Driver{}.Read(agent.Ended{Log: []byte(log), Files: map[string][]byte{agent.LastPath: []byte("From the file.\n")}})
	require.Equal(t, agent.OK, end.Class)
	require.Equal(t, "From the file.", end.Final)
	require.Nil(t, end.Usage.CachedTokens, "missing is not zero")
}

func TestStart(t *testing.T) {
	p := &lang.Profile{Agent: &lang.Agent{Name: "a"}, Model: "gpt-5.2-codex", Effort: "high"}
	cmd, err := codex.Driver{}.Start(agent.Start{Profile: p, Prompt: "do it"})
	require.NoError(t, err)
	require.Equal(t, []string{"codex", "exec", "--json", "--skip-git-repo-check", "--output-last-message", agent.LastPath,
		"--sandbox", "workspace-write", "-c", "model_reasoning_effort=high", "--model", "gpt-5.2-codex", "-"}, cmd.Argv)
	require.Equal(t, []string{agent.LastPath}, cmd.Files)

	p = &lang.Profile{Agent: &lang.Agent{Args: []string{"-s", "read-only"}}}
	cmd, err = codex.Driver{}.Start(agent.Start{Profile: p})
	require.NoError(t, err)
	require.NotContains(t, cmd.Argv, "--sandbox")
	require.Equal(t, []string{"-s", "read-only", "-"}, cmd.Argv[len(cmd.Argv)-3:])
}

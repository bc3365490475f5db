package gemini_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/agent/agenttest"
	"github.com/ufbuild/ufbuild/executor/agent/gemini"
	"github.com/ufbuild/ufbuild/lang"
)

func in(u cache.Usage, model string) cache.Usage {
	u.Session, u.Model = "s1", model
	return u
}

func TestStreams(t *testing.T) {
	none := in(cache.Usage{}, "")
	agenttest.Streams(t, gemini.Driver{}, map[string]agenttest.Want{
		"ok":         {Class: agent.OK, Usage: in(agenttest.Tokens(150, 30, 25), "gemini-2.5-pro"), Final: "All done."},
		"two-models": {Class: agent.OK, Usage: in(agenttest.Tokens(160, 30, 27), "gemini-2.5-flash+gemini-2.5-pro"), Final: "All done."},
		"login":      {Exit: 145, Class: agent.Login, Message: "invalid x-api-key", Usage: none},
		"no-auth":    {Exit: 41, Class: agent.Login, Message: "Invalid auth method", Usage: none},
		"rate-limit": {Exit: 173, Class: agent.RateLimited, Message: "current quota", Wait: 17400 * time.Millisecond, Usage: none},
		"quota":      {Exit: 173, Class: agent.Credit, Message: "current quota", Usage: none},
		"max-turns":  {Exit: 53, Class: agent.Failed, Message: "max session turns", Usage: none},
		"empty":      {Class: agent.Failed, Message: "empty result", Usage: none},
		"untrusted":  {Exit: 55, Class: agent.Failed, Message: "exit 55: Gemini CLI is not running in a trusted directory."},
	})
}

// What the model wrote about rate limits pauses no account, whatever the program does behind it.
func TestResponseDoesNotSpeakForTheProgram(t *testing.T) {
	log := "warning: slow disk\n{\n  \"session_id\": \"s1\",\n  \"response\": \"API Error: Rate limit reached, says the client\"\n}\nError: cannot write the history\n"
	end := gemini.Driver{}.Read(agent.Ended{Exit: 1, Log: []byte(log)})
	require.Equal(t, agent.Failed.String(), end.Class.String())
	require.Equal(t, "exit 1: Error: cannot write the history", end.Message)
	require.Equal(t, "s1", end.Usage.Session)
}

func TestModelsAreToldApart(t *testing.T) {
	log, err := os.ReadFile("testdata/two-models.log")
	require.NoError(t, err)
	parts := gemini.Driver{}.Read(agent.Ended{Log: log}).Parts
	require.Len(t, parts, 2)
	require.Equal(t, "gemini-2.5-flash", parts[0].Model)
	require.EqualValues(t, 10, *parts[0].InputTokens)
	require.EqualValues(t, 150, *parts[1].InputTokens)
	log, err = os.ReadFile("testdata/ok.log")
	require.NoError(t, err)
	require.Nil(t, gemini.Driver{}.Read(agent.Ended{Log: log}).Parts)
}

func FuzzRead(f *testing.F) { agenttest.Fuzz(f, gemini.Driver{}) }

func TestStart(t *testing.T) {
	p := &lang.Profile{Name: "p", Agent: &lang.Agent{Name: "a"}, Model: "gemini-2.5-pro"}
	cmd, err := gemini.Driver{}.Start(agent.Start{Profile: p, Prompt: "do it"})
	require.NoError(t, err)
	require.Equal(t, []string{"gemini", "--output-format", "json", "--model", "gemini-2.5-pro", "--yolo"}, cmd.Argv)
	require.Equal(t, "true", cmd.Env["GEMINI_CLI_TRUST_WORKSPACE"])

	p.Effort = "high"
	_, err = gemini.Driver{}.Start(agent.Start{Profile: p})
	require.ErrorContains(t, err, "hint: remove effort from profile \"p\"")

	p = &lang.Profile{Agent: &lang.Agent{Args: []string{"--approval-mode", "auto_edit"}}}
	cmd, err = gemini.Driver{}.Start(agent.Start{Profile: p})
	require.NoError(t, err)
	require.NotContains(t, cmd.Argv, "--yolo")
}

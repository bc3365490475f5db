package exec_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/agent/exec"
	"github.com/ufbuild/ufbuild/lang"
)

func TestStart(t *testing.T) {
	p := &lang.Profile{Agent: &lang.Agent{Name: "a", Command: []string{"sh", "run.sh"}, Args: []string{"-x"}}, Args: []string{"-y"}, Model: "m", Effort: "high"}
	cmd, err := exec.Driver{}.Start(agent.Start{Profile: p, Prompt: "do it"})
	require.NoError(t, err)
	require.Equal(t, []string{"sh", "run.sh", "-x", "-y"}, cmd.Argv)
	require.Equal(t, "do it", string(cmd.Stdin))
	require.Equal(t, map[string]string{"UF_MODEL": "m", "UF_EFFORT": "high"}, cmd.Env)

	_, err = exec.Driver{}.Start(agent.Start{Profile: &lang.Profile{Agent: &lang.Agent{Name: "a"}}})
	require.ErrorContains(t, err, "hint:")
}

func TestRead(t *testing.T) {
	for name, tt := range map[string]struct {
		ended agent.Ended
		class agent.Class
		text  string
		wait  time.Duration
	}{
		"well":                  {agent.Ended{Log: []byte("done\n")}, agent.OK, "", 0},
		"silent":                {agent.Ended{}, agent.OK, "", 0},
		"exit 0, rate limit":    {agent.Ended{Log: []byte("working\nAPI Error: Rate limit reached\n\n")}, agent.RateLimited, "API Error: Rate limit reached", 0},
		"exit 0, with a wait":   {agent.Ended{Log: []byte("Error: Rate limit reached. Please try again in 17 s.\nbye\n")}, agent.RateLimited, "Error: Rate limit reached. Please try again in 17 s.", 17 * time.Second},
		"exit 0, writes of it":  {agent.Ended{Log: []byte("Finding 3: the API answers rate limit exceeded too late\n")}, agent.OK, "", 0},
		"exit 0, long ago":      {agent.Ended{Log: []byte("API Error: Rate limit reached\nretrying\nwrote findings.json\n")}, agent.OK, "", 0},
		"exit 1, credit":        {agent.Ended{Exit: 1, Log: []byte("Credit balance is too low\n" + strings.Repeat("at line\n", 10))}, agent.Credit, "Credit balance is too low", 0},
		"exit 1, login":         {agent.Ended{Exit: 1, Log: []byte("Invalid API key · Please run /login")}, agent.Login, "Invalid API key", 0},
		"exit 2, unknown":       {agent.Ended{Exit: 2, Log: []byte("x\nno such file\n")}, agent.Failed, "exit 2: no such file", 0},
		"killed":                {agent.Ended{Signal: "SIGKILL"}, agent.Failed, "ended by SIGKILL", 0},
		"failed over old noise": {agent.Ended{Exit: 1, Log: []byte("API Error: Rate limit reached\n" + strings.Repeat("at line\n", 30))}, agent.Failed, "exit 1: at line", 0},
	} {
		t.Run(name, func(t *testing.T) {
			end := exec.Driver{}.Read(tt.ended)
			require.Equal(t, tt.class.String(), end.Class.String())
			require.Contains(t, end.Message, tt.text)
			require.Equal(t, tt.wait, end.Wait)
			require.Nil(t, end.Usage.CostUSD)
		})
	}
}

func TestReadUsage(t *testing.T) {
	end := exec.Driver{}.Read(agent.Ended{Usage: []byte(`{"cost_usd":1.5}`)})
	require.InDelta(t, 1.5, *end.Usage.CostUSD, 0)
	require.Nil(t, end.Parts)
	end = exec.Driver{}.Read(agent.Ended{Usage: []byte(`{"model":"a","input_tokens":1,"output_tokens":0}{"model":"b","input_tokens":2,"output_tokens":0}{"model":"a","input_tokens":4,"output_tokens":0}`)})
	require.EqualValues(t, 7, *end.Usage.InputTokens)
	require.Len(t, end.Parts, 2)
	require.EqualValues(t, 5, *end.Parts[0].InputTokens)
	require.Equal(t, "b", end.Parts[1].Model)
	end = exec.Driver{}.Read(agent.Ended{Usage: []byte(`{`)})
	require.Equal(t, agent.OK, end.Class)
	require.Contains(t, end.Warning, "read usage file")
}

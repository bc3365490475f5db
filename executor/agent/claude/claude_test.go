package claude_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/agent/agenttest"
	"github.com/ufbuild/ufbuild/executor/agent/claude"
	"github.com/ufbuild/ufbuild/lang"
)

const session = "5b0c1a52-0000-4000-8000-000000000001"

func used(u cache.Usage, cost float64) cache.Usage {
	u.CostUSD, u.Model, u.Session = &cost, "claude-opus-4-6", session
	return u
}

func TestStreams(t *testing.T) {
	full := used(agenttest.Tokens(150, 30, 25), 0.1265)
	free := used(agenttest.Tokens(150, 30, 25), 0)
	agenttest.Streams(t, claude.Driver{}, map[string]agenttest.Want{
		"ok":            {Class: agent.OK, Usage: full, Final: "All done."},
		"recorded":      {Class: agent.OK, Usage: used(agenttest.Tokens(300, 60, 50), 0.00253), Final: "All done."},
		"report":        {Class: agent.OK, Usage: full, Final: "# Findings\nAPI Error handling: the client gives up when the rate limit is reached.\n"},
		"rate-limit":    {Exit: 1, Class: agent.RateLimited, Message: "Request rejected (429)", Usage: used(agenttest.Tokens(0, 0, 0), 0)},
		"overloaded":    {Exit: 1, Class: agent.RateLimited, Message: "529 Overloaded", Usage: free},
		"usage-limit":   {Class: agent.RateLimited, Message: "usage limit reached", Wait: time.Hour, Usage: free},
		"session-limit": {Exit: 1, Class: agent.RateLimited, Message: "session limit", Wait: 3 * time.Hour, Usage: free},
		"login":         {Exit: 1, Class: agent.Login, Message: "Invalid API key", Usage: free},
		"not-logged-in": {Exit: 1, Class: agent.Login, Message: "Not logged in", Usage: free},
		"credit":        {Exit: 1, Class: agent.Credit, Message: "Credit balance is too low", Usage: free},
		"refused":       {Exit: 1, Class: agent.Refused, Message: "Usage Policy", Usage: full},
		"empty":         {Class: agent.Failed, Message: "empty result", Usage: full},
		"no-turns":      {Class: agent.Failed, Message: "without a turn", Usage: full},
		"max-turns":     {Class: agent.Failed, Message: "error_max_turns", Usage: full},
		"budget":        {Exit: 1, Class: agent.OverBudget, Message: "error_max_budget_usd: Reached maximum budget ($0.1)", Usage: full},
		"killed":        {Exit: 1, Class: agent.Failed, Message: "exit 1", Usage: cache.Usage{InputTokens: agenttest.Ptr[int64](150), CachedTokens: agenttest.Ptr[int64](30), OutputTokens: agenttest.Ptr[int64](2), AtLeast: true, Model: "claude-opus-4-6", Session: session}},
		"no-start":      {Exit: 1, Class: agent.Failed, Message: "exit 1: error: unknown option '--effort'"},
	})
}

// TestOddResults wants money that was named to count, whatever stands beside it or comes after it.
func TestOddResults(t *testing.T) {
	const good = `{"type":"result","subtype":"success","num_turns":2,"result":"done","total_cost_usd":5,"usage":{"input_tokens":7,"output_tokens":2}}` + "\n"
	cost := 5.0
	for name, log := range map[string]string{
		"one":                         good,
		"no newline":                  good[:len(good)-1],
		"a later one without money":   good + `{"type":"result","subtype":"success","num_turns":1,"result":"more"}`,
		"a later one with absurd":     good + `{"type":"result","subtype":"success","result":"more","total_cost_usd":-3}`,
		"numbers that are none":       `{"type":"result","subtype":"success","num_turns":"two","api_error_status":[],"result":"done","total_cost_usd":5,"usage":{"input_tokens":7,"output_tokens":2,"cache_read_input_tokens":1e999}}`,
		"members of another type":     `{"type":"result","subtype":"success","errors":{"0":"x"},"stop_reason":{"why":1},"result":"done","total_cost_usd":5,"usage":{"input_tokens":7,"output_tokens":2}}`,
		"followed by one that is cut": good + `{"type":"result","subtype":"success","result":"mo`,
	} {
		t.Run(name, func(t *testing.T) {
			end := claude.Driver{}.Read(agent.Ended{Log: []byte(log)})
			require.Equal(t, agent.OK.String(), end.Class.String(), end.Message)
			require.Equal(t, &cost, end.Usage.CostUSD)
			require.EqualValues(t, 7, *end.Usage.InputTokens)
			require.EqualValues(t, 2, *end.Usage.OutputTokens)
		})
	}
}

// TestAccountsBehindOtherEnds wants what the account says to count, also where the result calls itself no error, or had no turn.
func TestAccountsBehindOtherEnds(t *testing.T) {
	for log, want := range map[string]struct {
		class agent.Class
		words string
		wait  time.Duration
	}{
		`{"type":"result","subtype":"success","num_turns":0,"result":"5-hour limit reached ∙ resets 3pm"}`:                                {agent.RateLimited, "5-hour limit", 3 * time.Hour},
		`{"type":"result","subtype":"success","num_turns":0,"result":"Credit balance is too low"}`:                                        {agent.Credit, "Credit balance", 0},
		`{"type":"result","subtype":"success","num_turns":0,"result":"Nothing to do."}`:                                                   {agent.Failed, "ended without a turn: Nothing to do.", 0},
		`{"type":"result","subtype":"success","num_turns":3,"result":"Weekly limit reached: the vault caps withdrawals. It holds."}`:      {agent.OK, "", 0},
		`{"type":"result","subtype":"success","num_turns":3,"result":"No borrower can get the weekly limit reached by another."}`:         {agent.OK, "", 0},
		`{"type":"result","subtype":"error_during_execution","is_error":false,"errors":["API Error: 429 rate_limit_error"]}`:              {agent.RateLimited, "429", 0},
		`{"type":"result","subtype":"error_max_turns","is_error":false,"result":"API Error: 429 is what the client answers","errors":[]}`: {agent.Failed, "API Error", 0},
	} {
		end := claude.Driver{}.Read(agent.Ended{Log: []byte(log), Now: agenttest.Now})
		require.Equal(t, want.class.String(), end.Class.String(), log)
		require.Contains(t, end.Message, want.words)
		require.Equal(t, want.wait, end.Wait, log)
	}
}

func FuzzRead(f *testing.F) { agenttest.Fuzz(f, claude.Driver{}) }

func TestStart(t *testing.T) {
	p := &lang.Profile{Agent: &lang.Agent{Name: "a", Args: []string{"--add-dir", "/x"}}, Model: "opus", Effort: "high", Args: []string{"--max-turns", "9"}}
	cmd, err := claude.Driver{}.Start(agent.Start{Profile: p, Prompt: "do it", BudgetUSD: 2.5})
	require.NoError(t, err)
	require.Equal(t, []string{"claude", "--print", "--output-format", "stream-json", "--verbose", "--model", "opus", "--effort", "high",
		"--max-budget-usd", "2.5", "--permission-mode", "bypassPermissions", "--add-dir", "/x", "--max-turns", "9"}, cmd.Argv)
	require.Equal(t, "do it", string(cmd.Stdin))

	p = &lang.Profile{Agent: &lang.Agent{Command: []string{"npx", "claude"}}, Args: []string{"--permission-mode=plan"}}
	cmd, err = claude.Driver{}.Start(agent.Start{Profile: p})
	require.NoError(t, err)
	require.Equal(t, []string{"npx", "claude", "--print", "--output-format", "stream-json", "--verbose", "--permission-mode=plan"}, cmd.Argv)
}

package agent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/lang"
)

func ptr[T any](v T) *T { return &v }

func TestParseUsage(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		want cache.Usage
		bad  bool
	}{
		"nothing": {in: ""},
		"all": {in: `{"input_tokens":10,"cached_tokens":4,"output_tokens":5,"cost_usd":0.25,"model":"m","session":"s","new":1}`,
			want: cache.Usage{InputTokens: ptr[int64](10), CachedTokens: ptr[int64](4), OutputTokens: ptr[int64](5), CostUSD: ptr(0.25), Model: "m", Session: "s"}},
		"missing is not zero": {in: `{"output_tokens":5}`, want: cache.Usage{OutputTokens: ptr[int64](5)}},
		"zero is known":       {in: `{"cost_usd":0}`, want: cache.Usage{CostUSD: ptr(0.0)}},
		"negative":            {in: `{"input_tokens":-1,"cost_usd":-0.5}`},
		"too many":            {in: `{"input_tokens":1e30}`},
		"several add up": {in: "{\"input_tokens\":1,\"cost_usd\":1,\"model\":\"a\"}\n{\"input_tokens\":2,\"model\":\"b\"}",
			want: cache.Usage{InputTokens: ptr[int64](3), CostUSD: ptr(1.0), AtLeast: true, Model: "b"}},
		"absurd":                          {in: `{"cost_usd":1e308}{"cost_usd":1e308}`},
		"a lie does not undo a word":      {in: `{"cost_usd":10}{"cost_usd":-9}`, want: cache.Usage{CostUSD: ptr(10.0), AtLeast: true}},
		"cut short":                       {in: `{"cost_usd":60}{"cost_usd":4`, bad: true, want: cache.Usage{CostUSD: ptr(60.0), AtLeast: true}},
		"what is no number hides nothing": {in: `{"input_tokens":"many","cached_tokens":{},"output_tokens":1e999,"cost_usd":"1.5"}`, want: cache.Usage{CostUSD: ptr(1.5)}},
		"what is no name hides nothing":   {in: `{"model":5,"cost_usd":2}{"cost_usd":1}`, bad: true, want: cache.Usage{CostUSD: ptr(3.0), AtLeast: true}},
		"sums stay numbers": {in: strings.Repeat(`{"input_tokens":8e12,"output_tokens":1,"cost_usd":1e12}`, 2000),
			want: cache.Usage{InputTokens: ptr[int64](1 << 43), OutputTokens: ptr[int64](2000), CostUSD: ptr(1e12)}},
		"no object": {in: `[1]`, bad: true, want: cache.Usage{AtLeast: true}},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := agent.ParseUsage([]byte(tt.in))
			require.Equal(t, tt.bad, err != nil)
			require.Equal(t, tt.want, got)
		})
	}
}

func FuzzParseUsage(f *testing.F) {
	f.Add([]byte(`{"input_tokens":1}{"cost_usd":0.5}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		u, _ := agent.ParseUsage(b)
		if u.InputTokens != nil && *u.InputTokens < 0 || u.CostUSD != nil && *u.CostUSD < 0 {
			t.Fatalf("negative usage from %q", b)
		}
		if _, err := json.Marshal(u); err != nil {
			t.Fatalf("usage from %q cannot be written down: %v", b, err)
		}
	})
}

func TestCompose(t *testing.T) {
	require.Equal(t, "just the prompt", agent.Compose("just the prompt", nil, nil))
	c := &lang.Contract{Name: "findings", Kind: "json", HasEmpty: true, Empty: "[]"}
	outs := []lang.Output{{Name: "findings", Path: "findings.json", Contract: c}, {Name: "notes", Path: "n.md", Optional: true}}
	got := agent.Compose("# Find\nlook around", outs, []string{"contract: a\nb"})
	require.Contains(t, got, "# Find\nlook around\n\n## Outputs\n")
	require.Contains(t, got, "### findings\n\n- Write it to `findings.json`.")
	require.Contains(t, got, "\n\n### notes\n\n- Write it to `n.md`.\n- It may be left out.\n\n## What the last try got wrong\n")
	require.Contains(t, got, "- contract: a\n  b\n")
	require.NotContains(t, agent.Compose("x", outs, nil), "last try")
	require.Equal(t, "# What the contract said\n\n- a\n- b\n", string(agent.FeedbackFile([]string{"a", "b"})))
}

func TestRegistry(t *testing.T) {
	_, err := agent.Registry{"exec": nil, "claude": nil}.Driver("codx")
	require.EqualError(t, err, "find adapter \"codx\": unknown\nhint: one of claude, exec")
}

func TestClasses(t *testing.T) {
	for c, want := range map[agent.Class]cache.Outcome{
		agent.OK: cache.OK, agent.Failed: cache.Failed, agent.Refused: cache.Refused,
		agent.RateLimited: cache.RateLimited, agent.Credit: cache.Account, agent.Login: cache.Account,
		agent.OverBudget: cache.OverBudget,
	} {
		require.Equal(t, want, c.Outcome(), c.String())
		require.True(t, c.Outcome().Valid())
		require.Equal(t, want == cache.Account || want == cache.RateLimited, c.OfAccount())
	}
	require.Panics(t, func() { agent.Class(0).Outcome() })
}

// TestEndOfALostStream: of a stream of which some is lost nobody can say that it had no result; what else speaks against the attempt counts.
func TestEndOfALostStream(t *testing.T) {
	whole := agent.Ended{Log: []byte("{\"type\":\"assistant\"}\n")}
	cut := whole
	cut.Cut = true
	require.Equal(t, agent.Failed, agent.Unfinished(whole).Class)
	require.Equal(t, agent.OK, agent.Unfinished(cut).Class)
	require.NotEmpty(t, agent.Unfinished(cut).Warning)
	cut.Exit = 1
	require.Equal(t, agent.Failed, agent.Unfinished(cut).Class)
}

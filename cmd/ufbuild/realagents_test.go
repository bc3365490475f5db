package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// agentsDir is where "make test-agents" has installed the programs of the adapters.
var agentsDir = flag.String("agents", "", "directory with the real agent programs; without it they are not tried")

// realAgent is one program of an adapter with what makes it talk to the stub.
type realAgent struct {
	program string
	agent   string // the block's body; %s is the address of the stub
	model   string
	input   int // tokens that one call counts as input
	cost    bool
	user    map[string]string // files below HOME
	errors  map[int]string    // bodies of errors as the provider words them
}

var realAgents = []realAgent{
	{
		program: "claude", model: "claude-opus-4-6", input: stubFresh + stubCacheRead + stubWritten, cost: true,
		agent: `adapter = "claude"
  env = {
    ANTHROPIC_BASE_URL = "%s", IS_SANDBOX = "1", CLAUDE_CODE_MAX_RETRIES = "0", CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC = "1"
  }`,
		errors: map[int]string{
			401: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
			402: `{"type":"error","error":{"type":"billing_error","message":"Your credit balance is too low to access the Anthropic API."}}`,
			429: `{"type":"error","error":{"type":"rate_limit_error","message":"This request would exceed your rate limit."}}`,
		},
	},
	{
		program: "codex", model: "gpt-5", input: stubFresh + stubCacheRead,
		agent: `adapter = "codex"
  args = [
    "--dangerously-bypass-approvals-and-sandbox", "-c", "model_provider=stub", "-c",
    "model_providers.stub={name=\"stub\",base_url=\"%s/v1\",env_key=\"STUB_KEY\",wire_api=\"responses\",request_max_retries=0,stream_max_retries=0}",
  ]`,
		errors: map[int]string{
			401: `{"error":{"message":"Incorrect API key provided: sk-stub.","type":"invalid_request_error","code":"invalid_api_key"}}`,
			402: `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`,
			429: `{"error":{"message":"Rate limit reached for gpt-5. Please try again in 17s.","type":"requests","code":"rate_limit_exceeded"}}`,
		},
	},
	{
		program: "gemini", model: "gemini-2.5-pro", input: stubFresh + stubCacheRead,
		agent: `adapter = "gemini"
  env = { GOOGLE_GEMINI_BASE_URL = "%s", GEMINI_SANDBOX = "false" }`,
		user: map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}},"privacy":{"usageStatisticsEnabled":false}}`},
		errors: map[int]string{
			401: `{"error":{"code":401,"message":"API key not valid. Please pass a valid API key.","status":"UNAUTHENTICATED"}}`,
			402: `{"error":{"code":402,"message":"Your prepayment credits are depleted. Please go to AI Studio to manage your project and billing.","status":"FAILED_PRECONDITION"}}`,
		},
	},
	{
		program: "opencode", model: "anthropic/claude-opus-4-6", input: stubFresh + stubCacheRead + stubWritten, cost: true,
		agent: `adapter = "opencode"
  env = {
    OPENCODE_CONFIG_CONTENT = "{\"autoupdate\":false,\"share\":\"disabled\",\"provider\":{\"anthropic\":{\"options\":{\"baseURL\":\"%s/v1\"}}}}"
  }`,
		errors: map[int]string{
			401: `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`,
			402: `{"type":"error","error":{"type":"billing_error","message":"Your credit balance is too low to access the Anthropic API."}}`,
		},
	},
}

// TestRealAgents runs a prompt task through each real program against a model server on loopback: what it
// wrote, what its own stream says it used, and how it words an account without login, credit or patience.
func TestRealAgents(t *testing.T) {
	if *agentsDir == "" {
		t.Skip("the real programs are tried by make test-agents")
	}
	for _, a := range realAgents {
		t.Run(a.program, func(t *testing.T) {
			bin, err := filepath.Abs(filepath.Join(*agentsDir, "node_modules", ".bin"))
			require.NoError(t, err)
			if _, err := os.Stat(filepath.Join(bin, a.program)); err != nil {
				t.Skipf("%s is not installed", a.program)
			}
			said, err := exec.Command(filepath.Join(bin, a.program), "--version").Output()
			require.NoError(t, err)
			t.Logf("%s %s", a.program, strings.TrimSpace(string(said)))
			t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
			t.Run("writes", a.writes)
			for status, class := range map[int]string{401: "account", 402: "account", 429: "rate limited"} {
				if a.errors[status] != "" {
					t.Run(fmt.Sprint(status), func(t *testing.T) { a.isTold(t, status, class) })
				}
			}
		})
	}
}

// home is a campaign of one prompt for the agent, in an environment of its own.
func (a realAgent) home(t *testing.T, stub *modelStub, deadline string) *home {
	h := newHome(t, map[string]string{"campaign.hcl": fmt.Sprintf(`campaign {
  deadline = "%s"
}
agent "real" {
  %s
  pass_env = ["ANTHROPIC_API_KEY", "STUB_KEY", "GEMINI_API_KEY"]
}
profile "default" {
  agent = agent.real
  model = "%s"
}
contract "list" {
  kind      = "json"
  min_items = 1
}
task "write" {
  prompt_text = "Write a JSON list with one number to list.json."
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
`, deadline, fmt.Sprintf(a.agent, stub.URL), a.model)})
	user := t.TempDir()
	for name, text := range a.user {
		file := filepath.Join(user, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
	for _, name := range []string{"ANTHROPIC_API_KEY", "STUB_KEY", "GEMINI_API_KEY"} {
		h.env = append(h.env, name+"=sk-stub-0123456789")
	}
	h.env = append(h.env, "HOME="+user)
	return h
}

func (a realAgent) writes(t *testing.T) {
	stub := newModelStub(t)
	h := a.home(t, stub, "3m")
	h.must("build", "--progress", "none")
	b, err := os.ReadFile(filepath.Join(h.dir, "out", "write", "list.json"))
	require.NoError(t, err)
	require.Equal(t, "[1]\n", string(b))
	require.Contains(t, stub.keys, "sk-stub-0123456789", "the credential that pass_env names")

	var shown struct {
		Attempts []struct {
			Captured struct {
				Usage struct {
					InputTokens  *int     `json:"input_tokens"`
					CachedTokens *int     `json:"cached_tokens"`
					OutputTokens *int     `json:"output_tokens"`
					CostUSD      *float64 `json:"cost_usd"`
					Session      string
				}
			}
		}
	}
	said := h.must("show", "write", "--history", "--json")
	require.NoError(t, json.Unmarshal([]byte(said), &shown), said)
	require.Len(t, shown.Attempts, 1, said)
	used := shown.Attempts[0].Captured.Usage
	require.NotNil(t, used.InputTokens, said)
	require.Equal(t, stub.calls*a.input, *used.InputTokens, "%d calls: %s", stub.calls, said)
	require.Equal(t, stub.calls*stubCacheRead, *used.CachedTokens, said)
	require.Equal(t, stub.calls*stubOutput, *used.OutputTokens, said)
	require.Equal(t, a.cost, used.CostUSD != nil, said)
	require.NotEmpty(t, used.Session, said)
	require.Contains(t, h.must("build", "--progress", "none"), "1 fresh")
}

// isTold holds that the program's own words for an error of the account are understood: no try is used.
func (a realAgent) isTold(t *testing.T, status int, class string) {
	stub := newModelStub(t)
	stub.fails(status, a.errors[status])
	deadline := "2m"
	if status == 429 {
		deadline = "20s" // a rate limit is waited for until then
	}
	h := a.home(t, stub, deadline)
	said, code := h.run("build", "--progress", "none")
	require.Equal(t, exitBudget, code, said)
	history := h.must("show", "write", "--history")
	require.Contains(t, history, class, said)
	require.NotContains(t, history, "failed", said)
}

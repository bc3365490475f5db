package lang

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeTree writes files given as name → text below a fresh directory.
func writeTree(t testing.TB, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		p := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
		require.NoError(t, os.WriteFile(p, []byte(text), 0o644))
	}
	return dir
}

// loadClean loads a campaign that must have no problem.
func loadClean(t testing.TB, files map[string]string) *Campaign {
	t.Helper()
	c, ds := Load(Options{Dir: writeTree(t, files)})
	require.Empty(t, ds)
	return c
}

// fakeResults answers with texts: outputs by address, then by name.
type fakeResults map[string]map[string]string

func (u fakeResults) Result(a Address) (Result, bool) {
	outputs, ok := u[a.String()]
	if !ok {
		return Result{}, false
	}
	res := Result{OK: true, Status: "ok", Outputs: map[string]OutputResult{}}
	for name, text := range outputs {
		res.Outputs[name] = OutputResult{Exists: true, Digest: "blake3:" + name, Read: func() ([]byte, error) { return []byte(text), nil }}
	}
	return res, true
}

func instanceAt(t testing.TB, c *Campaign, address string) *Instance {
	t.Helper()
	a, err := ParseAddress(address)
	require.NoError(t, err)
	i, ok := c.Instance(a)
	require.True(t, ok, address)
	return i
}

func TestRenderPathsAndValues(t *testing.T) {
	c := loadClean(t, map[string]string{"campaign.hcl": `
contract "list" { kind = "json" }
task "a" {
  command = ["sh", "-c", "echo []"]
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
  output "log" { path = "log.txt" }
}
task "b" {
  command = ["cat", task.a.outputs.list.path, "n=${length(task.a.outputs.list.json)}"]
  env     = { LOG = task.a.outputs.log.path, AGAIN = "${task.a.outputs.list.path}:x" }
  output "o" { path = "o" }
}
`})
	results := fakeResults{"a": {"list": `[1, 2]`, "log": "hi"}}
	r, ds := c.Render(instanceAt(t, c, "b"), results)
	require.Empty(t, ds)
	require.True(t, r.When)
	require.Equal(t, []Text{
		{"cat", "cat"}, {".uf/in/a/list", "␟in1␟"}, {"n=2", "n=2"},
	}, r.Argv)
	require.Equal(t, []EnvVar{
		{"AGAIN", Text{".uf/in/a/list:x", "␟in1␟:x"}}, {"LOG", Text{".uf/in/a/log", "␟in2␟"}},
	}, r.Env)
	require.Equal(t, []Flow{
		{From: Address{Task: "a"}, Output: "list", Mount: ".uf/in/a/list"},
		{From: Address{Task: "a"}, Output: "log", Mount: ".uf/in/a/log"},
	}, r.Flows)
}

func TestRenderExample(t *testing.T) {
	c, ds := Load(Options{Dir: "testdata/example"})
	require.Empty(t, ds)
	results := fakeResults{
		"goal-plan":  {"plan": `{"threat_goals":[{"id":"x","title":"T","goal_prompt":"P"},{"id":"y","title":"U","goal_prompt":"Q","class_ids":["c"]}]}`},
		"properties": {"catalog": `{"properties":[]}`},
	}
	task, _ := c.Task("threat-goals")
	is, ds := c.Expand(task, results)
	require.Empty(t, ds)
	for _, i := range is {
		r, ds := c.Render(i, results)
		require.Empty(t, ds)
		t.Log(i.Address, r.Prompt.Real, r.Flows)
	}
	for _, n := range []string{"strategy/round-trip#1", "boundary-tests@audit-heavy#0", "dedupe", "final-report", "property-lens/certora"} {
		r, ds := c.Render(instanceAt(t, c, n), results)
		for _, d := range ds {
			t.Log(d.Code, d.Subject, d.Summary)
		}
		t.Log(n, r.Prompt.Real, r.Prompt.Canonical, r.Flows, r.Absent, r.Vars)
	}
}

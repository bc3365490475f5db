package lang

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func taskNames(c *Campaign) []string {
	var names []string
	for _, t := range c.Tasks {
		names = append(names, t.Name)
	}
	return names
}

func TestTheNearestCampaignWins(t *testing.T) {
	task := func(name string) string { return "task \"" + name + "\" {\n  command = [\"true\"]\n}\n" }
	dir := writeTree(t, map[string]string{
		"campaign.hcl": task("outer"), "z.campaign.hcl": task("more"), "other.hcl": task("other"),
		"inner/campaign.hcl": task("inner"), "inner/deep/er/x.txt": "", "sub/x.txt": "",
	})
	for start, want := range map[string][]string{"sub": {"outer", "more"}, "inner/deep/er": {"inner"}, ".": {"outer", "more"}} {
		c, ds := Load(Options{Dir: filepath.Join(dir, start)})
		require.Empty(t, ds)
		require.Equal(t, want, taskNames(c), start)
	}
	c, ds := Load(Options{File: filepath.Join(dir, "other.hcl")})
	require.Empty(t, ds)
	require.Equal(t, []string{"other", "more"}, taskNames(c), "an explicit file stands in for campaign.hcl")
	require.Equal(t, dir, c.Root)
	_, ds = Load(Options{File: filepath.Join(dir, "gone.hcl")})
	require.Equal(t, "UF1001", ds[0].Code)
}

func TestLinksDoNotLeaveTheCampaign(t *testing.T) {
	outside := writeTree(t, map[string]string{"secret.md": "outside"})
	dir := writeTree(t, map[string]string{"prompts/in.md": "inside", "campaign.hcl": `
agent "e" {
  adapter = "exec"
  command = ["cat"]
}
profile "default" {
  agent = agent.e
}
task "a" {
  prompt = "prompts/link.md"
  output "o" { path = "o" }
}
task "b" {
  prompt = "prompts/fine.md"
  output "o" { path = "o" }
}
`})
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.md"), filepath.Join(dir, "prompts/link.md")))
	require.NoError(t, os.Symlink("in.md", filepath.Join(dir, "prompts/fine.md")))
	_, ds := Load(Options{Dir: dir})
	require.Len(t, ds, 1)
	require.Equal(t, "UF5002", ds[0].Code)
}

func TestRenderIsSafeForConcurrentUse(t *testing.T) {
	c, ds := Load(Options{Dir: "testdata/example"})
	require.Empty(t, ds)
	up := fakeUpstream{
		"goal-plan":  {"plan": `{"threat_goals":[{"id":"x","title":"T","goal_prompt":"P"}]}`},
		"properties": {"catalog": `{"properties":[]}`},
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for _, task := range c.Tasks {
				is, _ := c.Expand(task, up)
				for _, i := range is {
					c.Render(i, up)
				}
			}
		}()
	}
	wg.Wait()
}

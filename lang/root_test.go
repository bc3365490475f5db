package lang

import (
	"os"
	"path/filepath"
	"sync"
	"syscall"
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
	require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl.json"), []byte(`{"task": {"json": {"command": ["true"]}}}`), 0o644))
	c, ds = Load(Options{File: filepath.Join(dir, "other.hcl")})
	require.Empty(t, ds)
	require.Equal(t, []string{"other", "more"}, taskNames(c), "in either syntax")
	c, ds = Load(Options{Dir: dir})
	require.Empty(t, ds)
	require.Equal(t, []string{"outer", "json", "more"}, taskNames(c), "whose two forms are one campaign")
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
	results := fakeResults{
		"goal-plan":  {"plan": `{"threat_goals":[{"id":"x","title":"T","goal_prompt":"P"}]}`},
		"properties": {"catalog": `{"properties":[]}`},
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for _, task := range c.Tasks {
				is, _ := c.Expand(task, results)
				for _, i := range is {
					c.Render(i, results)
				}
			}
		}()
	}
	wg.Wait()
}

// A file that cannot be read may hold whatever seems to be missing, so nothing is said of that.
func TestWhatMayBeInAnUnreadableFileIsNotMissed(t *testing.T) {
	dir := writeTree(t, map[string]string{"campaign.hcl": "task \"a\" {\n  command    = [\"true\"]\n  depends_on = [task.b]\n}\n"})
	_, ds := Load(Options{Dir: dir})
	require.Equal(t, []string{"UF2002"}, codesOf(ds))
	require.NoError(t, os.Symlink("gone", filepath.Join(dir, "b.campaign.hcl")))
	_, ds = Load(Options{Dir: dir})
	require.Equal(t, []string{"UF1001"}, codesOf(ds))
}

// A named pipe has no bytes until somebody writes to it, which may be never.
func TestAPipeIsNoFile(t *testing.T) {
	dir := writeTree(t, map[string]string{"campaign.hcl": ""})
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	_, err := newSources(dir).read("pipe", maxDataFile)
	require.ErrorContains(t, err, "no regular file")
}

// A prompt is a text of expressions too, where it may be longer.
func TestEachUseOfAFileHasItsOwnLimit(t *testing.T) {
	for _, first := range []int64{4, 8} {
		s := newSources(writeTree(t, map[string]string{"x": "123456"}))
		_, _ = s.read("x", first)
		b, err := s.read("x", 8)
		require.NoError(t, err)
		require.Equal(t, "123456", string(b))
		_, err = s.read("x", 4)
		require.ErrorIs(t, err, errTooLarge)
		require.Len(t, s.list(), 1)
	}
}

package graphtest_test

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/graph/graphtest"
	"github.com/ufbuild/ufbuild/lang"
)

func random(seed uint64, n int) (*graphtest.Model, *rand.Rand) {
	r := rand.New(rand.NewPCG(seed, 1))
	return graphtest.Random(r, n), r
}

// TestModelsAreSoundCampaigns loads what the model writes, edit after edit.
func TestModelsAreSoundCampaigns(t *testing.T) {
	for seed := range uint64(5) {
		m, r := random(seed, 12)
		dir := t.TempDir()
		for range 25 {
			writeFiles(t, dir, m.Files())
			c, ds := lang.Load(lang.Options{Dir: dir, RequireValues: true})
			require.False(t, ds.HasErrors(), "%v\n%s", ds, m.Files()["campaign.hcl"])
			g, ds := graph.Build(c)
			require.False(t, ds.HasErrors(), "%v", ds)
			require.Len(t, g.Order(), len(m.Names()))
			m.Mutate(r)
		}
	}
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
	}
}

func TestSameSeedSameStory(t *testing.T) {
	tell := func() (string, map[string]string) {
		m, r := random(7, 10)
		var story []string
		for range 30 {
			story = append(story, m.Mutate(r))
		}
		return strings.Join(story, "\n"), m.Files()
	}
	a, files := tell()
	b, again := tell()
	require.Equal(t, a, b)
	require.Equal(t, files, again)
	require.Regexp(t, regexp.MustCompile("rename|go back"), a)
}

// TestReferenceAgreesWithTheShell runs the commands of a model in order of need, with nothing of
// ufbuild, and compares with Want.
func TestReferenceAgreesWithTheShell(t *testing.T) {
	m, _ := random(3, 15)
	dir := t.TempDir()
	writeFiles(t, dir, m.Files())
	c, ds := lang.Load(lang.Options{Dir: dir, RequireValues: true})
	require.False(t, ds.HasErrors(), "%v", ds)
	g, _ := graph.Build(c)
	for _, id := range g.Order() {
		inst := g.Node(id).Instance
		rendered, ds := c.Render(inst, allRan{})
		require.False(t, ds.HasErrors(), "%v", ds)
		var argv []string
		for _, arg := range rendered.Argv {
			argv = append(argv, arg.Real)
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), graphtest.TraceVariable+"="+filepath.Join(dir, "trace"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		mounted := filepath.Join(dir, ".uf", "in", inst.Address.Task)
		require.NoError(t, os.MkdirAll(mounted, 0o755))
		require.NoError(t, os.Rename(filepath.Join(dir, graphtest.Output), filepath.Join(mounted, "o")))
	}
	for name, want := range m.Want() {
		got, err := os.ReadFile(filepath.Join(dir, ".uf", "in", name, "o"))
		require.NoError(t, err)
		require.Equal(t, want, string(got), name)
	}
	trace, err := os.ReadFile(filepath.Join(dir, "trace"))
	require.NoError(t, err)
	require.Equal(t, len(m.Names()), bytes.Count(trace, []byte("\n")))
}

// allRan says that every instance succeeded.
type allRan struct{}

// Result implements lang.Results.
func (allRan) Result(lang.Address) (lang.Result, bool) {
	return lang.Result{OK: true, Status: "ok", Outputs: map[string]lang.OutputResult{"o": {Exists: true, Digest: "b3:x/1"}}}, true
}

// TestRunsChangesWithWhatMatters keeps the reference honest in both directions.
func TestRunsChangesWithWhatMatters(t *testing.T) {
	silent := regexp.MustCompile("^(touch|rename|reorder|edit a comment|edit the timeout)")
	loud, quiet := 0, 0
	for seed := range uint64(10) {
		m, r := random(seed, 10)
		for range 20 {
			before, text := m.Runs(), m.Files()["campaign.hcl"]
			what := m.Mutate(r)
			if silent.MatchString(what) {
				require.Equal(t, before, m.Runs(), what)
				quiet++
			} else if strings.HasPrefix(what, "edit the command") && text != m.Files()["campaign.hcl"] {
				require.NotEqual(t, before, m.Runs(), what)
				loud++
			}
		}
	}
	require.Positive(t, loud)
	require.Positive(t, quiet)
}

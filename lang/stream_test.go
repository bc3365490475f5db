package lang

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// TestStreamLoadsAlike proves that a campaign that is loaded as a stream is the campaign that is loaded as a whole, says the same
// and renders the same: over the corpora, the examples, and the campaigns of the program's scripts.
func TestStreamLoadsAlike(t *testing.T) {
	var seen likeness
	for _, o := range everyCampaign(t) {
		seen.alike(t, o)
	}
	require.Greater(t, seen.streamed, 150)
	require.Greater(t, seen.letGo, 200)
	require.Greater(t, seen.rendered, 400)
	require.Greater(t, seen.plain, 150)
}

// TestStreamIsAskedEverything proves that the test above asks a campaign all that can be asked: what it does not ask might look for
// trees that were let go.
func TestStreamIsAskedEverything(t *testing.T) {
	asked := []string{"Passed", "Occurrences", "Declared", "Complete", "PromptTasks", "Outline", "CommandWords", "Written", "Origins", "Render", "Withheld", "PromptReaders", "FileBlocks", "DataFiles", "ListsFiles"}
	ofTrees := []string{"Expand", "RunTest"} // asks only what those do, and expand blocks, which are kept
	ofData := []string{"Source", "Task", "Instance", "Group", "Contract", "Profile", "Pool", "Agent", "Reference", "RemoteNamed", "Unignored", "LooksSame"}
	var all []string
	for m := range reflect.TypeFor[*Campaign]().Methods() {
		all = append(all, m.Name)
	}
	require.ElementsMatch(t, slices.Concat(asked, ofTrees, ofData), all)
}

// everyCampaign writes the campaigns that there are in this repository and returns how to load them.
func everyCampaign(t *testing.T) []Options {
	var all []Options
	for _, pattern := range []string{"testdata/valid/*", "testdata/invalid/*"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, p := range paths {
			c := readCase(t, p)
			c.o.Dir = writeTree(t, c.files)
			all = append(all, c.o)
		}
	}
	examples, err := filepath.Glob("../examples/*/campaign.hcl")
	require.NoError(t, err)
	for _, p := range examples {
		all = append(all, Options{Dir: filepath.Dir(p)})
	}
	scripts, err := filepath.Glob("../cmd/ufbuild/testdata/script/*.txtar")
	require.NoError(t, err)
	for _, p := range scripts {
		b, err := os.ReadFile(p)
		require.NoError(t, err)
		files := map[string]string{}
		for _, f := range txtar.Parse(b).Files {
			if !strings.HasPrefix(f.Name, "/") {
				files[f.Name] = string(f.Data)
			}
		}
		if _, ok := files["campaign.hcl"]; ok {
			all = append(all, Options{Dir: writeTree(t, files)})
		}
	}
	return all
}

// likeness counts what was compared.
type likeness struct{ streamed, letGo, rendered, plain int }

func loadAs(t *testing.T, o Options, stream int) (*Campaign, Diagnostics) {
	root, names, err := Locate(o)
	require.NoError(t, err)
	l := newLoader(o, root).loadFiles(names, stream)
	return l.c, l.finish()
}

func blocksOf(c *Campaign) map[string][]FileBlock {
	blocks := map[string][]FileBlock{}
	for _, f := range c.Files {
		if of, ok := c.FileBlocks(f); ok {
			blocks[f.Path] = of
		}
	}
	return blocks
}

func (s *likeness) alike(t *testing.T, o Options) {
	whole, want := loadAs(t, o, math.MaxInt)
	parts, got := loadAs(t, o, 0)
	require.Equal(t, want, got, o.Dir)
	require.Equal(t, len(whole.Tasks), len(parts.Tasks), o.Dir)
	for _, ask := range []func(*Campaign) any{
		func(c *Campaign) any { return c.Passed() },
		func(c *Campaign) any { return c.Occurrences() },
		func(c *Campaign) any { return c.Declared("task") },
		func(c *Campaign) any { return c.Complete(Ask{Text: []byte("task.x"), At: 5}) },
		func(c *Campaign) any { return c.PromptTasks("prompts/a.md") },
		func(c *Campaign) any { return c.PromptReaders() },
		func(c *Campaign) any { return c.DataFiles() },
		func(c *Campaign) any { return c.ListsFiles() },
		func(c *Campaign) any { return blocksOf(c) },
	} {
		require.Equal(t, ask(whole), ask(parts), o.Dir)
	}
	before := s.letGo
	for n, a := range whole.Tasks {
		b := parts.Tasks[n]
		require.Equal(t, plainTask(a), plainTask(b), o.Dir)
		if parts.eval.tasks[b.Name].taskText == nil {
			s.letGo++
		}
		for k := range a.Instances {
			require.Equal(t, plainInstance(a.Instances[k]), plainInstance(b.Instances[k]), o.Dir)
			if !want.HasErrors() {
				s.render(t, whole, parts, a.Instances[k], b.Instances[k])
			}
		}
	}
	if s.letGo > before {
		s.streamed++
	}
}

// plainTask is a task without what leads to others.
func plainTask(t *Task) Task {
	p := *t
	p.Instances = nil
	return p
}

func plainInstance(i *Instance) Instance {
	p := *i
	p.Task, p.late = nil, nil
	return p
}

func (s *likeness) render(t *testing.T, whole, parts *Campaign, a, b *Instance) {
	require.Equal(t, whole.Outline(a), parts.Outline(b))
	require.Equal(t, whole.CommandWords(a), parts.CommandWords(b))
	require.Equal(t, whole.Written(a), parts.Written(b))
	require.Equal(t, whole.Origins(a), parts.Origins(b))
	require.Equal(t, whole.Withheld(a), parts.Withheld(b))
	for _, all := range []anyResults{{"ok", true, "[]"}, {"failed", false, "text"}} {
		results := resultsOf{whole, all}
		want, said := whole.Render(a, results)
		got, saidToo := parts.Render(b, results)
		require.Equal(t, said, saidToo)
		require.Equal(t, want, got)
		if want.When {
			s.rendered++
		}
		if newRenderer(parts.eval, b, results).plainRun() { // with no tree
			s.plain++
		}
	}
}

// anyResults is what every instance comes to.
type anyResults struct {
	status string
	ok     bool
	text   string
}

// resultsOf gives the outputs of each instance that content.
type resultsOf struct {
	c *Campaign
	anyResults
}

func (r resultsOf) Result(a Address) (Result, bool) {
	res := Result{OK: r.ok, Status: r.status, Outputs: map[string]OutputResult{}}
	t, ok := r.c.Task(a.Task)
	if !ok || len(t.Instances) == 0 {
		return res, ok
	}
	for _, o := range t.Instances[0].Outputs {
		res.Outputs[o.Name] = OutputResult{Exists: r.ok, Digest: "d-" + o.Name, Read: func() ([]byte, error) { return []byte(r.text), nil }}
	}
	return res, true
}

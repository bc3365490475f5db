package lang

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sameResults says that everything ran and wrote the same text.
type sameResults struct{ text string }

func (u sameResults) Result(Address) (Result, bool) {
	read := func() ([]byte, error) { return []byte(u.text), nil }
	out := OutputResult{Exists: true, Digest: "d", Read: read}
	outputs := map[string]OutputResult{}
	for _, name := range []string{"o", "out", "list", "plan", "notes", "src", "findings"} {
		outputs[name] = out
	}
	return Result{OK: true, Status: "ok", Outputs: outputs}, true
}

// exercise loads the campaign of a directory and, when it is good, renders all of it. Nothing may
// panic, not even where a guard turns the panic into a diagnostic.
func exercise(t *testing.T, dir string) {
	c, ds := Load(Options{Dir: dir})
	sound(t, ds)
	if ds.HasErrors() {
		return
	}
	for _, results := range []sameResults{{`[{"id": "a", "title": "T"}]`}, {"text"}} {
		for _, task := range c.Tasks {
			is, ds := c.Expand(task, results)
			sound(t, ds)
			for n, i := range is {
				if n > 5 {
					break
				}
				r, ds := c.Render(i, results)
				sound(t, ds)
				again, _ := c.Render(i, results)
				require.Equal(t, r, again)
				plainAlike(t, c, i, results)
			}
		}
	}
}

func sound(t *testing.T, ds Diagnostics) {
	for _, d := range ds {
		require.NotEqual(t, "UF9901", d.Code, "%s at %v", d.Summary, d.Subject)
		require.NotEmpty(t, d.Summary)
	}
}

// corpusFiles returns the texts of the corpus as seeds.
func corpusFiles(t testing.TB) []string {
	var texts []string
	for _, pattern := range []string{"testdata/*/*.hcl", "testdata/*/*.txtar", "testdata/example/*.hcl"} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, p := range paths {
			b, err := os.ReadFile(p)
			require.NoError(t, err)
			if _, rest, ok := strings.Cut(string(b), "-- campaign.hcl --\n"); ok {
				b = []byte(strings.SplitN(rest, "\n-- ", 2)[0] + "\n")
			}
			texts = append(texts, string(b))
		}
	}
	return texts
}

func FuzzLoad(f *testing.F) {
	for _, text := range corpusFiles(f) {
		f.Add(text)
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(text), 0o644))
		exercise(t, dir)
	})
}

func FuzzLoadJSON(f *testing.F) {
	f.Add(`{"task": {"a": {"command": ["echo", "${1 + 1}"], "//": "x"}}}`)
	f.Add(`{"locals": [{"a": {"${local.b}": 1}}, {"b": "x"}], "task": {"t": [{"for_each": "${local.a}", "command": ["${each.key}"], "depends_on": ["task.t"]}]}}`)
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<14 {
			return
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl.json"), []byte(text), 0o644))
		exercise(t, dir)
	})
}

const promptCampaign = `
contract "list" {
  kind   = "json"
  schema = "list.json"
}
agent "e" {
  adapter = "exec"
  command = ["cat"]
}
profile "default" {
  agent = agent.e
}
task "a" {
  command = ["true"]
  output "list" {
    path     = "l.json"
    contract = contract.list
  }
  output "o" { path = "o" }
}
task "p" {
  for_each = { k = { x = 1, y = ["a"] }, l = { x = null, y = [] } }
  loops    = 2
  prompt   = "p.md"
  vars     = { a = each.key, b = task.a.outputs.list.json }
  output "o" { path = "o" }
}
`

func FuzzPrompt(f *testing.F) {
	for _, text := range []string{
		"# ${each.key}\n%{ for x in vars.b ~}\n- ${x.title}\n%{ endfor ~}\n",
		"---\nid: x\n---\n${task.a.outputs.o.path} ${try(each.value.y[0], \"none\")} ${loop.index + 1}",
		"%{ if task.a.ok }yes%{ else }no%{ endif } ${jsonencode(vars)} ${include(\"p.md\")}",
		"${join(\", \", task.a.outputs.list.json[*].id)}${length(task.a.all)}${self.outputs.o.path}",
	} {
		f.Add(text)
	}
	dir := f.TempDir()
	require.NoError(f, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(promptCampaign), 0o644))
	require.NoError(f, os.WriteFile(filepath.Join(dir, "list.json"), []byte(planSchema), 0o644))
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<13 {
			return
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "p.md"), []byte(text), 0o644))
		exercise(t, dir)
	})
}

// TestMutations changes single characters of campaigns: most become wrong, none may panic.
func TestMutations(t *testing.T) {
	texts := corpusFiles(t)
	dir := t.TempDir()
	replacements := []string{"", "\"", "{", "}", ".", "[", "$", "0", "\n"}
	step := 211 // prime, so that each text is hit at other places
	n := 0
	for _, text := range texts {
		for i := n % step; i < len(text); i += step {
			n++
			mutant := text[:i] + replacements[n%len(replacements)] + text[i+1:]
			require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(mutant), 0o644))
			exercise(t, dir)
		}
	}
	require.Greater(t, n, 100)
}

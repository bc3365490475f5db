package lang

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// outlineOf loads a campaign with one prompt and returns the outline of task "x".
func outlineOf(t *testing.T, campaign, prompt string) Outline {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "prompts"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "campaign.hcl"), []byte(outlineHead+campaign), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "prompts", "x.md"), []byte(prompt), 0o644))
	for _, script := range []string{"a.sh", "l.sh", "late.sh"} { // that commands name
		require.NoError(t, os.WriteFile(filepath.Join(dir, script), nil, 0o644))
	}
	c, ds := Load(Options{Dir: dir})
	require.False(t, ds.HasErrors(), "%v", ds)
	i, ok := c.Instance(Address{Task: "x"})
	require.True(t, ok)
	return c.Outline(i)
}

const outlineHead = `
agent "a" { adapter = "claude" }
profile "default" { agent = agent.a }
variable "v" { default = "one" }
reference "r" { file = "prompts/x.md" }
task "a" {
  command = ["true"]
  output "o" { path = "o.txt" }
}
task "b" {
  command = ["true"]
  output "o" { path = "o.txt" }
}
`

// TestOutline pairs campaigns that are alike, or differ, in what can change their outputs.
func TestOutline(t *testing.T) {
	const output = "\noutput \"o\" { path = \"o.txt\" }\n}"
	const base = "task \"x\" {\nprompt = \"prompts/x.md\"" + output
	for name, tc := range map[string]struct {
		one, two   string // campaigns
		p, q       string // prompts
		same, name bool   // equal texts; equal but for names
	}{
		"nothing":                   {base, base, "${task.a.outputs.o.path}", "${task.a.outputs.o.path}", true, true},
		"another task":              {base, base, "${task.a.outputs.o.path}", "${task.b.outputs.o.path}", true, false},
		"another output":            {base, base, "${task.a.outputs.o.path}", "${task.a.outputs.o.text}", false, true},
		"a word":                    {base, base, "read ${task.a.outputs.o.path}", "see ${task.a.outputs.o.path}", false, true},
		"a word no branch takes":    {base, base, "%{ if task.a.ok }x%{ else }y%{ endif }", "%{ if task.a.ok }x%{ else }z%{ endif }", false, true},
		"blanks in an expression":   {base, base, "${ task.a.outputs.o.path }", "${task.a.outputs.o.path}", true, true},
		"a value written out":       {base, base, "${var.v} ${task.a.outputs.o.path}", "one ${task.a.outputs.o.path}", true, true},
		"another operator":          {base, base, "${length(task.a.outputs.o.path) > 1}", "${length(task.a.outputs.o.path) >= 1}", false, true},
		"the body of a for":         {base, base, "${join(\",\", [for i in task.a.all : i.id])}", "${join(\",\", [for i in task.a.all : i.key])}", false, true},
		"a comment in the campaign": {base, "# c\n" + base, "x", "x", true, true},
		"a local with another name": {`locals { l = task.a.outputs.o.text }` + "\n" + base, `locals { m = task.a.outputs.o.text }` + "\n" + base, "${local.l}", "${local.m}", true, true},
		"a late local that differs": {`locals { l = "1${task.a.outputs.o.text}" }` + "\n" + base, `locals { l = "2${task.a.outputs.o.text}" }` + "\n" + base, "${local.l}", "${local.l}", false, true},
		"a local by its value":      {`locals { l = upper("x") }` + "\n" + base, `locals { l = "X" }` + "\n" + base, "${local.l}${task.a.id}", "${local.l}${task.a.id}", true, true},
		"front matter":              {base, base, "---\nid: x\n---\nhello", "hello", true, true},
		"a reference":               {base, base, "${reference.r.path}", "${reference.r.path}", true, true},
		"the dots of a call":        {base, base, "${join(\",\", task.a.all[*].id)}", "${join(\",\", task.a.all[*].id...)}", false, true},
		"vars":                      {"task \"x\" {\nprompt = \"prompts/x.md\"\nvars = { k = 1 }" + output, "task \"x\" {\nprompt = \"prompts/x.md\"\nvars = { k = 2 }" + output, "${vars.k}", "${vars.k}", false, true},
		"group label":               {base, "group \"g\" { label = \"G\" }\n" + base, "x", "x", true, true},
	} {
		one, two := outlineOf(t, tc.one, tc.p), outlineOf(t, tc.two, tc.q)
		if tc.same {
			require.Equal(t, one.Parts, two.Parts, name)
		} else {
			require.NotEqual(t, one.Parts, two.Parts, name)
		}
		require.Equal(t, tc.name, len(one.Names) == len(two.Names) && (len(one.Names) == 0 || one.Names[0] == two.Names[0]), name)
	}
	require.Equal(t, []string{"reference.r"}, outlineOf(t, `locals { l = [reference.r] }`+"\n"+base, "${local.l[0].path}").Names)
	words := outlineOf(t, `task "x" { command = ["cat", "lists/${var.v}.txt", task.a.outputs.o.path] }`, "x").Words
	require.Equal(t, []string{"cat", "lists/one.txt"}, words)
}

// TestWordsOfCommands: a script that a command names is an input, however the command is put together of lists.
func TestWordsOfCommands(t *testing.T) {
	for command, want := range map[string][]string{
		`concat(["sh", "a.sh"], [for x in task.a.all : x.outputs.o.path])`: {"sh", "a.sh"},
		`concat(local.start, [task.a.outputs.o.path])`:                     {"sh", "l.sh"},
		`local.late`: {"sh", "late.sh"},
		`task.a.ok ? ["sh", "yes.sh"] : (["sh", "no.sh", task.a.outputs.o.path])`: {"sh", "yes.sh", "sh", "no.sh"},
		`flatten([["sh"], [for x in task.a.all : ["each.sh", x.id]]])`:            {"sh", "each.sh"},
		`["sh", var.v == "one" ? "a" : "b", task.a.id]`:                           {"sh", "a"},
	} {
		src := `locals {
  start = ["sh", "l.sh"]
  late  = ["sh", "late.sh", task.a.outputs.o.path]
}
task "x" { command = ` + command + ` }`
		require.Equal(t, want, outlineOf(t, src, "x").Words, command)
	}
}

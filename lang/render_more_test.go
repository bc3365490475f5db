package lang

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// renderOne loads a campaign and renders one instance without a problem.
func renderOne(t *testing.T, files map[string]string, address string, results Results) Rendered {
	t.Helper()
	c, ds := Load(Options{Dir: writeTree(t, files)})
	require.False(t, ds.HasErrors(), "%v", ds)
	r, ds := c.Render(instanceAt(t, c, address), results)
	require.Empty(t, ds)
	return r
}

const seriesCampaign = `
task "base" {
  command = ["true"]
  output "src" { tree = ["src/**"] }
}
task "round" {
  loops      = 3
  loop_mode  = "series"
  command    = ["echo", loop.index > 0 ? self.previous.outputs.notes.path : "first", "${loop.index}"]
  depends_on = [task.base]
  workspace {
    inherit = task.base
  }
  output "notes" { path = "notes.md" }
  output "src" { tree = ["src/**"] }
}
task "reader" {
  command = ["cat", task.round.outputs.notes.path, "${length(task.round.all)}"]
}
`

func TestRenderSeries(t *testing.T) {
	files := map[string]string{"campaign.hcl": seriesCampaign}
	results := fakeResults{
		"base": {"src": ""}, "round#0": {"notes": "n", "src": ""}, "round#1": {"notes": "n", "src": ""}, "round#2": {"notes": "n", "src": ""},
	}
	first := renderOne(t, files, "round#0", results)
	require.Equal(t, "first", first.Argv[1].Real)
	require.Equal(t, []Flow{{From: Address{Task: "base"}, Output: "src", Mount: ".uf/in/base/src", Inherit: true}}, first.Flows)
	second := renderOne(t, files, "round#1", results)
	require.Equal(t, Text{".uf/in/round#0/notes", "␟in1␟"}, second.Argv[1])
	previous := Address{Task: "round", Looped: true}
	require.Equal(t, []Flow{
		{From: previous, Output: "notes", Mount: ".uf/in/round#0/notes"},
		{From: Address{Task: "base"}, Output: "src", Mount: ".uf/in/base/src"},
		{From: previous, Output: "src", Mount: ".uf/in/round#0/src", Inherit: true},
	}, second.Flows)
	reader := renderOne(t, files, "reader", results)
	require.Equal(t, ".uf/in/round#2/notes", reader.Argv[1].Real)
	require.Equal(t, "3", reader.Argv[2].Real)
}

func TestRenderCanonicalTextIsInjective(t *testing.T) {
	files := map[string]string{"campaign.hcl": `
task "a" {
  command = ["true"]
  output "o" { path = "o" }
  output "out" { path = "p" }
}
task "b" {
  command = ["x", "␟in1␟", task.a.outputs.out.path, "${task.a.outputs.o.path}/sub ${task.a.dir}"]
}
`}
	r := renderOne(t, files, "b", fakeResults{"a": {"o": "1", "out": "2"}})
	require.Equal(t, "␟␟in1␟␟", r.Argv[1].Canonical)
	require.Equal(t, "␟in1␟", r.Argv[2].Canonical)
	require.Equal(t, ".uf/in/a/o/sub .uf/in/a", r.Argv[3].Real)
	require.Equal(t, "␟in2␟/sub ␟in3␟", r.Argv[3].Canonical)
	require.Equal(t, []Flow{
		{From: Address{Task: "a"}, Output: "out", Mount: ".uf/in/a/out"},
		{From: Address{Task: "a"}, Output: "o", Mount: ".uf/in/a/o"},
		{From: Address{Task: "a"}, Mount: ".uf/in/a"},
	}, r.Flows)
}

func TestRenderRenamingATaskChangesNothingCanonical(t *testing.T) {
	text := func(name string) string {
		return `
task "` + name + `" {
  command = ["true"]
  output "o" { path = "o" }
}
task "b" {
  command = ["cat", task.` + name + `.outputs.o.path]
  env     = { O = task.` + name + `.outputs.o.text }
}
`
	}
	one := renderOne(t, map[string]string{"campaign.hcl": text("old")}, "b", fakeResults{"old": {"o": "x"}})
	two := renderOne(t, map[string]string{"campaign.hcl": text("brand-new")}, "b", fakeResults{"brand-new": {"o": "x"}})
	require.NotEqual(t, one.Argv[1].Real, two.Argv[1].Real)
	require.Equal(t, one.Argv[1].Canonical, two.Argv[1].Canonical)
	require.Equal(t, "x", one.Env[0].Value.Canonical)
}

func TestRenderToleratedAbsence(t *testing.T) {
	files := map[string]string{"campaign.hcl": `
task "a" {
  for_each = toset(["x", "y"])
  command  = ["true"]
  output "o" { path = "o" }
}
task "join" {
  command  = concat(["cat"], [for i in task.a.all : i.outputs.o.path if i.ok])
  tolerate = [task.a]
}
`}
	r := renderOne(t, files, "join", fakeResults{"a/y": {"o": "1"}})
	require.Len(t, r.Argv, 2)
	require.Equal(t, []Address{{Task: "a", Key: "x"}}, r.Absent)
	require.Equal(t, []Flow{{From: Address{Task: "a", Key: "y"}, Output: "o", Mount: ".uf/in/a/y/o"}}, r.Flows)
}

func TestRenderWhenVarsEnvAndSecrets(t *testing.T) {
	files := map[string]string{
		"prompts/p.md": "Do ${vars.what} with ${vars.file}.\n",
		"extra.txt":    "from a file",
		"campaign.hcl": `
agent "echo" {
  adapter = "exec"
  command = ["cat"]
}
profile "default" {
  agent = agent.echo
}
variable "token" {
  default   = "t0ken"
  sensitive = true
}
locals {
  note = file("extra.txt")
}
group "g" {
  defaults {
    vars = { what = "nothing", file = "none" }
    env  = { A = "group", B = "group", C = "group" }
  }
}
task "a" {
  command = ["true"]
  output "o" { path = "o" }
}
task "b" {
  group   = group.g
  prompt  = "prompts/p.md"
  when    = task.a.outputs.o.text == "go"
  vars    = { file = task.a.outputs.o.path, note = local.note, html = "<b>" }
  env     = { B = "task", C = null }
  secrets = { TOKEN = var.token }
  output "o" { path = "o" }
}
`}
	r := renderOne(t, files, "b", fakeResults{"a": {"o": "go"}})
	require.Equal(t, Text{"Do nothing with .uf/in/a/o.\n", "Do nothing with ␟in1␟.\n"}, r.Prompt)
	require.Equal(t, `{"file":"␟in1␟","html":"<b>","note":"from a file","what":"nothing"}`, r.Vars)
	require.Equal(t, []EnvVar{{"A", Text{"group", "group"}}, {"B", Text{"task", "task"}}}, r.Env)
	require.Equal(t, []EnvVar{{Name: "TOKEN", Value: Text{Real: "t0ken"}}}, r.Secrets)
	require.Equal(t, []string{"extra.txt"}, r.Reads)
	files["campaign.hcl"] += `
contract "list" { kind = "json" }
task "list" {
  command = ["true"]
  output "o" {
    path     = "o"
    contract = contract.list
  }
}
task "c" {
  expand {
    items = task.list.outputs.o.json
    key   = item
  }
  command  = ["true"]
  pass_env = ["KEY"]
  secrets  = { AUTH = "Bearer ${var.token}", ITEM = "${var.token} ${item}" }
}
`
	c, ds := Load(Options{Dir: writeTree(t, files)})
	require.False(t, ds.HasErrors(), "%v", ds)
	require.Equal(t, []string{"KEY"}, c.Passed().Names, "of a task whose instances nobody knows yet")
	require.Contains(t, c.Passed().Values, "t0ken")
	require.Equal(t, Rendered{}, renderOne(t, files, "b", fakeResults{"a": {"o": "stop"}}), "when is false")
}

func TestRenderReportsWhatOutputsLack(t *testing.T) {
	c := loadClean(t, map[string]string{"list.json": `{
  "type": "array",
  "items": {"type": "object", "additionalProperties": false, "properties": {"id": {"type": "string"}}}
}`, "campaign.hcl": `
contract "list" {
  kind   = "json"
  schema = "list.json"
}
task "a" {
  command = ["true"]
  output "o" {
    path     = "o"
    contract = contract.list
  }
}
task "b" {
  command = ["echo", task.a.outputs.o.json[0].id]
}
`})
	for text, code := range map[string]string{
		`[]`:             "UFR103",
		`[{"id": null}]`: "UFR111",
		`{"id": "x"}`:    "UFR102",
		`[{"id": 3}]`:    "UFR102",
		`[{"ix": "a"}]`:  "UFR102",
		`nonsense`:       "UFR102",
	} {
		_, ds := c.Render(instanceAt(t, c, "b"), fakeResults{"a": {"o": text}})
		require.NotEmpty(t, ds, text)
		require.Equal(t, code, ds[0].Code, "%s: %v", text, ds)
		require.NotNil(t, ds[0].Subject)
		require.Equal(t, "campaign.hcl", ds[0].Subject.File)
	}
	r, ds := c.Render(instanceAt(t, c, "b"), fakeResults{"a": {"o": `[{"id": "x"}]`}})
	require.Empty(t, ds)
	require.Equal(t, "x", r.Argv[1].Real)
	require.Empty(t, r.Flows, "a value counts as the text it renders to")
}

// brokenResults has outputs that cannot be read.
type brokenResults struct{}

func (brokenResults) Result(Address) (Result, bool) {
	read := func() ([]byte, error) { return nil, errors.New("disk on fire") }
	return Result{OK: true, Status: "ok", Outputs: map[string]OutputResult{"o": {Exists: true, Digest: "d", Read: read}}}, true
}

func TestRenderReadsOnlyWhatIsAskedFor(t *testing.T) {
	text := `
task "a" {
  command = ["true"]
  output "o" { path = "o" }
}
task "path" {
  command = ["cat", task.a.outputs.o.path, task.a.outputs.o.digest]
}
task "text" {
  command = ["echo", task.a.outputs.o.text]
}
`
	c := loadClean(t, map[string]string{"campaign.hcl": text})
	_, ds := c.Render(instanceAt(t, c, "path"), brokenResults{})
	require.Empty(t, ds)
	_, ds = c.Render(instanceAt(t, c, "text"), brokenResults{})
	require.Len(t, ds, 1)
	require.Equal(t, "UFR101", ds[0].Code)
	require.Contains(t, ds[0].Summary, "disk on fire")
}

const expandCampaign = `
contract "plan" {
  kind   = "json"
  schema = "plan.json"
}
task "plan" {
  command = ["true"]
  output "plan" {
    path     = "plan.json"
    contract = contract.plan
  }
}
task "goal" {
  loops   = 2
  command = ["echo", item.title, "${loop.index}", self.id]
  expand {
    items     = task.plan.outputs.plan.json
    key       = item.id
    max_items = 3
  }
  output "o" { path = "o" }
}
task "join" {
  command  = concat(["cat"], [for g in task.goal.all : g.outputs.o.path if g.ok])
  tolerate = [task.goal]
}
`

const planSchema = `{"type": "array", "items": {"type": "object", "additionalProperties": false,
  "properties": {"id": {"type": "string"}, "title": {"type": "string"}}}}`

func TestExpand(t *testing.T) {
	c := loadClean(t, map[string]string{"campaign.hcl": expandCampaign, "plan.json": planSchema})
	task, _ := c.Task("goal")
	require.Len(t, task.Instances, 1, "one pattern until the items are known")
	results := fakeResults{"plan": {"plan": `[{"id": "b", "title": "B"}, {"id": "a", "title": "A"}]`}}
	is, ds := c.Expand(task, results)
	require.Empty(t, ds)
	var got []string
	for _, i := range is {
		r, ds := c.Render(i, results)
		require.Empty(t, ds)
		got = append(got, i.Address.String()+" "+r.Argv[1].Real+" "+r.Argv[2].Real+" "+r.Argv[3].Real)
	}
	require.Equal(t, []string{"goal/b#0 B 0 goal/b#0", "goal/b#1 B 1 goal/b#1", "goal/a#0 A 0 goal/a#0", "goal/a#1 A 1 goal/a#1"}, got)
	results["goal/b#0"] = map[string]string{"o": "1"}
	r, ds := c.Render(instanceAt(t, c, "join"), results)
	require.Empty(t, ds)
	require.Len(t, r.Argv, 2, "what is absent is left out")
	require.Len(t, r.Absent, 3)
	require.Equal(t, "goal/b#0", r.Flows[0].From.String())
}

func TestExpandProblems(t *testing.T) {
	c := loadClean(t, map[string]string{"campaign.hcl": expandCampaign, "plan.json": planSchema})
	task, _ := c.Task("goal")
	for text, code := range map[string]string{
		`[{"id": "a"}, {"id": "A"}]`:                           "UFR106",
		`[{"id": "a"}, {"id": "b"}, {"id": "c"}, {"id": "d"}]`: "UFR108",
		`[{"id": "a b"}]`:                                      "UFR110",
		`[{"title": "x"}]`:                                     "UFR110",
		`{}`:                                                   "UFR102",
	} {
		_, ds := c.Expand(task, fakeResults{"plan": {"plan": text}})
		require.NotEmpty(t, ds, text)
		require.Equal(t, code, ds[0].Code, "%s: %v", text, ds)
	}
	is, ds := c.Expand(task, fakeResults{"plan": {"plan": `[]`}})
	require.Empty(t, ds, "an empty list is legal")
	require.Empty(t, is)
	r, ds := c.Render(instanceAt(t, c, "join"), fakeResults{})
	require.Empty(t, ds)
	require.Equal(t, []Address{{Task: "goal"}}, r.Absent, "its source failed, so nothing is known of it")
}

// A command reads no vars: those of its group are in neither its manifest nor its dependencies.
func TestACommandTakesNoVarsOfItsGroup(t *testing.T) {
	c := loadClean(t, map[string]string{"campaign.hcl": exampleAgent + `
group "g" {
  defaults {
    vars = { from = task.a.outputs.o.path }
  }
}
task "a" {
  command = ["true"]
  output "o" { path = "o" }
}
task "command" {
  group   = group.g
  command = ["true"]
}
task "prompt" {
  group       = group.g
  prompt_text = "Read ${vars.from}."
  output "o" { path = "o" }
}
`})
	command, prompt := instanceAt(t, c, "command"), instanceAt(t, c, "prompt")
	require.Empty(t, command.Task.Refs)
	require.Empty(t, command.Needs)
	require.Len(t, prompt.Needs, 1)
	r, ds := c.Render(command, fakeResults{})
	require.Empty(t, ds)
	require.Empty(t, r.Vars)
}

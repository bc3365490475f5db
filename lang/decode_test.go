package lang

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// loadCase loads a valid case of the corpus.
func loadCase(t testing.TB, name string) *Campaign {
	t.Helper()
	tt, ok := t.(*testing.T)
	require.True(t, ok)
	c := readCase(tt, "testdata/valid/"+name)
	c.o.Dir = writeTree(t, c.files)
	campaign, ds := Load(c.o)
	require.False(t, ds.HasErrors(), "%v", ds)
	return campaign
}

func TestDecodeCampaign(t *testing.T) {
	c := loadCase(t, "everything.txtar")
	require.Equal(t, "everything", c.Name)
	require.Equal(t, "results", c.Out)
	require.Equal(t, 80, c.MaxDynamicTasks)
	require.Equal(t, 48*time.Hour, c.Deadline)
	require.Equal(t, Budget{USD: 100, Tokens: 1_000_000}, c.Budget)
	require.Equal(t, map[string]Price{"gpt-5": {Input: 1.5, Output: 10}}, c.Prices)
	require.Equal(t, "/srv/store", c.StorePath)
	require.Equal(t, "grpc://cache:9092", c.Remote)
	require.Equal(t, []string{"report"}, c.Default)
	values := map[string]string{}
	for _, v := range c.Variables {
		values[v.Name] = v.Value + " from " + v.Origin
	}
	require.Equal(t, map[string]string{
		"limit":  "80 from preset exhaustive",
		"region": `"eu" from UF_VAR_region`,
		"names":  `["x", "y"] from --var`,
		"shape":  "{\n  depth = 3\n  label = \"none\"\n} from preset exhaustive",
		"token":  "(sensitive) from default",
	}, values)
}

func TestDecodeDeclarations(t *testing.T) {
	c := loadCase(t, "everything.txtar")
	p, ok := c.Profile("default")
	require.True(t, ok)
	require.Equal(t, "codex", p.Agent.Name)
	require.Equal(t, map[string]string{"DEPTH": "3"}, p.Env)
	require.Equal(t, []string{"cheap"}, p.Fallback)
	require.Equal(t, &Agent{
		Name: "codex", Adapter: "codex", Args: []string{"--quiet"}, Env: map[string]string{"REGION": "eu"},
		PassEnv: []string{"CODEX_API_KEY"}, Pool: "account", Version: "key", Asks: true, Range: p.Agent.Range,
	}, p.Agent)
	rows, ok := c.Contract("rows")
	require.True(t, ok)
	require.Equal(t, &Contract{
		Name: "rows", Kind: "jsonl", MinBytes: 1, MaxBytes: 1_000_000, MinItems: 1, Unique: []string{"$.id"},
		Joins: []ContractJoin{{"$.id", "rows:$.id"}}, Counts: []ContractCount{{"$.id", 3}},
		Preserves: []ContractPreserve{{From: "rows", Key: "id", Fields: []string{"title"}}},
		Approval:  true, Validate: []string{"sh", "check.sh"}, Uses: []string{"check.sh"}, Severity: "warn", Range: rows.Range,
		HasEmpty: true, operands: rows.operands,
	}, rows)
	require.Len(t, rows.operands, 2)
	docs, ok := c.Reference("docs")
	require.True(t, ok)
	require.Equal(t, []string{"guide", "api/index.md"}, docs.Paths)
	g, ok := c.Group("work")
	require.True(t, ok)
	require.Equal(t, "#a0b1c2", g.Color)
}

func TestDecodeInstance(t *testing.T) {
	c := loadCase(t, "everything.txtar")
	task, ok := c.Task("worker")
	require.True(t, ok)
	require.True(t, task.Series)
	require.Len(t, task.Instances, 2*2*2, "keys × profiles × loops set on the command line")
	i := instanceAt(t, c, "worker/y@cheap#1")
	require.Equal(t, "cheap", i.Profile.Name)
	require.Equal(t, "big", i.Pool)
	require.Equal(t, 2, i.Weight)
	require.Equal(t, 2*time.Hour, i.Timeout)
	require.Equal(t, 5*time.Minute, i.IdleTimeout)
	require.Equal(t, "accept", i.OnTimeout)
	require.Equal(t, "continue", i.OnFailure)
	require.Equal(t, Budget{USD: 2}, i.Budget)
	require.False(t, i.Cache)
	require.Equal(t, "s-y", i.Salt)
	require.Equal(t, "cluster", i.Remote)
	r, ok := c.RemoteNamed(i.Remote)
	require.True(t, ok)
	require.Equal(t, &Remote{
		Name: "cluster", Engine: "slurm", Slots: 200, MaxTimeout: 24 * time.Hour, RetryLost: 1, Properties: map[string]string{"partition": "long"},
		Env: map[string]string{"HOME": "/home/x"}, Program: "/opt/ufbuild", Poll: 30 * time.Second, Range: r.Range,
	}, r)
	require.True(t, i.KeepEdits)
	require.Equal(t, []string{"HOME"}, i.PassEnv)
	require.Equal(t, []string{"git"}, i.Requires)
	require.Equal(t, Retry{Attempts: 3, On: []string{"crash"}, Backoff: 30 * time.Second}, i.Retry)
	require.Equal(t, "prompts/work.md", i.PromptFile)
	require.Equal(t, []string{"out", "tree", "log"}, outputNames(i))
	require.Equal(t, "out/y.md", i.Outputs[0].Path)
	require.Equal(t, "What Y found.", i.Outputs[0].Description)
	require.True(t, i.Outputs[2].Optional)
	require.Len(t, i.Exports, 1)
	require.Equal(t, []string{"out", "docs/y-cheap-1.md"}, []string{i.Exports[0].Output, i.Exports[0].To})
	require.Equal(t, Workspace{
		Mode: ModeRepo, Include: []string{"src/**"}, Exclude: []string{"src/gen/**"},
		Inherit:   []Address{{Task: "worker", Key: "y", Matrix: "cheap", Loop: 0, Looped: true}},
		Deletions: "any", Git: "init", Sandbox: "strict", Network: true, Writable: []string{"/tmp/cache"}, Readable: []string{"~/.cache"},
	}, i.Workspace)
	first := instanceAt(t, c, "first")
	require.Equal(t, "writes", first.Workspace.Sandbox, "the campaign's default")
	require.False(t, first.Workspace.Network)
	require.Equal(t, ModeInputs, first.Workspace.Mode)
}

func outputNames(i *Instance) []string {
	var names []string
	for _, o := range i.Outputs {
		names = append(names, o.Name)
	}
	return names
}

func TestNeedsAreExact(t *testing.T) {
	c := loadClean(t, map[string]string{"campaign.hcl": `
task "a" {
  for_each = toset(["x", "y"])
  command  = ["true"]
  output "o" { path = "o" }
}
task "s" {
  loops     = 3
  loop_mode = "series"
  command   = ["true"]
  output "t" { tree = ["t/**"] }
}
task "one" {
  command = ["cat", task.a["x"].outputs.o.path]
}
task "own" {
  for_each = toset(["x", "y"])
  command  = ["cat", task.a[each.key].outputs.o.path]
}
task "any" {
  command = ["cat", join(" ", [for k in ["x"] : task.a[k].outputs.o.path])]
}
task "last" {
  command    = ["true"]
  depends_on = [task.s]
  after      = [task.one]
}
task "every" {
  command  = ["echo", length(task.s.all)]
  tolerate = [task.a["y"]]
}
`})
	needs := func(address string) []string {
		var list []string
		for _, n := range instanceAt(t, c, address).Needs {
			list = append(list, n.On.String())
		}
		return list
	}
	require.Equal(t, []string{"a/x"}, needs("one"))
	require.Equal(t, []string{"a/y"}, needs("own/y"))
	require.Equal(t, []string{"a/x", "a/y"}, needs("any"), "a key bound by for may be any")
	require.Equal(t, []string{"s#2", "one"}, needs("last"))
	require.Equal(t, []string{"a/y", "s#0", "s#1", "s#2"}, needs("every"))
	require.Equal(t, []string{"s#0"}, needs("s#1"))
	last := instanceAt(t, c, "last").Needs
	require.Equal(t, Need{On: last[0].On, Kind: DataRef, All: true}, last[0])
	require.Equal(t, Need{On: last[1].On, Kind: OrderRef, Tolerate: true}, last[1])
}

func TestLoadIsDeterministic(t *testing.T) {
	first, ds1 := Load(Options{Dir: "testdata/example"})
	second, ds2 := Load(Options{Dir: "testdata/example"})
	require.Equal(t, ds1, ds2)
	require.Len(t, second.Tasks, len(first.Tasks))
	for i, task := range first.Tasks {
		require.Equal(t, task.Refs, second.Tasks[i].Refs)
		for n, inst := range task.Instances {
			require.Equal(t, inst.Needs, second.Tasks[i].Instances[n].Needs)
			require.Equal(t, inst.Outputs, second.Tasks[i].Instances[n].Outputs)
		}
	}
}

// Loops of a task share their settings; a copy with another one leaves them as they are.
func TestWithLeavesOtherInstancesAlone(t *testing.T) {
	c := loadClean(t, map[string]string{"campaign.hcl": "task \"a\" {\n  command = [\"true\"]\n  loops   = 2\n}\n"})
	one, two := instanceAt(t, c, "a#0"), instanceAt(t, c, "a#1")
	require.Same(t, one.Settings, two.Settings)
	copied := one.With(func(s *Settings) { s.Weight = 7 })
	require.Equal(t, 7, copied.Weight)
	require.Equal(t, one.Address, copied.Address)
	require.Equal(t, 1, one.Weight)
	require.Equal(t, 1, two.Weight)
}

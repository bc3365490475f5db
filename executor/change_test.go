package executor

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

func text(s string) lang.Text { return lang.Text{Real: s, Canonical: s} }

func promptAction() *Action {
	return &Action{
		Kind:   lang.Prompt,
		Agent:  AgentChoice{Adapter: "exec", Command: []string{"agent"}, Model: "m"},
		Prompt: text("Find every bug.\nBe brief.\n"),
		Env:    []lang.EnvVar{{Name: "A", Value: text("1")}, {Name: "B", Value: text("")}},
		Sources: []source.File{
			{Path: "a.sol", Digest: digest.Of([]byte("a")), Mode: 0o644},
			{Path: "run.sh", Digest: digest.Of([]byte("r")), Mode: 0o755},
			{Path: "link", Target: "a.sol"},
		},
		Inflows: []Inflow{{Mount: ".uf/in/x/y", Digest: digest.Of([]byte("y"))}, {Absent: true, Output: "o"}},
		Absent:  1,
		Outputs: []OutputSpec{{Name: "findings", Path: "findings.json"}, {Name: "suite", Tree: []string{"test/**", "x"}}},
		Salt:    "s", Loop: 2,
	}
}

func TestManifestIsReadable(t *testing.T) {
	require.Equal(t, `ufbuild manifest 1
kind prompt
adapter "exec"
agent-command "agent"
model "m"
prompt
  | Find every bug.
  | Be brief.
  | 
env "A" "1"
env "B" ""
input "a.sol" `+digest.Of([]byte("a")).String()+`
input "run.sh" `+digest.Of([]byte("r")).String()+` exec
input "link" -> "a.sol"
in1 file `+digest.Of([]byte("y")).String()+`
in2 absent
absent
output "findings" path "findings.json"
output "suite" tree "test/**" tree "x"
salt "s"
loop 2
`, string(promptAction().Manifest()))
}

func TestDiffManifests(t *testing.T) {
	base := promptAction().Manifest()
	for _, c := range []struct {
		name string
		edit func(*Action)
		want []Change
	}{
		{"nothing", func(*Action) {}, nil},
		{"a word of the prompt", func(a *Action) { a.Prompt = text("Find each bug.\nBe brief.\n") },
			[]Change{{Op: Replaced, Section: "prompt", Old: "Find every bug.", New: "Find each bug.", Text: true}}},
		{"an empty line of the prompt", func(a *Action) { a.Prompt = text("Find every bug.\n\nBe brief.\n") },
			[]Change{{Op: Added, Section: "prompt", New: "", Text: true}}},
		{"a variable goes", func(a *Action) { a.Env = a.Env[:1] },
			[]Change{{Op: Removed, Section: "env", Old: `env "B" ""`}}},
		{"one input for another", func(a *Action) { a.Sources[0].Path = "b.sol" }, []Change{
			{Op: Removed, Section: "input", Old: `input "a.sol" ` + digest.Of([]byte("a")).String()},
			{Op: Added, Section: "input", New: `input "b.sol" ` + digest.Of([]byte("a")).String()}}},
		{"the loop", func(a *Action) { a.Loop = 3 }, []Change{{Op: Replaced, Section: "loop", Old: "loop 2", New: "loop 3"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := promptAction()
			c.edit(a)
			require.Equal(t, c.want, DiffManifests(base, a.Manifest(), a.Inflows))
		})
	}
}

// A directory of many inputs that was renamed is told of in a moment: each of them is looked for once. Looking for each among all would
// take minutes, which nobody overlooks; a limit in seconds would judge the machine.
func TestManyInputsRenamed(t *testing.T) {
	const n = 20_000
	was, is := promptAction(), promptAction()
	was.Sources, is.Sources = nil, nil
	for i := range n {
		was.Sources = append(was.Sources, source.File{Path: fmt.Sprintf("old/%05d", i)})
		is.Sources = append(is.Sources, source.File{Path: fmt.Sprintf("new/%05d", i)})
	}
	changes := DiffManifests(was.Manifest(), is.Manifest(), nil)
	require.Len(t, changes, 2*n)
	require.Equal(t, Removed, changes[0].Op)
	require.Equal(t, Added, changes[2*n-1].Op)
}

func TestReasonNamesWhatChanged(t *testing.T) {
	names := lang.Address{Task: "list"}
	for _, c := range []struct {
		want string
		edit func(*Action)
	}{
		{"the prompt, env A, input a.sol changed", func(a *Action) {
			a.Prompt = text("Find each bug.\n")
			a.Sources[0].Digest = digest.Of([]byte("z"))
			a.Env[0].Value = text("2")
		}},
		{"input a.sol is gone", func(a *Action) { a.Sources = a.Sources[1:] }},
		{"input a.sol is gone; input b.sol is new", func(a *Action) { a.Sources[0].Path = "b.sol" }},
		{"env A, env B are gone", func(a *Action) { a.Env = nil }},
		{"the model changed", func(a *Action) { a.Agent.Model = "n" }},
		{"the arguments of the agent changed", func(a *Action) { a.Agent.Args = []string{"-x"} }},
		{`output "names" of list changed`, func(a *Action) {
			a.Inflows[0] = Inflow{From: names, Output: "names", Digest: digest.Of([]byte("z"))}
		}},
		{`output "names" of list is there again`, func(a *Action) {
			a.Inflows[1] = Inflow{From: names, Output: "names", Digest: digest.Of([]byte("z"))}
		}},
		{`output "names" of list is missing`, func(a *Action) {
			a.Inflows[0] = Inflow{From: names, Output: "names", Absent: true}
		}},
		{`output "new" of list changed`, func(a *Action) {
			a.Inflows = append([]Inflow{{From: names, Output: "new", Digest: digest.Of([]byte("n"))}}, a.Inflows...)
		}},
		{"a tolerated result is there again", func(a *Action) { a.Absent = 0 }},
		{"input 1, input 2, input 3, input 4 are new; and 2 more", func(a *Action) {
			for _, p := range []string{"1", "2", "3", "4", "5", "6"} {
				a.Sources = append(a.Sources, source.File{Path: p})
			}
		}},
	} {
		a := promptAction()
		c.edit(a)
		r := Reason{Kind: Changed, Changes: DiffManifests(promptAction().Manifest(), a.Manifest(), a.Inflows)}
		require.Equal(t, c.want, r.String())
	}
}

package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"
)

// affectedCampaign is built once and then edited. Every task is a command, so that a plan can say of each
// whether it is stale.
const affectedCampaign = `
-- campaign.hcl --
variable "word" { default = "hello" }
locals {
  suffix = { a = "x", b = "y" }
  list   = task.list.outputs.names.text
}
group "leaf" {}
task "reader" {
  command = ["sh", "-c", "cat $0 > o.txt", task.maker.outputs.o.path]
  output "o" { path = "o.txt" }
}
task "maker" {
  command = ["sh", "-c", "echo made > o.txt"]
  output "o" { path = "o.txt" }
}
task "list" {
  command = ["sh", "scripts/list.sh"]
  input "src" { glob = ["src/*.txt"] }
  output "names" { path = "names.txt" }
}
task "leaf" {
  for_each = local.suffix
  group    = group.leaf
  command  = ["sh", "-c", "echo $0 > o.txt", "${var.word} ${each.value}"]
  output "o" { path = "o.txt" }
}
task "late" {
  command = ["sh", "-c", "echo $0 > o.txt", "%{ if task.list.ok }${upper(local.list)}%{ else }none%{ endif }"]
  output "o" { path = "o.txt" }
}
task "join" {
  command = ["sh", "-c", "cat $0 > o.txt", "${join(" ", [for e in group.leaf.all : e.outputs.o.path])}"]
  workspace { mode = "repo" }
  output "o" { path = "o.txt" }
}
-- scripts/list.sh --
ls src > names.txt
-- src/a.txt --
a
-- README.md --
read me
`

// TestAffectedAgreesWithPlan edits a built campaign and wants the tasks that affected calls stale to be
// those that a plan, which knows the keys, calls stale; and nothing to be stale that affected is silent of.
func TestAffectedAgreesWithPlan(t *testing.T) {
	t.Setenv("HOME", t.TempDir()) // what git ignores is said there, too
	dir, store := t.TempDir(), t.TempDir()
	git := func(args ...string) {
		out, err := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=t", "-c", "user.email=t@example.com"}, args...)...).CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	for _, f := range txtar.Parse([]byte(affectedCampaign)).Files {
		require.NoError(t, createFile(filepath.Join(dir, f.Name), f.Data, 0o644))
	}
	require.NoError(t, createFile(filepath.Join(dir, ".gitignore"), []byte("/out/\n"), 0o644))
	git("init", "-q")
	git("add", "-A")
	git("commit", "-q", "-m", "one")
	runVerb(t, exitOK, "build", "-C", dir, "--store", store)

	replace := func(file, old, now string) func() {
		return func() {
			name := filepath.Join(dir, file)
			text, err := os.ReadFile(name)
			require.NoError(t, err)
			require.Contains(t, string(text), old)
			require.NoError(t, os.WriteFile(name, []byte(strings.ReplaceAll(string(text), old, now)), 0o644))
		}
	}
	for name, tc := range map[string]struct {
		edit func()
		want string // stale by affected and by plan
	}{
		"nothing":      {func() {}, ""},
		"a comment":    {replace("campaign.hcl", "task \"late\"", "# why\ntask \"late\""), ""},
		"another name": {replace("campaign.hcl", "task \"leaf\"", "task \"every\""), ""},
		"names of a task and of one it reads, which is declared behind it": {func() {
			replace("campaign.hcl", "\"maker\"", "\"source\"")()
			replace("campaign.hcl", "task.maker", "task.source")()
			replace("campaign.hcl", "\"reader\"", "\"sink\"")()
		}, ""},
		"a local's name": {replace("campaign.hcl", "suffix", "endings"), ""},
		"a group's name": {func() {
			replace("campaign.hcl", "group.leaf", "group.leaves")()
			replace("campaign.hcl", "group \"leaf\"", "group \"leaves\"")()
		}, ""},
		"one value":        {replace("campaign.hcl", "b = \"y\"", "b = \"z\""), "leaf/b"},
		"a variable":       {replace("campaign.hcl", "hello", "bye"), "leaf/a leaf/b"},
		"a script":         {replace("scripts/list.sh", "names.txt", "./names.txt"), "list"},
		"an input":         {replace("src/a.txt", "a", "b"), "join list"},
		"a file of no one": {replace("README.md", "me", "us"), "join"},
		"a new input":      {func() { require.NoError(t, createFile(filepath.Join(dir, "src/b.txt"), nil, 0o644)) }, "join list"},
		"another function": {replace("campaign.hcl", "upper(", "title("), "late"},
		"a salt":           {replace("campaign.hcl", "for_each = ", "salt = \"s\"\n  for_each = "), "leaf/a leaf/b"},
		"a timeout":        {replace("campaign.hcl", "for_each = ", "timeout = \"5s\"\n  for_each = "), ""},
		"a description":    {replace("campaign.hcl", "task \"list\" {", "task \"list\" {\n  description = \"d\""), ""},
	} {
		tc.edit()
		direct, dependents := affectedOf(t, dir)
		stale, unknown := plannedOf(t, dir, store)
		require.Equal(t, tc.want, strings.Join(direct, " "), name)
		require.Equal(t, tc.want, strings.Join(stale, " "), name)
		for _, u := range unknown {
			require.Contains(t, dependents, u, name)
		}
		git("checkout", "-q", ".")
		git("clean", "-qfd", "src")
	}
}

func affectedOf(t *testing.T, dir string) (direct, dependents []string) {
	var doc struct{ Nodes []affectedNode }
	require.NoError(t, json.Unmarshal([]byte(runVerb(t, exitOK, "affected", "-C", dir, "--since", "HEAD", "--json")), &doc))
	for _, n := range doc.Nodes {
		if n.Kind == "dependent" {
			dependents = append(dependents, n.Address)
		} else {
			direct = append(direct, n.Address)
		}
	}
	slices.Sort(direct)
	return direct, dependents
}

func plannedOf(t *testing.T, dir, store string) (stale, unknown []string) {
	var doc struct {
		Nodes []struct{ Address, State string }
	}
	require.NoError(t, json.Unmarshal([]byte(runVerb(t, exitOK, "plan", "-C", dir, "--store", store, "--json")), &doc))
	for _, n := range doc.Nodes {
		switch n.State {
		case "stale":
			stale = append(stale, n.Address)
		case "unknown":
			unknown = append(unknown, n.Address)
		}
	}
	slices.Sort(stale)
	return stale, unknown
}

package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// journey is a command that is stopped at every one of its effects, what was done before it, and what has to be true after
// somebody went on.
type journey struct {
	name   string
	files  map[string]string // beside pointFiles
	before [][]string        // commands that are not stopped, from nothing
	edit   map[string]string // files written then
	then   [][]string        // commands after that
	setUp  func(*pointWorld) // what no command does, after that
	verb   []string          // what is stopped

	// again says that a person who was not told that the command worked gives it once more; settled is what it may say then
	// instead of working, since it had worked.
	again   bool
	settled string
	after   [][]string                // commands that go on then
	idle    bool                      // the build that follows runs nothing
	holds   func(*pointWorld, string) // more that is true in the end
}

// weight is the share of a journey in the strikes of the usual tests. What runs tasks has many more effects than what does not.
func (j *journey) weight() int {
	switch j.verb[0] {
	case "build", "retry":
		return 4
	}
	return 1
}

func totalWeight() int {
	sum := 0
	for i := range journeys {
		sum += journeys[i].weight()
	}
	return sum
}

// denied reports whether a person said of the attempts of a task that they are not good.
func (j *journey) denied(address string) bool { return j.name == "deny" && address == "asked" }

// askedPoint is a task that waits for a person.
var askedPoint = map[string]string{"asked.campaign.hcl": `
contract "asked" {
  kind     = "text"
  approval = true
}
task "asked" {
  prompt_text = "say something"
  workspace { mode = "inputs" }
  output "t" {
    path     = "t.txt"
    contract = contract.asked
  }
}
`}

// reworded is an edit of one prompt that a person accepts.
var reworded = map[string]string{"campaign.hcl": strings.Replace(pointFiles["campaign.hcl"], `"all $`, `"All $`, 1)}

// fewer is a list that one part is gone from.
var fewer = map[string]string{"list": `[{"id": "two"}]`}

// strict is a schema that the list passes too.
var strict = map[string]string{"list.schema.json": strings.Replace(pointFiles["list.schema.json"], `{"type": "string"}`, `{"type": "string", "minLength": 2}`, 1)}

var journeys = []journey{
	{name: "first", verb: []string{"build", "-j", "1"}},
	{
		name: "edited", before: [][]string{{"build"}}, verb: []string{"build", "-j", "1"},
		edit: map[string]string{"list": `[{"id": "two"}, {"id": "three"}]`, "out/part/two/t.txt": "mine", "out/prune/a/1": "mine"},
	},
	{name: "retry", before: [][]string{{"build"}}, verb: []string{"retry", "part/one", "--yes", "--why", "it is thin", "-j", "1"}},
	{name: "undo", before: [][]string{{"build"}, {"retry", "part/one", "--yes", "--no-build"}}, verb: []string{"undo"}},
	{
		name: "accept", before: [][]string{{"build"}}, edit: reworded, idle: true,
		verb: []string{"accept", "report", "--why", "a capital"}, again: true, settled: "is fresh, so there is nothing to accept",
	},
	{
		name: "accept undone", before: [][]string{{"build"}}, edit: reworded, then: [][]string{{"accept", "report"}},
		verb: []string{"undo"}, again: true, settled: "nothing to undo|took back the accept",
	},
	{
		name: "select", before: [][]string{{"build"}, {"retry", "part/one", "--yes"}}, idle: true,
		verb: []string{"select", "part/one@1"}, again: true, holds: readsFirst,
	},
	{name: "pin", before: [][]string{{"build"}}, verb: []string{"pin", "part/one"}, again: true, idle: true, holds: isPinned},
	{
		name: "unpin", before: [][]string{{"build"}, {"pin", "part/one"}}, idle: true,
		verb: []string{"unpin", "part/one"}, again: true, settled: "is not pinned", holds: isNotPinned,
	},
	{
		name: "approve", files: askedPoint, before: [][]string{{"build"}}, idle: true,
		verb: []string{"approve", "asked", "--yes"}, again: true, settled: "waits for no approval",
	},
	{
		name: "deny", files: askedPoint, before: [][]string{{"build"}}, holds: ranTwice,
		verb: []string{"deny", "asked", "--yes"}, again: true, settled: "waits for no approval",
		after: [][]string{{"build"}, {"approve", "asked", "--yes"}},
	},
	{name: "recheck", before: [][]string{{"build"}}, edit: strict, idle: true, verb: []string{"recheck", "list"}, again: true},
	{name: "export", before: [][]string{{"build"}}, idle: true, verb: []string{"export", "--yes"}, again: true, holds: isExported},
	{
		name: "export over", before: [][]string{{"build"}, {"export", "--yes"}}, edit: fewer, then: [][]string{{"build"}},
		idle: true, verb: []string{"export", "--yes"}, again: true, holds: isExported,
	},
	{
		name: "clean", before: [][]string{{"build", "--keep-workspaces"}}, edit: fewer, then: [][]string{{"build"}},
		idle: true, verb: []string{"clean", "--dead", "--out", "--workspaces", "--yes"}, again: true,
	},
	{name: "trim", before: [][]string{{"build"}}, edit: fewer, then: [][]string{{"build"}}, idle: true, verb: []string{"store", "trim", "--older", "0s", "--yes"}},
	{
		name: "import", before: [][]string{{"build"}}, setUp: elsewhere, holds: isImported,
		verb: []string{"store", "import"}, again: true,
	},
}

// goOn does what a person does after the command, and returns what was said.
func (w *pointWorld) goOn(where string, worked bool) string {
	said := ""
	do := func(args []string, settled string) {
		text, code := w.run(args...)
		said += "\nthen: " + text
		if code == exitUsage && settled != "" {
			require.Regexp(w.t, settled, text, where+said)
			return
		}
		require.Contains(w.t, []int{exitOK, exitWaiting}, code, where+said)
	}
	if w.again && !worked {
		do(w.verb, w.settled)
	}
	for _, args := range w.after {
		do(args, "")
	}
	if w.idle {
		do([]string{"build"}, "")
		require.Equal(w.t, w.ran, w.traced(), "something ran: %s%s", where, said)
	}
	return said
}

func (w *pointWorld) view() *journal.View {
	view, _, err := journal.Read(w.dir)
	require.NoError(w.t, err)
	return view
}

// partOne is the task that people decide about.
func partOne(w *pointWorld) lang.Address {
	a, err := lang.ParseAddress("part/one")
	require.NoError(w.t, err)
	return a
}

func readsFirst(w *pointWorld, where string) {
	selected, _ := w.view().Selected(partOne(w))
	require.Equal(w.t, 1, selected.Ordinal, where)
}

func isPinned(w *pointWorld, where string) {
	said, code := w.run("retry", "part/one", "--yes")
	require.Equal(w.t, exitUsage, code, where)
	require.Contains(w.t, said, "part/one is pinned by tester", where)
}

func isNotPinned(w *pointWorld, where string) {
	selected, _ := w.view().Selected(partOne(w))
	_, pinned := w.view().PinOf(partOne(w), selected.Attempt)
	require.False(w.t, pinned, where)
}

// ranTwice wants what was denied to have been made again, once.
func ranTwice(w *pointWorld, where string) {
	require.Equal(w.t, 2, w.traced()["asked"], where)
}

// isExported wants the project to have what the tasks made, and nothing of the way there.
func isExported(w *pointWorld, where string) {
	w.must("export", "--yes")
	for to, from := range map[string]string{"REPORT.md": "out/report/t.txt", "pages/site/1": "out/site/site/1", "pages/site/3": "out/site/site/3"} {
		want, err := os.ReadFile(filepath.Join(w.dir, from))
		require.NoError(w.t, err, where)
		got, err := os.ReadFile(filepath.Join(w.dir, to))
		require.NoError(w.t, err, where)
		require.Equal(w.t, string(want), string(got), where)
	}
	for _, name := range w.tree(w.dir) {
		require.NotContains(w.t, name, exportPrefix, where)
		require.NotContains(w.t, name, "export.json", where)
	}
}

// elsewhere makes a bundle and forgets all else, as on another machine.
func elsewhere(w *pointWorld) {
	var bundle, said syncBuffer
	args := w.args([]string{"store", "export", "report"})
	code := run(&process{args: args, environ: append(os.Environ(), w.env...), in: strings.NewReader(""), out: &bundle, err: &said})
	require.Equal(w.t, exitOK, code, said.String())
	w.write(map[string]string{"report.bundle": bundle.String()})
	w.verb = []string{"store", "import", filepath.Join(w.dir, "report.bundle")}
	for _, dir := range []string{w.store, filepath.Join(w.dir, "out"), filepath.Join(w.dir, journal.Dir)} {
		require.NoError(w.t, os.RemoveAll(dir))
	}
}

// isImported wants nothing to run but what is not in the bundle, and every attempt to be there once.
func isImported(w *pointWorld, where string) {
	for what, n := range w.traced() {
		require.Equal(w.t, w.ran[what], n, "%s: %s", what, where)
	}
	require.Len(w.t, w.attempts("report"), 1, where)
	require.Len(w.t, w.attempts("part/one"), 1, where)
}

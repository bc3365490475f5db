package main

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/executor/journal"
)

var points = flag.Int("points", 100, "at how many effects a build is stopped or fails; 0 means all")

// pointFiles are a campaign with a prompt, an expansion of prompts, trees of which one loses a file, a large output, a contract
// and a task that needs a second try.
var pointFiles = map[string]string{
	"campaign.hcl": `
agent "fake" {
  adapter  = "exec"
  command  = ["sh", "agent.sh"]
  pass_env = ["UFTRACE"]
}
profile "default" {
  agent = agent.fake
}
contract "list" {
  kind   = "json"
  schema = "list.schema.json"
}
group "g" {
  defaults {
    pass_env = ["UFTRACE"]
  }
}
task "list" {
  group   = group.g
  command = ["sh", "-c", "cp list list.json"]
  input "list" { glob = ["list"] }
  output "list" {
    path     = "list.json"
    contract = contract.list
  }
}
task "part" {
  prompt_text = "about ${item.id}"
  workspace { mode = "inputs" }
  expand {
    items = task.list.outputs.list.json
    key   = item.id
  }
  output "t" { path = "t.txt" }
}
task "grow" {
  group   = group.g
  command = ["sh", "-c", "mkdir a; echo 1 > a/1; echo 2 > a/2; ln -s 1 a/link; printf '%070000d' 7 > big"]
  output "t" { tree = ["a/**"] }
  output "big" { path = "big" }
}
task "prune" {
  group   = group.g
  command = ["sh", "-c", "rm a/2; echo 3 > a/3"]
  workspace { inherit = task.grow }
  output "t" { tree = ["a/**"] }
}
task "flaky" {
  group   = group.g
  command = ["sh", "-c", "test -e $UFTRACE.tried && echo ok > f || { : > $UFTRACE.tried; exit 3; }"]
  retry {
    attempts = 4
    backoff  = "1ms"
  }
  output "f" { path = "f" }
}
task "report" {
  prompt_text = "all ${join(" ", [for e in task.part.all : e.outputs.t.path])} ${task.prune.outputs.t.path} ${task.flaky.outputs.f.path}"
  workspace { mode = "inputs" }
  output "t" { path = "t.txt" }
  export {
    from = self.outputs.t
    to   = "REPORT.md"
  }
}
task "site" {
  group   = group.g
  command = ["sh", "-c", "cp -R ${task.prune.outputs.t.path}/a site"]
  output "t" { tree = ["site/**"] }
  export {
    from = self.outputs.t
    to   = "pages"
  }
}
`,
	"list.schema.json": `{"type": "array", "items": {"type": "object", "required": ["id"], "additionalProperties": false, "properties": {"id": {"type": "string"}}}}`,
	"list":             `[{"id": "one"}, {"id": "two"}]`,
	"agent.sh": `echo "$UF_TASK" >> "$UFTRACE"
cat > t.txt
echo '{"cost_usd": 1.5}' > "$UF_USAGE"
`,
}

// pointWorld is one journey under way.
type pointWorld struct {
	*home
	journey
	ran map[string]int // what had run before the command
}

// TestCrashPoints stops commands at each of their effects (every write, rename, sync, link, removal, new directory and start of
// a program), before it and in the middle of it, or lets it fail, and goes on: what was captured is not made again, the
// outputs are those of an undisturbed build, and nothing is left over.
func TestCrashPoints(t *testing.T) {
	for i, j := range journeys {
		t.Run(j.name, func(t *testing.T) {
			t.Parallel()
			w := newPointWorld(t, j)
			effects := w.count()
			n := share(j.weight())
			counts := map[string]int{}
			for _, s := range choose(rand.New(rand.NewPCG(uint64(i), 5)), effects, n) {
				t.Run(fmt.Sprintf("%s-%d", s.kind, s.at), func(t *testing.T) { w.strike(t, s) })
				counts[s.kind]++
			}
			t.Logf("%d effects at %d places; struck: %v", len(effects), len(placesOf(effects)), counts)
		})
	}
}

// share is how many strikes a journey gets; 0 for all.
func share(weight int) int {
	n := *points * weight / totalWeight()
	if testing.Short() {
		n /= 5
	}
	if *points > 0 {
		n = max(n, 1)
	}
	return n
}

// strike is one fault.
type strike struct {
	kind string
	at   int
	what string
}

// choose picks faults: every kind at every effect, or n of them that meet as many places of the program as possible.
func choose(r *rand.Rand, effects []string, n int) []strike {
	var all []strike
	for i, e := range effects {
		kinds := []string{faultCrash, faultIO, faultFull}
		switch op, _, _ := strings.Cut(e, " "); op {
		case "write":
			kinds = append(kinds, faultTorn, faultShort)
		case "remove":
			kinds = append(kinds, faultTorn)
		}
		for _, k := range kinds {
			all = append(all, strike{k, i + 1, e})
		}
	}
	if n <= 0 || n >= len(all) {
		return all
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	met := map[string]bool{}
	var first, later []strike
	for _, s := range all {
		if met[s.what] {
			later = append(later, s)
			continue
		}
		met[s.what] = true
		first = append(first, s)
	}
	return append(first, later...)[:n]
}

func placesOf(effects []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(effects)))
}

// newPointWorld does everything before the command, and keeps what is there then.
func newPointWorld(t *testing.T, j journey) *pointWorld {
	w := &pointWorld{home: newHome(t, pointFiles), journey: j}
	w.write(j.files)
	w.doAll(w.before)
	w.write(w.edit)
	w.doAll(w.then)
	if w.setUp != nil {
		w.setUp(w)
	}
	w.ran = w.traced()
	copyAll(t, filepath.Dir(w.dir), w.saved())
	return w
}

// doAll runs commands. A task that waits for a person is no trouble.
func (w *pointWorld) doAll(commands [][]string) {
	w.t.Helper()
	for _, args := range commands {
		said, code := w.run(args...)
		require.Contains(w.t, []int{exitOK, exitWaiting}, code, "%v: %s", args, said)
	}
}

func (w *pointWorld) saved() string { return filepath.Dir(w.dir) + ".saved" }

// restore brings back what was there before the command.
func (w *pointWorld) restore() {
	require.NoError(w.t, os.RemoveAll(filepath.Dir(w.dir)))
	copyAll(w.t, w.saved(), filepath.Dir(w.dir))
}

func copyAll(t *testing.T, from, to string) {
	t.Helper()
	out, err := exec.Command("cp", "-a", from, to).CombinedOutput()
	require.NoError(t, err, string(out))
}

// count returns the effects of the command, in order.
func (w *pointWorld) count() []string {
	list := w.saved() + ".effects"
	code, said := w.struck(faultVariable+"=none 0", effectsVariable+"="+list)
	require.Zero(w.t, code, said)
	b, err := os.ReadFile(list)
	require.NoError(w.t, err)
	return strings.Split(strings.TrimSpace(string(b)), "\n")
}

// struck runs the command in a process of its own.
func (w *pointWorld) struck(env ...string) (code int, said string) {
	w.t.Helper()
	cmd := w.command(w.verb...)
	cmd.Env = append(cmd.Env, env...)
	c := &child{t: w.t, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &c.said, &c.said
	c.start()
	return c.wait(), c.said.String()
}

// strike does the command with a fault, then goes on as a person would.
func (w *pointWorld) strike(t *testing.T, s strike) {
	w.t = t
	w.restore()
	code, said := w.struck(fmt.Sprintf("%s=%s %d", faultVariable, s.kind, s.at))
	where := fmt.Sprintf("%s at effect %d, %s: exit code %d\n%s", s.kind, s.at, s.what, code, said)
	require.NotEqual(t, exitBug, code, where)
	switch s.kind {
	case faultCrash, faultTorn:
	default:
		require.NotEqual(t, -1, code, where)
		if code != exitOK {
			require.Regexp(t, `(?m)input/output error|no space left|file system|FAILED|failed`, said, where)
		}
	}
	w.noneAlive()
	where += w.goOn(where, code == exitOK)
	again, code := w.run("build")
	require.Zero(t, code, "%s\nthen: %s", where, again)
	where += "\nthen: " + again
	w.sound(where)
	if w.holds != nil {
		w.holds(w, where)
	}
}

// sound wants what an undisturbed build leaves and nothing else.
func (w *pointWorld) sound(where string) {
	w.paidOnce(where)
	ids := []string{"one", "two"}
	switch text := w.edit["list"]; {
	case strings.Contains(text, "three"):
		ids = []string{"two", "three"}
	case text != "":
		ids = []string{"two"}
	}
	want := map[string]string{
		"list/list.json": pointFiles["list"], "flaky/f": "ok\n", "grow/big": fmt.Sprintf("%070000d", 7),
		"site/site/3": "3\n", "grow/a/1": "1\n", "grow/a/2": "2\n", "prune/a/1": "1\n", "prune/a/3": "3\n",
	}
	if text := w.edit["list"]; text != "" {
		want["list/list.json"] = text
	}
	for _, id := range ids {
		want["part/"+id+"/t.txt"] = "about " + id
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got, err := os.ReadFile(filepath.Join(w.dir, "out", name))
		require.NoError(w.t, err, where)
		require.Contains(w.t, string(got), want[name], "%s: %s", name, where)
	}
	require.NoFileExists(w.t, filepath.Join(w.dir, "out", "prune", "a", "2"), where)
	before := w.traced()
	again, code := w.run("build")
	require.Zero(w.t, code, "%s\nthen: %s", where, again)
	require.Equal(w.t, before, w.traced(), "a second build runs something: %s\nthen: %s", where, again)
	w.clean(where)
}

// paidOnce holds the attempts of every key to the promise: what was captured whole is the last one unless somebody retried it.
func (w *pointWorld) paidOnce(where string) {
	view, damage, err := journal.Read(w.dir)
	require.NoError(w.t, err, where)
	require.Empty(w.t, damage, where)
	s, err := disk.Open(w.store, disk.Options{ReadOnly: true})
	require.NoError(w.t, err, where)
	defer func() { require.NoError(w.t, s.Close()) }()
	keys, err := s.Keys()
	require.NoError(w.t, err, where)
	for _, k := range keys {
		attempts, err := s.Attempts(k)
		require.NoError(w.t, err, where)
		done := 0
		for _, a := range attempts {
			require.Zero(w.t, done, "%s: attempt %d ran although attempt %d was captured: %s", a.Address, a.Ordinal, done, where)
			_, retried := view.DiscardedBy(journal.Attempt{Key: k, Ordinal: a.Ordinal})
			if a.Captured != nil && a.Captured.StoppedBy == "" && a.Captured.Exit == 0 && !retried && a.Discarded == nil && !w.denied(a.Address) {
				done = a.Ordinal
			}
			require.NotEqual(w.t, cache.Started, a.State, "%s: attempt %d never ended: %s", a.Address, a.Ordinal, where)
		}
	}
	require.Empty(w.t, s.Damage(), where)
}

// clean wants no leftovers.
func (w *pointWorld) clean(where string) {
	require.Empty(w.t, w.tree(filepath.Join(w.store, "work")), where)
	require.Empty(w.t, w.tree(filepath.Join(w.store, "tmp")), where)
	require.NoDirExists(w.t, filepath.Join(w.dir, "out", ".stage"), where)
	for _, name := range w.tree(filepath.Join(w.dir, journal.Dir)) {
		if !strings.HasPrefix(name, "quarantine") {
			require.Contains(w.t, stateFiles, name, where)
		}
	}
	s, err := disk.Open(w.store, disk.Options{ReadOnly: true})
	require.NoError(w.t, err, where)
	defer func() { require.NoError(w.t, s.Close()) }()
	problems, err := s.Verify(w.t.Context())
	require.NoError(w.t, err, where)
	require.Empty(w.t, problems, where)
}

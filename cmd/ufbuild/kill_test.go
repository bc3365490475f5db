package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/graph/graphtest"
)

var kills = flag.Int("kills", 200, "how many builds the crash test kills")

// crashWorlds is how many campaigns share the kills.
const crashWorlds = 4

// TestCrashKilledBuilds kills builds at random instants with SIGKILL and starts again. Whatever the
// instant: what an attempt captured is never made again, nothing ran without a record, nothing lives on,
// the plan is right, and in the end the outputs are those of a clean build.
func TestCrashKilledBuilds(t *testing.T) {
	n := *kills
	if testing.Short() {
		n = min(n, 20)
	}
	for seed := range crashWorlds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newKillWorld(t, uint64(seed))
			for w.killed < (n+crashWorlds-1)/crashWorlds {
				w.round()
			}
			w.finish()
			t.Logf("%d builds killed, %d ended; %d attempts, of which %d were interrupted; tasks outlived their builder by %s at most",
				w.killed, w.whole, w.attempts, w.interrupted, w.longest)
		})
	}
}

// killWorld is a random campaign of commands and two prompts whose builds are killed.
type killWorld struct {
	*home
	r     *rand.Rand
	model *graphtest.Model
	files map[string]string
	asked int           // edits of what the prompts read
	usual time.Duration // a build of everything takes about that long

	seen     map[journal.Attempt]bool
	recorded map[string]int // attempts by what their tasks write to the trace

	killed, whole, attempts, interrupted int
	longest                              time.Duration
}

// askedFiles are two prompts, the second of which reads what the first one made.
var askedFiles = map[string]string{
	"asked.campaign.hcl": `
agent "fake" {
  adapter  = "exec"
  command  = ["sh", "agent.sh"]
  pass_env = ["UFTRACE"]
}

profile "default" {
  agent = agent.fake
}

task "asked" {
  workspace {
    mode = "inputs"
  }
  prompt_text = "Read asked.txt\n"
  input "notes" {
    glob = ["asked.txt"]
  }
  output "report" {
    path = "report.txt"
  }
}

task "asked-too" {
  workspace {
    mode = "inputs"
  }
  prompt_text = "Read ${task.asked.outputs.report.path}\n"
  output "report" {
    path = "report.txt"
  }
}
`,
	"agent.sh": `echo "$UF_TASK" >> "$UFTRACE"
cat $(sed -n 's/^Read //p' "$UF_PROMPT") > report.txt
echo "by $UF_TASK" >> report.txt
echo '{"cost_usd": 1.5}' > "$UF_USAGE"
`,
	"asked.txt": "0\n",
}

func newKillWorld(t *testing.T, seed uint64) *killWorld {
	r := rand.New(rand.NewPCG(seed, 11))
	w := &killWorld{
		home: newHome(t, askedFiles), r: r, model: graphtest.Random(r, 8), usual: 200 * time.Millisecond,
		files: map[string]string{}, seen: map[journal.Attempt]bool{}, recorded: map[string]int{},
	}
	w.bring()
	return w
}

// bring makes the campaign directory what the model says.
func (w *killWorld) bring() {
	next := w.model.Files()
	for path := range w.files {
		if _, ok := next[path]; !ok {
			require.NoError(w.t, os.Remove(filepath.Join(w.dir, path)))
		}
	}
	w.write(next)
	w.files = next
}

// round plans, builds, kills, and looks at what is there.
func (w *killWorld) round() {
	planned := w.states()
	before := w.traced()
	begun := time.Now()
	args, retries := []string{"build", "-j", "3"}, w.r.IntN(8) == 0
	if retries {
		args = []string{"retry", w.anyTask(), "--yes"}
	}
	c := w.start(args...)
	w.instant(c)
	if !c.hasEnded() {
		c.kill()
	}
	code := c.wait()
	require.NotContains(w.t, c.said.String(), "which is not what was put there", "%v", w.tree(filepath.Join(w.dir, "out")))
	switch {
	case code == -1:
		w.killed++
	case retries: // there may be nothing to retry, or only a part of the campaign was built
		require.LessOrEqual(w.t, code, exitUsage, c.said.String())
	case code == 0:
		w.whole++
		w.usual = (w.usual + time.Since(begun)) / 2
	default:
		require.Fail(w.t, "a build failed", "exit code %d: %s", code, c.said.String())
	}
	if w.r.IntN(2) == 0 { // else the next build starts while the watchdog of this one is at work
		w.longest = max(w.longest, w.noneAlive())
	}
	w.look()
	if retries {
		return
	}
	w.compare(planned, before, code == 0)
	if code == 0 {
		w.edit()
	}
}

func (w *killWorld) anyTask() string {
	names := append(w.model.Names(), "asked", "asked-too")
	return names[w.r.IntN(len(names))]
}

// instant returns when the build is to be killed: after some time, or just after some record was written.
// It returns early when the build ends.
func (w *killWorld) instant(c *child) {
	after, growths := time.Duration(w.r.Int64N(int64(w.usual)*3/4)), 1<<30
	if w.r.IntN(2) == 0 {
		after, growths = endless, 1+w.r.IntN(12)
	}
	deadline := time.After(after)
	tick := time.NewTicker(100 * time.Microsecond)
	defer tick.Stop()
	for size := w.logSize(); growths > 0; {
		select {
		case <-c.ended:
			return
		case <-deadline:
			return
		case <-tick.C:
			if now := w.logSize(); now != size {
				size = now
				growths--
			}
		}
	}
}

// logSize is how much the logs of the store and the journal hold.
func (w *killWorld) logSize() int64 {
	logs, err := filepath.Glob(filepath.Join(w.store, "log", "*"))
	require.NoError(w.t, err)
	var size int64
	for _, file := range append(logs, filepath.Join(w.dir, journal.Dir, "journal.log")) {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return size
}

// states is what the plan says of each address. Looking changes nothing on disk (U10).
func (w *killWorld) states() map[string]string {
	dying := len(w.tasksAlive()) > 0 // tasks of the killed build may still write
	before := w.sizes()
	var p planReport
	require.NoError(w.t, json.Unmarshal([]byte(w.plan()), &p))
	w.must("status")
	if !dying {
		require.Equal(w.t, before, w.sizes(), "plan or status wrote something")
	}
	states := map[string]string{}
	for _, n := range p.Nodes {
		states[n.Address] = n.State
	}
	return states
}

// sizes is how long every file of the store and of the campaign's state is.
func (w *killWorld) sizes() map[string]int64 {
	sizes := map[string]int64{}
	for _, dir := range []string{w.store, filepath.Join(w.dir, journal.Dir), filepath.Join(w.dir, "out")} {
		for _, name := range w.tree(dir) {
			if info, err := os.Lstat(filepath.Join(dir, name)); err == nil {
				sizes[filepath.Join(dir, name)] = info.Size()
			}
		}
	}
	return sizes
}

// compare holds the plan to what the build did.
func (w *killWorld) compare(planned map[string]string, before map[string]int, whole bool) {
	after := w.traced()
	for address, state := range planned {
		runs := after[w.mark(address)] - before[w.mark(address)]
		switch {
		case state == "fresh":
			require.Zero(w.t, runs, "%s was planned fresh and ran", address)
		case state == "stale" && whole:
			require.Equal(w.t, 1, runs, "%s was planned stale", address)
		default:
			require.LessOrEqual(w.t, runs, 1, "%s ran more than once in one build", address)
		}
	}
}

// mark is what the task at an address writes to the trace.
func (w *killWorld) mark(address string) string {
	if uid := w.model.UID(address); uid != "" {
		return uid
	}
	return address
}

// look opens everything and holds the records to the trace.
func (w *killWorld) look() {
	view, damage, err := journal.Read(w.dir)
	require.NoError(w.t, err)
	require.Empty(w.t, damage)
	s, err := disk.Open(w.store, disk.Options{ReadOnly: true})
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, s.Close()) }()
	traced := w.traced() // before the records: what is traced has one
	keys, err := s.Keys()
	require.NoError(w.t, err)
	w.attempts, w.interrupted = 0, 0
	captured := map[string]int{}
	for _, k := range keys {
		w.lookAt(s, view, k, captured)
	}
	require.Empty(w.t, s.Damage())
	for mark, n := range traced {
		require.LessOrEqual(w.t, n, w.recorded[mark], "%s ran without a record", mark)
	}
	for mark, n := range captured {
		require.GreaterOrEqual(w.t, traced[mark], n, "%s is said to have run more often than it did", mark)
	}
}

// lookAt holds the attempts of one key to the promise: one that was captured whole is the last one unless
// somebody retried it. It counts the captured ones of prompts, whose tasks keep their names.
func (w *killWorld) lookAt(s *disk.Store, view *journal.View, k cache.Key, captured map[string]int) {
	attempts, err := s.Attempts(k)
	require.NoError(w.t, err)
	done := 0
	for _, a := range attempts {
		require.Zero(w.t, done, "%s: attempt %d of %s ran although attempt %d was captured", a.Address, a.Ordinal, k.Short(), done)
		w.attempts++
		if a.Outcome == cache.Interrupted {
			w.interrupted++
		}
		if a.Captured != nil && a.Captured.StoppedBy == "" && a.Captured.Exit == 0 {
			if _, retried := view.DiscardedBy(journal.Attempt{Key: k, Ordinal: a.Ordinal}); !retried {
				done = a.Ordinal
			}
			if strings.HasPrefix(a.Address, "asked") {
				captured[a.Address]++
			}
		}
		at := journal.Attempt{Key: k, Ordinal: a.Ordinal}
		if !w.seen[at] {
			w.seen[at] = true
			w.recorded[w.mark(a.Address)]++
		}
	}
}

// edit checks the outputs of a whole build and changes what the next one has to do.
func (w *killWorld) edit() {
	w.outputs()
	for range 1 + w.r.IntN(3) {
		w.model.Mutate(w.r)
	}
	w.bring()
	if w.r.IntN(2) == 0 {
		w.asked++
		w.write(map[string]string{"asked.txt": fmt.Sprintln(w.asked)})
	}
}

// outputs holds what is in place to the reference.
func (w *killWorld) outputs() {
	files := map[string]string{
		"asked/report.txt":     fmt.Sprintf("%d\nby asked\n", w.asked),
		"asked-too/report.txt": fmt.Sprintf("%d\nby asked\nby asked-too\n", w.asked),
	}
	for name, text := range w.model.Want() {
		files[name+"/"+graphtest.Output] = text
	}
	for file, text := range files {
		got, err := os.ReadFile(filepath.Join(w.dir, "out", file))
		require.NoError(w.t, err)
		require.Equal(w.t, text, string(got), file)
	}
}

// finish builds to the end and wants nothing to be left over.
func (w *killWorld) finish() {
	w.must("build")
	w.look()
	w.outputs()
	w.noneAlive()
	before := w.traced()
	w.must("build")
	require.Equal(w.t, before, w.traced(), "a second build runs nothing")
	for address, state := range w.states() {
		require.Equal(w.t, "fresh", state, address)
	}
	require.Empty(w.t, w.tree(filepath.Join(w.store, "work")))
	require.Empty(w.t, w.tree(filepath.Join(w.store, "tmp")))
	require.NoDirExists(w.t, filepath.Join(w.dir, "out", ".stage"))
	require.Subset(w.t, stateFiles, w.tree(filepath.Join(w.dir, journal.Dir)))
	s, err := disk.Open(w.store, disk.Options{ReadOnly: true})
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, s.Close()) }()
	problems, err := s.Verify(w.t.Context())
	require.NoError(w.t, err)
	require.Empty(w.t, problems)
}

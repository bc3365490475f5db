package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/graph/graphtest"
)

var rounds = flag.Int("rounds", 1000, "how many random edits the property test makes")

// perCampaign is how many edits one random campaign sees: enough for reverts to reach far back.
const perCampaign = 50

// hints are what is only kept to answer faster: stamp, stat cache, checkpoint of the journal, times, and tables of the store.
var hints = []string{"campaign/.ufbuild/fresh", "campaign/.ufbuild/stat", "campaign/.ufbuild/checkpoint", "campaign/.ufbuild/times", "campaign/.ufbuild/compiled", "store/log/*.idx", "store/pack/*.idx"}

// everySlice makes builds of small campaigns look at slices too.
const everySlice = compileVariable + "=0"

// hintModes are what happens to hints before each look: nothing, they are gone, or they are those of some time before.
var hintModes = []string{"on", "off", "stale"}

// TestIncrementalEqualsClean edits random campaigns at random and builds after each edit. After every
// round the outputs are those of a clean build, exactly the tasks ran that no build had run before,
// and the plan had said so. A third of the campaigns has its hints, a third has none, and a third has old ones.
func TestIncrementalEqualsClean(t *testing.T) {
	n := *rounds
	if testing.Short() {
		n = 100
	}
	for seed := range (n + perCampaign - 1) / perCampaign {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			newWorld(t, uint64(seed)).live(perCampaign)
		})
	}
}

// world is one random campaign with its store.
type world struct {
	t     *testing.T
	r     *rand.Rand
	model *graphtest.Model
	dir   string
	store string
	trace string
	files map[string]string // what is on disk
	ran   map[string]bool   // texts of executions that some build made
	mode  string            // of hintModes
	old   []map[string][]byte
}

func newWorld(t *testing.T, seed uint64) *world {
	r := rand.New(rand.NewPCG(seed, 7))
	base := t.TempDir()
	w := &world{
		t: t, r: r, model: graphtest.Random(r, 3+r.IntN(8)), dir: filepath.Join(base, "campaign"), store: filepath.Join(base, "store"),
		trace: filepath.Join(base, "trace"), files: map[string]string{}, ran: map[string]bool{}, mode: hintModes[seed%uint64(len(hintModes))],
	}
	require.NoError(t, os.MkdirAll(w.dir, 0o755))
	return w
}

func (w *world) live(rounds int) {
	edit := "the first build"
	for range rounds {
		w.bring(w.model.Files())
		w.spoilHints()
		w.round(edit)
		before := w.model.Files()
		edit = w.model.Mutate(w.r)
		if w.r.IntN(compared) == 0 {
			w.affected(edit, before)
		}
	}
}

// spoilHints does to the hints what the mode says, and remembers what they were.
func (w *world) spoilHints() {
	if w.mode == "on" {
		return
	}
	now := map[string][]byte{}
	for _, pattern := range hints {
		paths, err := filepath.Glob(filepath.Join(filepath.Dir(w.dir), pattern))
		require.NoError(w.t, err)
		for _, path := range paths {
			now[path], err = os.ReadFile(path)
			require.NoError(w.t, err)
			require.NoError(w.t, os.Remove(path))
		}
	}
	if w.mode == "off" {
		return
	}
	w.old = append(w.old, now)
	for path, b := range w.old[w.r.IntN(len(w.old))] {
		require.NoError(w.t, os.WriteFile(path, b, 0o600))
	}
}

// round plans, builds and compares with the model.
func (w *world) round(edit string) {
	require.NoError(w.t, os.RemoveAll(w.trace))
	planned := w.plan()
	w.spoilHints()
	out, code := w.ufbuild("build")
	require.Zero(w.t, code, "after %s: %s", edit, out)
	executed := w.executed()
	want, runs := w.model.Want(), w.model.Runs()
	for _, name := range w.model.Names() {
		uid := w.model.UID(name)
		times := countOf(executed, uid)
		if w.ran[runs[uid]] {
			require.Zero(w.t, times, "%s ran again after %s", name, edit)
		} else {
			require.Equal(w.t, 1, times, "%s ran %d times after %s", name, times, edit)
		}
		switch planned[name] {
		case "fresh":
			require.Zero(w.t, times, "%s was planned fresh and ran after %s", name, edit)
		case "stale":
			require.Equal(w.t, 1, times, "%s was planned stale and did not run after %s", name, edit)
		default:
			require.Equal(w.t, "unknown", planned[name], name)
		}
		got, err := os.ReadFile(filepath.Join(w.dir, "out", name, graphtest.Output))
		require.NoError(w.t, err, "after %s", edit)
		require.Equal(w.t, want[name], string(got), "output of %s after %s", name, edit)
	}
	for _, text := range runs {
		w.ran[text] = true
	}
	w.idle(edit)
}

// idle builds again without an edit, from a stamp and without one: nothing runs.
func (w *world) idle(edit string) {
	require.NoError(w.t, os.RemoveAll(w.trace))
	for range 1 + w.r.IntN(2) {
		w.spoilHints()
		out, code := w.ufbuild("build")
		require.Zero(w.t, code, out)
		require.NotContains(w.t, out, "ran", "a build without an edit after %s", edit)
	}
	require.Empty(w.t, w.executed(), "a build without an edit after %s", edit)
}

// bring makes the files on disk those of next, touching only what differs.
func (w *world) bring(next map[string]string) {
	for path := range w.files {
		if _, ok := next[path]; !ok {
			require.NoError(w.t, os.Remove(filepath.Join(w.dir, path)))
		}
	}
	for path, text := range next {
		if old, ok := w.files[path]; ok && old == text {
			continue
		}
		full := filepath.Join(w.dir, path)
		require.NoError(w.t, os.MkdirAll(filepath.Dir(full), 0o755))
		require.NoError(w.t, os.WriteFile(full, []byte(text), 0o644))
	}
	w.files = next
}

func (w *world) plan() map[string]string {
	out, code := w.ufbuild("plan", "--json")
	require.Zero(w.t, code, out)
	var p planReport
	require.NoError(w.t, json.Unmarshal([]byte(out), &p))
	states := map[string]string{}
	for _, n := range p.Nodes {
		states[n.Address] = n.State
	}
	for _, n := range p.Nodes {
		if n.State == "unknown" {
			require.Equal(w.t, "stale", states[n.Until], "%s waits for %s", n.Address, n.Until)
			require.True(w.t, n.Through == "" || states[n.Through] == "unknown", "%s waits through %s, which is %s", n.Address, n.Through, states[n.Through])
		}
	}
	if w.r.IntN(explained) == 0 {
		w.explain(p.Nodes)
	}
	return states
}

// explained is in how many plans one is asked about by the other verbs too: each look costs as much as the plan.
const explained = 8

// explain holds why, status and @stale to a plan: they say the same of every task, with the same reason.
func (w *world) explain(planned []nodeReport) {
	for _, verb := range [][]string{{"status", "--json"}, {"why", "*", "--json"}, {"why", "@stale", "--json"}} {
		out, code := w.ufbuild(verb...)
		require.Zero(w.t, code, out)
		var said planReport
		require.NoError(w.t, json.Unmarshal([]byte(out), &said))
		byAddress := map[string]nodeReport{}
		for _, n := range said.Nodes {
			byAddress[n.Address] = n
		}
		for _, n := range planned {
			got, ok := byAddress[n.Address]
			if verb[1] == "@stale" && n.State == "fresh" {
				require.False(w.t, ok, "%s is fresh and in @stale", n.Address)
				continue
			}
			require.True(w.t, ok, "%v leaves out %s", verb, n.Address)
			require.Equal(w.t, []string{n.State, n.Until, n.Through, n.ReasonText, n.Key}, []string{got.State, got.Until, got.Through, got.ReasonText, got.Key}, "%v of %s", verb, n.Address)
		}
	}
}

// ufbuild runs the whole program in this process.
func (w *world) ufbuild(args ...string) (stdout string, code int) {
	var out, errs bytes.Buffer
	code = run(&process{
		args:    append([]string{"-C", w.dir, "--store", w.store}, args...),
		environ: append(os.Environ(), graphtest.TraceVariable+"="+w.trace, everySlice),
		in:      strings.NewReader(""), out: &out, err: &errs,
	})
	if code != 0 {
		return out.String() + errs.String(), code
	}
	return out.String(), code
}

// executed are the uids of the tasks that ran since the trace was removed.
func (w *world) executed() []string {
	b, err := os.ReadFile(w.trace)
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(w.t, err)
	return strings.Fields(string(b))
}

func countOf(list []string, s string) int {
	n := 0
	for _, x := range list {
		if x == s {
			n++
		}
	}
	return n
}

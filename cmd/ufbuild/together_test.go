package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/graph/graphtest"
)

var together = flag.Duration("together", time.Second, "how long worktrees that share a store are built at once")

// waiting says that it is up and goes on when it is told to.
const waiting = `echo up >> "$UFTRACE"; until test -e "$UFTRACE.go"; do sleep 0.02; done; echo > o`

// A second build of a campaign says who builds it and leaves; with --wait it waits and finds all done.
// Verbs that look work meanwhile.
func TestSecondBuild(t *testing.T) {
	t.Parallel()
	h := newHome(t, scripted(waiting))
	c := h.start("build")
	h.awaitTrace("up", 1)
	said, code := h.run("build")
	require.Equal(t, 5, code, said)
	require.Contains(t, said, "`ufbuild build` of tester (process "+fmt.Sprint(c.cmd.Process.Pid))
	require.Contains(t, said, "--wait")
	for _, verb := range []string{"plan", "status", "ls"} {
		h.must(verb)
	}
	second := h.start("build", "--wait")
	h.await("the second one waits", func() bool { return strings.Contains(second.said.String(), "waiting for") })
	require.NoError(t, os.WriteFile(h.trace+".go", nil, 0o644))
	require.Zero(t, c.wait(), c.said.String())
	require.Zero(t, second.wait(), second.said.String())
	require.Equal(t, map[string]int{"up": 1, "later": 1}, h.traced())
}

// A lock that a dead process left, whoever has its number now, holds nobody up (S83).
func TestDeadHolder(t *testing.T) {
	t.Parallel()
	h := newHome(t, scripted("echo > o"))
	h.write(map[string]string{".ufbuild/lock": fmt.Sprintf(`{"pid":%d,"who":"somebody","verb":"build"}`, os.Getpid())})
	h.must("build")
}

// Worktrees that share a store and build the same keys at the same time run each key once.
func TestCrashTogether(t *testing.T) {
	t.Parallel()
	w := newTogetherWorld(t)
	rounds := 0
	for begun := time.Now(); time.Since(begun) < *together || rounds < 3; rounds++ {
		w.round()
		w.model.Mutate(w.r)
	}
	t.Logf("%d rounds of %d builds at once, %d executions", rounds, len(w.trees), len(w.ran))
}

// togetherWorld is one campaign in several worktrees.
type togetherWorld struct {
	t     *testing.T
	r     *rand.Rand
	model *graphtest.Model
	trees []*home
	ran   map[string]bool
}

func newTogetherWorld(t *testing.T) *togetherWorld {
	r := rand.New(rand.NewPCG(3, 5))
	w := &togetherWorld{t: t, r: r, model: graphtest.Random(r, 6), ran: map[string]bool{}}
	for range 3 {
		h := newHome(t, nil)
		if len(w.trees) > 0 {
			h.store, h.trace, h.env = w.trees[0].store, w.trees[0].trace, w.trees[0].env
		}
		w.trees = append(w.trees, h)
	}
	return w
}

// round builds everywhere at once.
func (w *togetherWorld) round() {
	before := w.trees[0].traced()
	var builds []*child
	for _, h := range w.trees {
		require.NoError(w.t, os.RemoveAll(filepath.Join(h.dir, "src")))
		h.write(w.model.Files())
		builds = append(builds, h.start("build", "-j", "2"))
	}
	for _, c := range builds {
		require.Zero(w.t, c.wait(), c.said.String())
	}
	after := w.trees[0].traced()
	for uid, text := range w.model.Runs() {
		want := 1
		if w.ran[text] {
			want = 0
		}
		w.ran[text] = true
		require.Equal(w.t, want, after[uid]-before[uid], "%s\n%s", uid, text)
	}
	for name, text := range w.model.Want() {
		for _, h := range w.trees {
			got, err := os.ReadFile(filepath.Join(h.dir, "out", name, graphtest.Output))
			require.NoError(w.t, err)
			require.Equal(w.t, text, string(got))
		}
	}
	require.Empty(w.t, w.trees[0].tree(filepath.Join(w.trees[0].store, "work")))
}

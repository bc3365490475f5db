package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

var chaos = flag.Int("chaos", 40, "how many builds meet a misbehaving server")

// chaosCampaign is a diamond of commands. What a task writes spells everything it was made from, so it is its key in words.
const chaosCampaign = `
group "g" {
  defaults { pass_env = ["UFTRACE"] }
}
task "a" {
  group   = group.g
  command = ["sh", "-c", "echo a$(cat v1) > o; cat o >> $UFTRACE"]
  input "v" { glob = ["v1"] }
  output "o" { path = "o" }
}
task "b" {
  group   = group.g
  command = ["sh", "-c", "echo b$(cat v2) > o; mkdir t; seq 300 > t/many; cat v2 >> t/many; cat o >> $UFTRACE"]
  input "v" { glob = ["v2"] }
  output "o" { path = "o" }
  output "t" { tree = ["t/**"] }
}
task "c" {
  group   = group.g
  command = ["sh", "-c", "echo c$(cat ${task.a.outputs.o.path} ${task.b.outputs.o.path} | tr -d '\\n') > o; cat o >> $UFTRACE"]
  output "o" { path = "o" }
}
task "d" {
  group   = group.g
  command = ["sh", "-c", "echo d$(cat ${task.c.outputs.o.path}) > o; cat o >> $UFTRACE"]
  output "o" { path = "o" }
}
`

// chaosFaults are what a server does; each turns up at the start of a build or after some calls.
var chaosFaults = map[string]func(*remotetest.Server){
	"killed":  func(s *remotetest.Server) { killing.Go(s.Kill) }, // from within a call, which has to end before it can
	"slow":    func(s *remotetest.Server) { s.Misbehave(remotetest.Faults{Delay: 20 * time.Millisecond}) },
	"hanging": func(s *remotetest.Server) { s.Misbehave(remotetest.Faults{Hang: true}) },
	"lying":   func(s *remotetest.Server) { s.Misbehave(remotetest.Faults{WrongBytes: true}) },
	"losing":  func(s *remotetest.Server) { s.Misbehave(remotetest.Faults{Lose: true}) },
	"full":    func(s *remotetest.Server) { s.Misbehave(remotetest.Faults{Full: true}) },
	"another": func(s *remotetest.Server) { s.Misbehave(remotetest.Faults{Version: 7}) },
	"emptied": func(s *remotetest.Server) { s.Forget(nil); s.Misbehave(remotetest.Faults{}) },
	"rotten": func(s *remotetest.Server) {
		s.Corrupt(func([]byte) bool { return true })
		s.Misbehave(remotetest.Faults{})
	},
}

// killing waits for servers that are being killed.
var killing sync.WaitGroup

// chaosWorld is three machines and a server.
type chaosWorld struct {
	t        *testing.T
	r        *rand.Rand
	server   *remotetest.Server
	machines []*home
	shared   map[string]bool // what the server has for sure, by what tasks write
	warned   int
	saved    int // executions that another machine's result made unnecessary
}

// TestCrashRemote builds on three machines while their server is killed, slow, full, lying or losing: every build ends right,
// warns at most once, and no machine ever runs again what it has; without trouble no machine runs what another made.
func TestCrashRemote(t *testing.T) {
	was := remoteTimeout
	t.Cleanup(func() { remoteTimeout = was })
	for _, sha := range []bool{false, true} {
		w := &chaosWorld{t: t, r: rand.New(rand.NewPCG(11, 13)), shared: map[string]bool{}}
		w.server = remotetest.Start(t, remotetest.Options{SHA256: sha, Zstd: !sha, MaxBatch: 4 << 10})
		for range 3 {
			w.machines = append(w.machines, newHome(t, map[string]string{"campaign.hcl": chaosCampaign}))
		}
		for n := range (*chaos + 1) / 2 {
			w.round(n)
		}
		require.Positive(t, w.saved, "nothing was shared")
		t.Logf("%d warnings, %d executions saved", w.warned, w.saved)
	}
}

func (w *chaosWorld) round(n int) {
	h := w.machines[w.r.IntN(len(w.machines))]
	v1, v2 := w.r.IntN(3), w.r.IntN(3)
	h.write(map[string]string{"v1": fmt.Sprint(v1), "v2": fmt.Sprint(v2)})
	fault := w.misbehave(n)
	remoteTimeout = endless // a good server is never given up because the machine is busy
	if fault == "hanging" {
		remoteTimeout = 300 * time.Millisecond
	}
	before := h.traced()
	said, code := h.run("build", "--remote", w.server.URL(), "-j", "4")
	said = fmt.Sprintf("build %d, server %s\n%s", n, fault, said)
	require.Zero(w.t, code, said)
	require.LessOrEqual(w.t, strings.Count(said, "] warning "), 1, said)
	w.warned += strings.Count(said, "] warning ")
	c := fmt.Sprintf("ca%db%d", v1, v2)
	want := map[string]string{"a": fmt.Sprintf("a%d", v1), "b": fmt.Sprintf("b%d", v2), "c": c, "d": "d" + c}
	for task, text := range want {
		b, err := os.ReadFile(filepath.Join(h.dir, "out", task, "o"))
		require.NoError(w.t, err, said)
		require.Equal(w.t, text, strings.TrimSpace(string(b)), said)
	}
	w.count(h, before, fault, said, want)
}

// count looks at what ran: nothing twice on a machine, and nothing in good times that the server has.
func (w *chaosWorld) count(h *home, before map[string]int, fault, said string, want map[string]string) {
	for text, n := range h.traced() {
		require.Equal(w.t, 1, n, "%s ran twice on one machine: %s", text, said)
		if before[text] == 0 && fault == "" {
			require.False(w.t, w.shared[text], "%s ran although the server has it: %s", text, said)
		}
	}
	switch fault {
	case "":
		after := h.traced()
		for _, text := range want {
			if after[text] == 0 {
				w.saved++ // another machine's
			} else {
				w.shared[text] = w.shared[text] || before[text] == 0 // it ran just now, so it was sent just now
			}
		}
	case "emptied", "rotten":
		w.server.Forget(nil) // a server that finds its blobs rotten drops them
		clear(w.shared)
	}
}

// misbehave makes the server good, or bad at once, or bad after some calls. It returns the fault, "" for none.
func (w *chaosWorld) misbehave(n int) string {
	killing.Wait()
	w.server.Restart()
	w.server.Misbehave(remotetest.Faults{})
	if n%2 == 0 {
		return ""
	}
	names := []string{"killed", "slow", "hanging", "lying", "losing", "full", "another", "emptied", "rotten"}
	fault := names[w.r.IntN(len(names))]
	after := int64(w.r.IntN(12))
	if after == 0 {
		chaosFaults[fault](w.server)
		return fault
	}
	var calls atomic.Int64
	w.server.Misbehave(remotetest.Faults{Before: func(string) {
		if calls.Add(1) == after {
			chaosFaults[fault](w.server)
		}
	}})
	return fault
}

package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor/remote/workertest"
)

// farCampaign is a command and a prompt at a remote, and a command here that reads what they made. What a task writes is its key in
// words.
const farCampaign = `
remote "farm" {
  engine  = "reapi"
  address = "%s"
}
agent "fake" {
  adapter  = "exec"
  command  = ["sh", "agent.sh"]
  pass_env = ["UFTRACE"]
}
profile "default" {
  agent  = agent.fake
  remote = "farm"
}
task "a" {
  remote   = "farm"
  timeout  = "1m"
  command  = ["sh", "-c", "echo a$(cat v1) > o; cat o >> $UFTRACE; sleep 0.05"]
  pass_env = ["UFTRACE"]
  input "v" { glob = ["v1"] }
  output "o" { path = "o" }
}
task "p" {
  timeout     = "1m"
  prompt_text = "Read ${task.a.outputs.o.path}\n"
  workspace { mode = "inputs" }
  input "v" { glob = ["v2"] }
  output "o" { path = "o" }
}
task "c" {
  command = ["sh", "-c", "echo c$(cat ${task.p.outputs.o.path}) > o"]
  output "o" { path = "o" }
}
`

const farAgent = `echo "p$(cat v2)$(cat $(sed -n 's/^Read //p' "$UF_PROMPT"))" > o
cat o >> "$UFTRACE"
sleep 0.05
`

// back is when a server that went down during a build is up again.
const back = 150 * time.Millisecond

// farFaults are what a server that executes does. Those that take it down are over soon, so that the same build may go on.
var farFaults = map[string]func(*workertest.Worker){
	"killed":    func(w *workertest.Worker) { goesDown(w, w.Server.Kill) },
	"forgetful": func(w *workertest.Worker) { goesDown(w, func() { w.Crash(false) }) },
	"crashed":   func(w *workertest.Worker) { goesDown(w, func() { w.Crash(true) }) },
	"hanging": func(w *workertest.Worker) {
		w.Server.Misbehave(remotetest.Faults{Hang: true})
		killing.Go(func() {
			time.Sleep(back)
			w.Server.Misbehave(remotetest.Faults{})
		})
	},
}

func init() {
	for name, do := range chaosFaults {
		if _, ours := farFaults[name]; !ours {
			farFaults[name] = func(w *workertest.Worker) { do(w.Server) }
		}
	}
}

func goesDown(w *workertest.Worker, down func()) {
	killing.Go(func() { // a call under way has to end before the server can
		down()
		time.Sleep(back)
		w.Server.Restart()
	})
}

// farWorld is one machine whose tasks run at a server that misbehaves, and whose builds are killed.
type farWorld struct {
	*home
	r      *rand.Rand
	worker *workertest.Worker
	n      int
	told   map[string]int // times that a task was said to be lost, or to be paid twice
	said   []string
	endsAs map[string]int
}

// TestCrashExecute builds with tasks that run at a server which is killed, forgets, crashes with its machine, hangs, is slow or full,
// lies, loses, is emptied, rots or is of another version, from the start of a build or after some calls; every third build is killed
// itself. What the server did not do at once is done by the next build: outputs are right, and nothing ran twice that was not said to
// be lost.
func TestCrashExecute(t *testing.T) {
	was := remoteTimeout
	remoteTimeout = 300 * time.Millisecond
	t.Cleanup(func() { remoteTimeout = was })
	n := *chaos
	if testing.Short() {
		n = min(n, 10)
	}
	for _, sha := range []bool{false, true} {
		w := &farWorld{r: rand.New(rand.NewPCG(17, 19)), told: map[string]int{}, endsAs: map[string]int{}}
		w.worker = workertest.Start(t, remotetest.Options{SHA256: sha, Zstd: !sha, MaxBatch: 4 << 10})
		w.home = newHome(t, map[string]string{"campaign.hcl": fmt.Sprintf(farCampaign, w.worker.Server.URL()), "agent.sh": farAgent})
		w.worker.Env = []string{traceVariable + "=" + w.trace, "PATH=/usr/local/bin:/usr/bin:/bin"}
		for w.n = range (n + 1) / 2 {
			w.round()
		}
		t.Logf("how the first builds ended: %v; said to be lost: %v; %d executions", w.endsAs, w.told, w.worker.Executed())
		require.Positive(t, w.endsAs["0"], "no build went well in spite of the trouble")
	}
}

func (w *farWorld) round() {
	v1, v2 := w.r.IntN(1000), w.r.IntN(1000)
	w.write(map[string]string{"v1": fmt.Sprint(v1), "v2": fmt.Sprint(v2)})
	fault, code := w.bad()
	w.endsAs[code]++
	killing.Wait()
	w.worker.Server.Restart()
	w.worker.Server.Misbehave(remotetest.Faults{})
	if strings.HasPrefix(fault, "rotten") {
		w.worker.Server.Forget(nil) // a server that finds its blobs rotten drops them
	}
	if code != "0" { // whatever it was is over
		if said, code := w.run("build"); code != 0 {
			w.heard(said)
			w.heard(w.must("build")) // what was lost is begun anew when somebody builds again
		} else {
			w.heard(said)
		}
	}
	about := fmt.Sprintf("build %d, server %s\n%s", w.n, fault, strings.Join(w.said, "\n--\n"))
	want := map[string]string{"a": fmt.Sprintf("a%d", v1), "p": fmt.Sprintf("p%da%d", v2, v1)}
	want["c"] = "c" + want["p"]
	for task, text := range want {
		b, err := os.ReadFile(filepath.Join(w.dir, "out", task, "o"))
		require.NoError(w.t, err, about)
		require.Equal(w.t, text, strings.TrimSpace(string(b)), about)
	}
	again := map[string]int{}
	for text, n := range w.traced() {
		again[text[:1]] += n - 1
	}
	for task, n := range again {
		require.LessOrEqual(w.t, n, w.told[task], "%s ran twice and nobody was told: %s", task, about)
	}
	w.said = nil
}

// bad builds while the server misbehaves, and says how that ended.
func (w *farWorld) bad() (fault, code string) {
	names := make([]string, 0, len(farFaults))
	for name := range farFaults {
		names = append(names, name)
	}
	slices.Sort(names)
	fault = names[w.r.IntN(len(names))]
	after := int64(w.r.IntN(30))
	kill := w.n%3 == 2
	if kill {
		fault = "good, and the build is killed"
		after = max(after, 3)
	}
	var victim *child
	if kill { // started first: it takes a while until it calls
		victim = w.start("build")
	}
	var calls atomic.Int64
	w.worker.Server.Misbehave(remotetest.Faults{Before: func(string) {
		switch {
		case calls.Add(1) != after:
		case kill:
			_ = victim.cmd.Process.Kill()
		default:
			farFaults[fault](w.worker)
		}
	}})
	about := fmt.Sprintf("%s after %d calls", fault, after)
	if kill {
		end := victim.wait()
		w.heard(victim.said.String())
		return about, fmt.Sprint(end)
	}
	if after == 0 {
		farFaults[fault](w.worker)
	}
	said, end := w.run("build")
	w.heard(said)
	return about, fmt.Sprint(end)
}

// heard counts what a build says of tasks that may have run in vain.
func (w *farWorld) heard(said string) {
	w.said = append(w.said, said)
	for _, task := range []string{"a", "p"} {
		told := 0
		for line := range strings.Lines(said) {
			if strings.Contains(line, " "+task+" ") && (strings.Contains(line, "lost") || strings.Contains(line, "paid twice")) {
				told++
			}
		}
		if task == "p" { // a build that loses a prompt begins it no more
			told = min(told, 1)
		}
		w.told[task] += told
	}
}

package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor/remote/workertest"
)

// farCampaign is a command and a prompt at a remote, and a command here that reads what they made. What a task writes is its key in
// words.
const farCampaign = `
agent "fake" {
  adapter  = "exec"
  command  = ["sh", "agent.sh"]
  pass_env = ["UFTRACE"]
}
profile "default" {
  agent  = agent.fake
  remote = "far"
}
task "a" {
  remote   = "far"
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

// farFaults are what any server does. Those that take it down are over soon, so that the same build may go on.
func farFaults(s *remotetest.Server) map[string]func() {
	out := map[string]func(){}
	for name, do := range chaosFaults {
		out[name] = func() { do(s) }
	}
	out["killed"] = func() { goesDown(s, s.Kill) }
	out["hanging"] = func() {
		s.Misbehave(remotetest.Faults{Hang: true})
		killing.Go(func() {
			time.Sleep(back)
			s.Misbehave(remotetest.Faults{})
		})
	}
	return out
}

func goesDown(s *remotetest.Server, down func()) {
	killing.Go(func() { // a call under way has to end before the server can
		down()
		time.Sleep(back)
		s.Restart()
	})
}

// farWorld is one machine whose tasks run elsewhere, where things go wrong, and whose builds are killed.
type farWorld struct {
	*home
	r      *rand.Rand
	server *remotetest.Server
	faults map[string]func()
	n      int
	told   map[string]int // times that a task was said to be lost, or to be paid twice
	said   []string
	endsAs map[string]int
}

func newFarWorld(t *testing.T, s *remotetest.Server) *farWorld {
	was := remoteTimeout
	t.Cleanup(func() { remoteTimeout = was })
	return &farWorld{
		home: newHome(t, map[string]string{"agent.sh": farAgent}), r: rand.New(rand.NewPCG(17, 19)), server: s, faults: farFaults(s),
		told: map[string]int{}, endsAs: map[string]int{},
	}
}

// rounds builds n times; in a short run a few.
func (w *farWorld) rounds(n int) {
	if testing.Short() {
		n = min(n, 5)
	}
	for w.n = range n {
		w.round()
	}
	w.t.Logf("how the first builds ended: %v; said to be lost: %v", w.endsAs, w.told)
	require.Positive(w.t, w.endsAs["0"], "no build went well in spite of the trouble")
}

// TestCrashExecute builds with tasks that run at a server which is killed, forgets, crashes with its machine, hangs, is slow or full,
// lies, loses, is emptied, rots or is of another version, from the start of a build or after some calls; every third build is killed
// itself. What the server did not do at once is done by the next build: outputs are right, and nothing ran twice that was not said to
// be lost.
func TestCrashExecute(t *testing.T) {
	for _, sha := range []bool{false, true} {
		worker := workertest.Start(t, remotetest.Options{SHA256: sha, Zstd: !sha, MaxBatch: 4 << 10})
		w := newFarWorld(t, worker.Server)
		w.write(map[string]string{"campaign.hcl": `remote "far" {` + "\n  engine = \"reapi\"\n  address = \"" + w.server.URL() + "\"\n}\n" + farCampaign})
		worker.Env = []string{traceVariable + "=" + w.trace, "PATH=/usr/local/bin:/usr/bin:/bin"}
		w.faults["forgetful"] = func() { goesDown(w.server, func() { worker.Crash(false) }) }
		w.faults["crashed"] = func() { goesDown(w.server, func() { worker.Crash(true) }) }
		w.rounds((*chaos + 1) / 2)
	}
}

// farEngine is an engine for jobs whose jobs are processes of this machine, with a file each.
const farEngine = `
remote "far" {
  engine  = "command"
  address = "%[1]s"
  program = "%[2]s/ufbuild"
  submit  = ["sh", "-c", "cd %[2]s; [ ! -e refuses ] || exit 1; setsid {command} >{log} 2>&1 </dev/null & echo $! >%[2]s/{name}.pid; [ ! -e deaf ] || exit 1"]
  state   = ["sh", "-c", "cd %[2]s; [ ! -e mute ] || exit 1; [ -e {name}.pid ] || exit 0; if grep -q '^State:.[^ZX]' /proc/$(cat {name}.pid)/status; then echo running; else echo done; fi"]
  cancel  = ["sh", "-c", "kill -TERM $(cat %[2]s/{name}.pid)"]
}
`

// TestCrashJobs is TestCrashExecute for jobs: beside the server that stores, jobs are killed, and the engine refuses jobs, takes one and
// says that it did not, runs one twice, or does not answer.
func TestCrashJobs(t *testing.T) {
	was := waitElsewhere
	waitElsewhere = func(d time.Duration) <-chan time.Time { return time.After(d / 20) }
	t.Cleanup(func() { waitElsewhere = was })
	exe, err := os.Executable()
	require.NoError(t, err)
	for _, sha := range []bool{false, true} {
		w := newFarWorld(t, remotetest.Start(t, remotetest.Options{SHA256: sha, Zstd: !sha, MaxBatch: 4 << 10}))
		e := &farJobs{t: t, dir: t.TempDir()}
		require.NoError(t, os.Symlink(exe, filepath.Join(e.dir, programName)))
		w.write(map[string]string{"campaign.hcl": fmt.Sprintf(farEngine, w.server.URL(), e.dir) + farCampaign})
		w.faults["job killed"] = e.kill
		for _, is := range []string{"refuses", "deaf", "mute"} {
			w.faults[is] = func() { e.is(is) }
		}
		w.faults["twice"] = e.again
		w.rounds((*chaos + 3) / 4) // a job takes a while
		e.kill()
	}
}

// farJobs is where jobs run.
type farJobs struct {
	t   *testing.T
	dir string
}

// pids are the processes of jobs, dead ones too.
func (e *farJobs) pids() (out []int) {
	files, err := filepath.Glob(filepath.Join(e.dir, "*.pid"))
	require.NoError(e.t, err)
	for _, f := range files {
		b, err := os.ReadFile(f)
		require.NoError(e.t, err)
		if pid, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil { // it is just being written
			out = append(out, pid)
		}
	}
	return out
}

// kill kills what runs of jobs.
func (e *farJobs) kill() {
	for _, pid := range e.pids() {
		if commandOf(pid) != nil {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
	}
}

// commandOf is the command of a process that is a job's; nil when that has ended, and its number may be another's.
func commandOf(pid int) []string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	args := strings.Split(strings.TrimSuffix(string(b), "\x00"), "\x00")
	if err != nil || len(args) != 5 || args[1] != "exec-action" {
		return nil
	}
	return args
}

// is makes the engine refuse, take and deny, or not answer, for a while.
func (e *farJobs) is(what string) {
	file := filepath.Join(e.dir, what)
	require.NoError(e.t, os.WriteFile(file, nil, 0o600))
	killing.Go(func() {
		time.Sleep(back)
		require.NoError(e.t, os.Remove(file))
	})
}

// again runs jobs once more that run.
func (e *farJobs) again() {
	for _, pid := range e.pids() {
		args := commandOf(pid)
		if args == nil {
			continue
		}
		cmd := exec.Command(args[0], args[1:]...)
		require.NoError(e.t, cmd.Start())
		killing.Go(func() { _ = cmd.Wait() })
	}
}

func (w *farWorld) round() {
	v1, v2 := w.r.IntN(1000), w.r.IntN(1000)
	w.write(map[string]string{"v1": fmt.Sprint(v1), "v2": fmt.Sprint(v2)})
	remoteTimeout = 300 * time.Millisecond
	fault, code := w.bad()
	remoteTimeout = endless // a good server is never given up because the machine is busy
	w.endsAs[code]++
	killing.Wait()
	w.server.Restart()
	w.server.Misbehave(remotetest.Faults{})
	if strings.HasPrefix(fault, "rotten") {
		w.server.Forget(nil) // a server that finds its blobs rotten drops them
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
	names := slices.Sorted(maps.Keys(w.faults))
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
	w.server.Misbehave(remotetest.Faults{Before: func(string) {
		switch {
		case calls.Add(1) != after:
		case kill:
			_ = victim.cmd.Process.Kill()
		default:
			w.faults[fault]()
		}
	}})
	about := fmt.Sprintf("%s after %d calls", fault, after)
	if kill {
		end := victim.wait()
		w.heard(victim.said.String())
		return about, fmt.Sprint(end)
	}
	if after == 0 {
		w.faults[fault]()
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

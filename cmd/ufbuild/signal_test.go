package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
)

// scripted is a campaign of one task "t", which runs a shell script, and "later", which needs it.
func scripted(script string) map[string]string {
	return map[string]string{
		"t.sh": script,
		"campaign.hcl": `
task "t" {
  command  = ["sh", "t.sh"]
  pass_env = ["UFTRACE"]
  output "o" {
    path = "o"
  }
}

task "later" {
  command    = ["sh", "-c", "echo later >> $UFTRACE"]
  pass_env   = ["UFTRACE"]
  depends_on = [task.t]
}
`,
	}
}

// Scripts of tasks. Each says "up" when it is ready to be hurt.
const (
	obedient = `trap 'echo got >> "$UFTRACE"; echo half > o; exit 0' INT; echo up >> "$UFTRACE"; while :; do sleep 0.02; done`
	stubborn = `trap '' INT TERM HUP; echo up >> "$UFTRACE"; while :; do sleep 0.02; done`
	// sprawling is what shells do to signals: a background job that ignores SIGINT, one in a session of its
	// own, a grandchild of which the parent is gone; all hold the output open.
	sprawling = `sleep 300 & setsid sh -c 'trap "" HUP INT TERM; sleep 300; sleep 300' & (setsid sh -c 'sleep 300; sleep 300' &)
echo up >> "$UFTRACE"; sleep 300`
)

// The first signal starts nothing new, passes SIGINT on and waits; the exit code says which signal it was.
func TestFirstSignal(t *testing.T) {
	for s, code := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			h := newHome(t, scripted(obedient))
			c := h.start("build")
			h.awaitTrace("up", 1)
			c.signal(s)
			require.Equal(t, code, c.wait(), c.said.String())
			require.Equal(t, map[string]int{"up": 1, "got": 1}, h.traced())
			h.noneAlive()
			require.Equal(t, cache.Cancelled, h.lastOutcome("t"))
			require.True(t, h.attempts("t")[0].Captured.Outputs[0].Exists, "what a stopped task left is kept")
			require.NoFileExists(t, filepath.Join(h.dir, "out/t/o"), "and is no result")
			require.Contains(t, h.must("plan"), "1 stale")
			h.write(map[string]string{"t.sh": "echo whole > o"})
			h.must("build")
			require.Empty(t, h.tree(filepath.Join(h.store, "work")))
		})
	}
}

// The second signal kills what the first one only asked.
func TestSecondSignal(t *testing.T) {
	t.Parallel()
	h := newHome(t, scripted(stubborn))
	c := h.start("build", "--grace", "1h")
	h.awaitTrace("up", 1)
	c.signal(syscall.SIGINT)
	h.await("the first signal is told", func() bool { return strings.Contains(c.said.String(), "once more kills") })
	require.NotEmpty(t, h.tasksAlive())
	require.False(t, c.hasEnded())
	c.signal(syscall.SIGINT)
	require.Equal(t, 130, c.wait())
	h.noneAlive()
	require.Equal(t, cache.Cancelled, h.lastOutcome("t"))
}

// One signal is enough when the grace period ends.
func TestGraceEnds(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"stubborn": stubborn, "sprawling": sprawling} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, scripted(script))
			c := h.start("build", "--grace", "50ms")
			h.awaitTrace("up", 1)
			c.signal(syscall.SIGTERM)
			require.Equal(t, 143, c.wait())
			require.Empty(t, h.tasksAlive(), "ufbuild ends after its tasks")
			require.Equal(t, cache.Cancelled, h.lastOutcome("t"))
		})
	}
}

// Whatever a task does to stay, it goes when ufbuild is killed.
func TestKilledBuilderLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, script := range map[string]string{"obedient": obedient, "stubborn": stubborn, "sprawling": sprawling} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, scripted(script))
			c := h.start("build")
			h.awaitTrace("up", 1)
			c.kill()
			t.Logf("gone after %s", h.noneAlive())
			require.Empty(t, h.attempts("t")[0].Outcome)
			h.write(map[string]string{"t.sh": "echo > o"})
			require.Contains(t, h.must("build"), "attempt 1 was interrupted")
			require.Equal(t, 1, h.traced()["later"])
			require.Empty(t, h.tree(filepath.Join(h.store, "work")))
		})
	}
}

// Where the watchdog dies too, the next build kills what is left.
func TestKilledBuilderAndWatchdog(t *testing.T) {
	t.Parallel()
	h := newHome(t, scripted(sprawling))
	c := h.start("build")
	h.awaitTrace("up", 1)
	dog := watchdogOf(t, c.cmd.Process.Pid)
	require.NoError(t, syscall.Kill(dog, syscall.SIGKILL))
	c.kill()
	h.write(map[string]string{"t.sh": "echo > o"})
	h.must("build")
	require.Empty(t, h.tasksAlive())
}

// watchdogOf finds the watchdog among the children of a builder.
func watchdogOf(t *testing.T, builder int) int {
	t.Helper()
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	require.NoError(t, err)
	for _, name := range names {
		stat, err := os.ReadFile(name)
		line, _ := os.ReadFile(filepath.Dir(name) + "/cmdline")
		if err != nil || string(line) != "ufbuild-watchdog\x00" {
			continue
		}
		f := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if f[1] == strconv.Itoa(builder) {
			pid, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			require.NoError(t, err)
			return pid
		}
	}
	require.Fail(t, "no watchdog")
	return 0
}

// A task that somebody else kills has failed; nobody took it for a wish to stop.
func TestTaskKilledBySomeoneElse(t *testing.T) {
	t.Parallel()
	h := newHome(t, scripted(`echo up $$ >> "$UFTRACE"; while :; do sleep 0.02; done`))
	c := h.start("build")
	h.awaitTrace("up", 1)
	b, err := os.ReadFile(h.trace)
	require.NoError(t, err)
	var pid int
	_, err = fmt.Sscanf(string(b), "up %d", &pid)
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(pid, syscall.SIGKILL))
	require.Equal(t, 1, c.wait())
	require.Contains(t, c.said.String(), "ended by SIGKILL")
	require.Equal(t, cache.Failed, h.lastOutcome("t"))
	require.Zero(t, h.traced()["later"])
}

// A process that keeps the output open keeps nobody waiting, and ends with its task.
func TestPipeHeldOpen(t *testing.T) {
	t.Parallel()
	h := newHome(t, scripted(`setsid sleep 300 & sleep 300 & echo > o`))
	h.must("build")
	require.Equal(t, 1, h.traced()["later"])
	require.Empty(t, h.tasksAlive())
}

// A build that waits for another one can be stopped, too.
func TestSignalWhileWaiting(t *testing.T) {
	t.Parallel()
	h := newHome(t, scripted(obedient))
	first := h.start("build")
	h.awaitTrace("up", 1)
	second := h.start("build", "--wait")
	h.await("the second one waits", func() bool { return strings.Contains(second.said.String(), "waiting for") })
	second.signal(syscall.SIGINT)
	require.Equal(t, 130, second.wait(), second.said.String())
	require.False(t, first.hasEnded())
	first.signal(syscall.SIGINT)
	require.Equal(t, 130, first.wait())
}

// What ufbuild was started to ignore does not stop it: nohup works.
func TestIgnoredSignals(t *testing.T) {
	t.Parallel()
	h := newHome(t, scripted(`echo up >> "$UFTRACE"; until test -e "$UFTRACE.go"; do sleep 0.02; done; echo > o`))
	cmd := h.command("build")
	link := filepath.Join(t.TempDir(), programName)
	require.NoError(t, os.Symlink(cmd.Path, link))
	cmd.Args = append([]string{"sh", "-c", `trap "" HUP INT; exec "$@"`, "sh", link}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	c := &child{t: t, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &c.said, &c.said
	c.start()
	h.awaitTrace("up", 1)
	for range 3 {
		c.signal(syscall.SIGHUP)
		c.signal(syscall.SIGINT)
	}
	require.NoError(t, os.WriteFile(h.trace+".go", nil, 0o644))
	require.Zero(t, c.wait(), c.said.String())
	require.Equal(t, 1, h.traced()["later"])
}

// A build goes on when nobody reads what it says: its reader may be a pager that was left.
func TestReaderGoesAway(t *testing.T) {
	t.Parallel()
	h := newHome(t, scripted(`echo up >> "$UFTRACE"; until test -e "$UFTRACE.go"; do sleep 0.02; done; yes | head -1 > o`))
	cmd := h.command("build", "--logs", "full")
	r, w, err := os.Pipe()
	require.NoError(t, err)
	cmd.Stdout, cmd.Stderr = w, w
	c := (&child{t: t, cmd: cmd, ended: make(chan struct{})}).start()
	require.NoError(t, w.Close())
	h.awaitTrace("up", 1)
	require.NoError(t, r.Close())
	require.NoError(t, os.WriteFile(h.trace+".go", nil, 0o644))
	require.Zero(t, c.wait())
	require.Equal(t, 1, h.traced()["later"])
}

// The build itself ends what runs too long or says nothing, with nobody looking (U21).
func TestTimeLimits(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]cache.Outcome{"timeout": cache.TimedOut, "idle_timeout": cache.Stalled} {
		t.Run(limit, func(t *testing.T) {
			t.Parallel()
			files := scripted(stubborn)
			files["campaign.hcl"] = strings.Replace(files["campaign.hcl"], "pass_env", limit+" = \"1s\"\n  pass_env", 1)
			h := newHome(t, files)
			c := h.start("build", "--grace", "50ms")
			require.Equal(t, 1, c.wait(), c.said.String())
			require.Equal(t, want, h.lastOutcome("t"), c.said.String())
			require.Empty(t, h.tasksAlive())
		})
	}
}

// What a killed build laid into the campaign's own directory is gone after the next one.
func TestKilledInPlace(t *testing.T) {
	t.Parallel()
	files := scripted(stubborn)
	files["campaign.hcl"] = strings.Replace(files["campaign.hcl"], "pass_env", "workspace {\n    mode = \"inplace\"\n  }\n  pass_env", 1)
	h := newHome(t, files)
	c := h.start("build")
	h.awaitTrace("up", 1)
	c.kill()
	h.noneAlive()
	h.write(map[string]string{"t.sh": "echo > o"})
	h.must("build")
	require.Equal(t, 1, h.traced()["later"])
	require.NoDirExists(t, filepath.Join(h.dir, ".uf"))
	require.Empty(t, h.tree(filepath.Join(h.store, "work")))
}

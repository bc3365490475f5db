package main

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/disk"
)

// endless bounds what is waited for in tests with processes. It is long because machines that test are
// busy; nothing is ever waited for that long when all is well.
const endless = 60 * time.Second

// home is a campaign directory and a store, and what runs ufbuild over them.
type home struct {
	t     *testing.T
	dir   string   // the campaign
	store string   // outside it
	trace string   // tasks append to it; its path in their environment marks them as ours
	env   []string // beside the environment of the test
}

// stateFiles are all that may be in the state directory of a campaign that nobody builds.
var stateFiles = []string{".gitignore", "checkpoint", "compiled", "fresh", "journal.log", "ledger", "lock", "placed", "stat", "times"}

// traceVariable names the file that tasks append to.
const traceVariable = "UFTRACE"

func newHome(t *testing.T, files map[string]string) *home {
	t.Helper()
	base := t.TempDir()
	h := &home{t: t, dir: filepath.Join(base, "campaign"), store: filepath.Join(base, "store"), trace: filepath.Join(base, "trace")}
	h.env = []string{traceVariable + "=" + h.trace, "NO_COLOR=1", "TERM=dumb", "USER=tester"}
	require.NoError(t, os.MkdirAll(h.dir, 0o755))
	h.write(files)
	t.Cleanup(h.openWork)
	return h
}

// openWork lists the directories of builds that were killed with their watchdogs, or just now: only root could do it before.
func (h *home) openWork() {
	dirs, err := filepath.Glob(filepath.Join(h.store, "work", "*"))
	require.NoError(h.t, err)
	for _, dir := range dirs {
		_ = os.Chmod(dir, 0o700) // it may be gone, or a test's own
	}
}

// write makes files below the campaign directory.
func (h *home) write(files map[string]string) {
	h.t.Helper()
	for name, text := range files {
		file := filepath.Join(h.dir, filepath.FromSlash(name))
		require.NoError(h.t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(h.t, os.WriteFile(file, []byte(text), 0o644))
	}
}

// run runs ufbuild in this process and returns all it said.
func (h *home) run(args ...string) (said string, code int) {
	var out syncBuffer
	code = run(&process{
		args: h.args(args), environ: append(os.Environ(), h.env...),
		in: strings.NewReader(""), out: &out, err: &out,
	})
	return out.String(), code
}

// must runs ufbuild in this process and wants exit code 0.
func (h *home) must(args ...string) string {
	h.t.Helper()
	said, code := h.run(args...)
	require.Zero(h.t, code, "ufbuild %s: %s", strings.Join(args, " "), said)
	return said
}

func (h *home) args(args []string) []string {
	return append([]string{"-C", h.dir, "--store", h.store}, args...)
}

// traced counts the lines of the trace.
func (h *home) traced() map[string]int {
	counts := map[string]int{}
	b, err := os.ReadFile(h.trace)
	if !os.IsNotExist(err) {
		require.NoError(h.t, err)
	}
	for _, line := range strings.Fields(string(b)) {
		counts[line]++
	}
	return counts
}

// awaitTrace waits until the trace has n of a line.
func (h *home) awaitTrace(line string, n int) {
	h.t.Helper()
	h.await("the trace has "+line, func() bool { return h.traced()[line] >= n })
}

// await polls until a condition holds.
func (h *home) await(what string, holds func() bool) {
	h.t.Helper()
	require.Eventually(h.t, holds, endless, 2*time.Millisecond, what)
}

// tasksAlive returns the processes that bear the mark of a task of this home.
func (h *home) tasksAlive() []int {
	names, err := filepath.Glob("/proc/[0-9]*/environ")
	require.NoError(h.t, err)
	var alive []int
	for _, name := range names {
		env, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(env, []byte("UF_ATTEMPT=")) || !bytes.Contains(env, []byte(traceVariable+"="+h.trace+"\x00")) {
			continue
		}
		pid, err := strconv.Atoi(strings.Split(name, "/")[2])
		require.NoError(h.t, err)
		alive = append(alive, pid)
	}
	return alive
}

// noneAlive waits for the end of every task and returns how long that took.
func (h *home) noneAlive() time.Duration {
	h.t.Helper()
	begun := time.Now()
	h.await("no task lives", func() bool { return len(h.tasksAlive()) == 0 })
	return time.Since(begun)
}

// tree lists what is below a directory, as paths relative to it.
func (h *home) tree(dir string) []string {
	h.t.Helper()
	h.openWork()
	var names []string
	err := filepath.WalkDir(dir, func(at string, _ fs.DirEntry, err error) error {
		if err == nil && at != dir {
			names = append(names, strings.TrimPrefix(at, dir+"/"))
		}
		return err
	})
	if !os.IsNotExist(err) {
		require.NoError(h.t, err)
	}
	return names
}

// attempts returns what the store knows of an address, in the order of ordinals within each key.
func (h *home) attempts(address string) []cache.Attempt {
	h.t.Helper()
	s, err := disk.Open(h.store, disk.Options{ReadOnly: true})
	require.NoError(h.t, err)
	defer func() { require.NoError(h.t, s.Close()) }()
	keys, err := s.Keys()
	require.NoError(h.t, err)
	var out []cache.Attempt
	for _, k := range keys {
		attempts, err := s.Attempts(k)
		require.NoError(h.t, err)
		for _, a := range attempts {
			if a.Address == address {
				out = append(out, a)
			}
		}
	}
	return out
}

// lastOutcome returns how the last attempt of a task ended that has one key.
func (h *home) lastOutcome(address string) cache.Outcome {
	h.t.Helper()
	attempts := h.attempts(address)
	require.NotEmpty(h.t, attempts)
	return attempts[len(attempts)-1].Outcome
}

// child is ufbuild in a process of its own, in its own process group.
type child struct {
	t     *testing.T
	cmd   *exec.Cmd
	said  syncBuffer
	ended chan struct{}
}

// start starts this test program as ufbuild.
func (h *home) start(args ...string) *child {
	h.t.Helper()
	c := &child{t: h.t, cmd: h.command(args...), ended: make(chan struct{})}
	c.cmd.Stdout, c.cmd.Stderr = &c.said, &c.said
	return c.start()
}

// command is this test program as ufbuild.
func (h *home) command(args ...string) *exec.Cmd {
	h.t.Helper()
	exe, err := os.Executable()
	require.NoError(h.t, err)
	cmd := exec.Command(exe)
	cmd.Args = append([]string{programName}, h.args(args)...)
	cmd.Env = append(os.Environ(), h.env...)
	return cmd
}

func (c *child) start() *child {
	c.t.Helper()
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	// A task that survived would hold the pipe: that must fail a test, not hang it.
	c.cmd.WaitDelay = endless
	require.NoError(c.t, c.cmd.Start())
	go func() {
		_ = c.cmd.Wait()
		close(c.ended)
	}()
	c.t.Cleanup(c.kill)
	return c
}

// kill ends the child at once, as a crash does.
func (c *child) kill() {
	_ = c.cmd.Process.Kill()
	<-c.ended
}

func (c *child) signal(s syscall.Signal) {
	c.t.Helper()
	require.NoError(c.t, c.cmd.Process.Signal(s))
}

// wait returns the exit code, -1 for a child that was killed.
func (c *child) wait() int {
	c.t.Helper()
	select {
	case <-c.ended:
	case <-time.After(endless):
		require.Fail(c.t, "ufbuild does not end", c.said.String())
	}
	return c.cmd.ProcessState.ExitCode()
}

// hasEnded reports whether the child ended by itself.
func (c *child) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

// syncBuffer is a buffer that one goroutine may read while others write.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements io.Writer.
func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

// String returns what was written so far.
func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

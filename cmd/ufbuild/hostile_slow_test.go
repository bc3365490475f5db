package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
)

// slowDisk starts a build whose first sync does not come back until release is called. It returns when that sync has begun.
func (h *home) slowDisk(args ...string) (c *child, release func()) {
	h.t.Helper()
	pipe := filepath.Join(h.t.TempDir(), "disk")
	require.NoError(h.t, unix.Mkfifo(pipe, 0o600))
	cmd := h.command(args...)
	cmd.Env = append(cmd.Env, faultVariable+"=slow 1", effectsVariable+"="+pipe)
	c = &child{t: h.t, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &c.said, &c.said
	c.start()
	h.await("a sync begins", func() bool {
		_, err := os.Stat(pipe + crawling)
		return err == nil || c.hasEnded()
	})
	require.False(h.t, c.hasEnded(), "nothing was synced: %s", c.said.String())
	return c, func() {
		f, err := os.OpenFile(pipe, os.O_WRONLY, 0)
		require.NoError(h.t, err)
		require.NoError(h.t, f.Close())
	}
}

// slowFiles are two prompts.
func slowFiles() map[string]string {
	files := map[string]string{"campaign.hcl": ""}
	maps.Copy(files, askedFiles)
	return files
}

// A disk that does not answer makes a build late and nothing else: looking verbs look, nothing paid starts before its record is
// durable, and in the end all is right.
func TestSlowDisk(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowFiles())
	c, release := h.slowDisk("build")
	require.Zero(t, h.traced()["asked"], "a prompt runs and its record is not durable")
	require.Contains(t, h.must("status"), "asked")
	h.must("plan")
	said, code := h.run("build")
	require.Equal(t, exitLocked, code, said)
	require.False(t, c.hasEnded())
	release()
	require.Zero(t, c.wait(), c.said.String())
	require.Equal(t, map[string]int{"asked": 1, "asked-too": 1}, h.traced())
	require.Contains(t, h.must("plan"), "2 fresh")
	h.sound()
}

// A signal that comes while the disk does not answer is obeyed: nothing starts after it.
func TestSignalOnSlowDisk(t *testing.T) {
	t.Parallel()
	h := newHome(t, slowFiles())
	h.must("build")
	h.write(map[string]string{"asked.txt": "1\n"})
	c, release := h.slowDisk("build")
	c.signal(syscall.SIGINT)
	h.await("the signal is told", func() bool { return strings.Contains(c.said.String(), "stopping") })
	release()
	require.Equal(t, exitSIGINT, c.wait(), c.said.String())
	require.Equal(t, map[string]int{"asked": 1, "asked-too": 1}, h.traced(), c.said.String())
	h.noneAlive()
	h.must("build")
	require.Equal(t, map[string]int{"asked": 2, "asked-too": 2}, h.traced())
	h.sound()
}

// A build that is stopped (Ctrl-Z, SIGSTOP, a debugger) and goes on later loses nothing: its tasks run on and are captured when it
// is back, what looks at it does not wait, and the campaign stays its own.
func TestStoppedBuilder(t *testing.T) {
	t.Parallel()
	for _, whole := range []bool{false, true} { // with its tasks stopped, too
		h := newHome(t, scripted(waiting))
		c := h.start("build")
		h.awaitTrace("up", 1)
		c.signal(syscall.SIGSTOP)
		h.await("it is stopped", func() bool { return processState(t, c.cmd.Process.Pid) == "T" })
		tasks := h.tasksAlive()
		for _, pid := range tasks {
			if whole {
				_ = syscall.Kill(pid, syscall.SIGSTOP) // its sleep may have ended
			}
		}
		require.NoError(t, os.WriteFile(h.trace+".go", nil, 0o644))
		if !whole {
			h.await("the task ends", func() bool {
				for _, pid := range tasks {
					if s := processState(t, pid); s != "" && s != "Z" {
						return false
					}
				}
				return true
			})
		}
		said, code := h.run("build")
		require.Equal(t, exitLocked, code, said)
		h.must("status")
		h.must("plan")
		for _, pid := range tasks {
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
		c.signal(syscall.SIGCONT)
		require.Zero(t, c.wait(), c.said.String())
		require.Equal(t, map[string]int{"up": 1, "later": 1}, h.traced())
		require.Equal(t, cache.OK, h.lastOutcome("t"))
		h.noneAlive()
		h.sound()
	}
}

// processState is the letter of /proc; "" for a process that is gone.
func processState(t *testing.T, pid int) string {
	t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, after, _ := strings.Cut(string(b), ") ")
	return after[:1]
}

// TestFilesOfAnotherUser gives what a build needs to somebody else. It is named, nothing that was paid for is paid again, and when
// the files are ours again the build goes on.
func TestFilesOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	h := newHome(t, ruinFiles())
	h.must("build")
	out := filepath.Join(h.dir, "out")

	give := h.give(filepath.Join(out, "asked"), 0)
	said, code := h.weak("build")
	require.Zero(t, code, "what is in place may be anybody's: %s", said)
	h.write(map[string]string{"asked.txt": "1\n"})
	said, code = h.weak("build")
	paid := h.traced()
	require.Equal(t, 2, paid["asked"], said)
	if code != exitOK {
		require.Contains(t, said, "permi", said)
	}
	give()
	h.must("build")
	require.Equal(t, paid["asked"], h.traced()["asked"])
	got, err := os.ReadFile(filepath.Join(out, "asked/report.txt"))
	require.NoError(t, err)
	require.Equal(t, "1\nby asked\n", string(got))

	before := h.traced()
	give = h.give(h.store, 0o077)
	h.write(map[string]string{"in.txt": "other\n"})
	for _, verb := range []string{"plan", "status", "build"} {
		said, code := h.weak(verb)
		require.Equal(t, exitWorld, code, "%s: %s", verb, said)
		require.Contains(t, said, "permission denied")
	}
	require.Equal(t, before, h.traced())
	give()
	h.must("build")
	h.sound()
}

// TestLeftoversOfAnotherUser has the directory of a killed attempt hold what cannot be read. The next build goes on without it and
// leaves it; the one that can read it keeps what is in it.
func TestLeftoversOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	h := newHome(t, scripted("echo precious > found; "+waiting))
	c := h.start("build")
	h.awaitTrace("up", 1)
	c.kill()
	h.noneAlive()
	found, err := filepath.Glob(filepath.Join(h.store, "work/*/*/ws/found"))
	require.NoError(t, err)
	require.Len(t, found, 1)
	give := h.give(found[0], 0o077)
	require.NoError(t, os.WriteFile(h.trace+".go", nil, 0o644))
	said, code := h.weak("build")
	require.Zero(t, code, said)
	require.Contains(t, said, "what an attempt of t left stays in "+filepath.Dir(filepath.Dir(found[0])))
	require.Contains(t, said, "found: it cannot be read")
	require.FileExists(t, found[0], "it is the only copy")
	give()
	h.must("build")
	require.NoFileExists(t, found[0])
	require.Contains(t, h.must("show", "t@1", "--leftovers"), "found")
	h.sound()
}

// give gives everything below a path to another user, without the bits in remove, and returns what takes it back.
func (h *home) give(path string, remove os.FileMode) (back func()) {
	h.t.Helper()
	const somebody = 54321
	set := func(uid int, change func(os.FileMode) os.FileMode) {
		for _, name := range append(h.tree(path), "") {
			at := filepath.Join(path, name)
			info, err := os.Lstat(at)
			require.NoError(h.t, err)
			require.NoError(h.t, os.Lchown(at, uid, uid))
			require.NoError(h.t, os.Chmod(at, change(info.Mode().Perm())))
		}
	}
	set(somebody, func(m os.FileMode) os.FileMode { return m &^ remove })
	return func() { set(os.Getuid(), func(m os.FileMode) os.FileMode { return m }) }
}

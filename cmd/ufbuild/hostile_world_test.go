package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
)

// weak runs ufbuild in a process for which permission bits count, whoever runs the test.
func (h *home) weak(args ...string) (said string, code int) {
	h.t.Helper()
	cmd := h.command(args...)
	if os.Getuid() == 0 {
		setpriv, err := exec.LookPath("setpriv")
		if err != nil {
			h.t.Skip("permission bits do not bind root, and there is no setpriv to change that")
		}
		link := filepath.Join(h.t.TempDir(), programName)
		require.NoError(h.t, os.Symlink(cmd.Path, link))
		cmd.Args = append([]string{setpriv, "--bounding-set=-dac_override,-dac_read_search,-fowner,-chown", link}, cmd.Args[1:]...)
		cmd.Path = setpriv
	}
	c := &child{t: h.t, cmd: cmd, ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = &c.said, &c.said
	code = c.start().wait()
	return c.said.String(), code
}

// forbid takes the write bits from everything below a directory until the test ends.
func (h *home) forbid(dir string) (allow func()) {
	h.t.Helper()
	set := func(add, remove os.FileMode) {
		for _, name := range append(h.tree(dir), "") {
			at := filepath.Join(dir, name)
			info, err := os.Lstat(at)
			require.NoError(h.t, err)
			require.NoError(h.t, os.Chmod(at, info.Mode().Perm()&^remove|add))
		}
	}
	set(0, 0o222)
	allow = func() { set(0o200, 0) }
	h.t.Cleanup(func() {
		if _, err := os.Lstat(dir); err == nil {
			allow()
		}
	})
	return allow
}

// small mounts a file system of few bytes over a directory until the test ends.
func (h *home) small(dir, size string) {
	h.t.Helper()
	require.NoError(h.t, os.MkdirAll(dir, 0o755))
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size="+size); err != nil {
		h.t.Skipf("a small file system cannot be mounted here: %v", err)
	}
	h.t.Cleanup(func() { require.NoError(h.t, unix.Unmount(dir, unix.MNT_DETACH)) })
}

// A store that cannot be written stops a build with a hint and stops no verb that looks.
func TestReadOnlyStore(t *testing.T) {
	t.Parallel()
	h := newHome(t, ruinFiles())
	h.must("build")
	before := h.traced()
	allow := h.forbid(h.store)
	for _, verb := range []string{"plan", "status", "ls"} {
		said, code := h.weak(verb)
		require.Zero(t, code, said)
	}
	h.write(map[string]string{"in.txt": "other\n"})
	said, code := h.weak("build")
	require.Equal(t, exitWorld, code, said)
	require.Contains(t, said, "permission denied")
	require.Contains(t, said, "hint: make the directory writable")
	require.Equal(t, before, h.traced(), "nothing ran whose result could not be kept")
	allow()
	h.must("build")
	require.Equal(t, before["first"]+1, h.traced()["first"])
}

// Where outputs cannot be put in place the results are kept, and put there when they can be.
func TestReadOnlyOut(t *testing.T) {
	t.Parallel()
	h := newHome(t, ruinFiles())
	h.must("build")
	allow := h.forbid(filepath.Join(h.dir, "out"))
	h.write(map[string]string{"asked.txt": "1\n"})
	said, code := h.weak("build")
	require.Equal(t, exitFailed, code, said)
	require.Contains(t, said, "permission denied")
	require.Equal(t, 2, h.traced()["asked"])
	allow()
	h.must("build")
	require.Equal(t, 2, h.traced()["asked"], "what was paid for is not paid again")
	got, err := os.ReadFile(filepath.Join(h.dir, "out/asked-too/report.txt"))
	require.NoError(t, err)
	require.Equal(t, "1\nby asked\nby asked-too\n", string(got))
}

// An input that cannot be read is named, and what does not need it goes on.
func TestUnreadableInput(t *testing.T) {
	t.Parallel()
	h := newHome(t, ruinFiles())
	require.NoError(t, os.Chmod(filepath.Join(h.dir, "in.txt"), 0))
	said, code := h.weak("build")
	require.Equal(t, exitFailed, code, said)
	require.Contains(t, said, "in.txt")
	require.Contains(t, said, "permission denied")
	require.Equal(t, map[string]int{"asked": 1, "asked-too": 1}, h.traced(), said)
	require.NoError(t, os.Chmod(filepath.Join(h.dir, "in.txt"), 0o600))
	h.must("build")
	require.Equal(t, map[string]int{"first": 1, "asked": 1, "asked-too": 1, "last": 1}, h.traced())
}

// A disk that is full costs no result that was stored and no byte that was made (S45).
func TestFullDisk(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"campaign.hcl": `
task "small" {
  command  = ["sh", "-c", "echo small >> $UFTRACE; echo small > o"]
  pass_env = ["UFTRACE"]
  output "o" {
    path = "o"
  }
}

task "big" {
  command  = ["sh", "-c", "echo big >> $UFTRACE; head -c 2500000 /dev/urandom > o", task.small.outputs.o.path]
  pass_env = ["UFTRACE"]
  output "o" {
    path = "o"
  }
}
`})
	h.small(h.store, "4m")
	said, code := h.run("build")
	require.Equal(t, exitWorld, code, said)
	require.Contains(t, said, "no space left on device")
	require.Contains(t, said, "attempt 1 ended and is not stored yet")
	require.Equal(t, map[string]int{"small": 1, "big": 1}, h.traced(), "trying again would not help")
	kept, err := filepath.Glob(filepath.Join(h.store, "work/*/*/ws/o"))
	require.NoError(t, err)
	require.Len(t, kept, 1, "what could not be stored stays in its workspace")
	info, err := os.Stat(kept[0])
	require.NoError(t, err)
	require.EqualValues(t, 2500000, info.Size())
	_, code = h.run("build")
	require.Equal(t, exitWorld, code)

	require.NoError(t, unix.Mount("tmpfs", h.store, "tmpfs", unix.MS_REMOUNT, "size=64m"))
	require.Contains(t, h.must("build"), "big: attempt 1 had ended when its build did")
	require.Equal(t, map[string]int{"small": 1, "big": 1}, h.traced(), "what had ended is not run again")
	info, err = os.Stat(filepath.Join(h.dir, "out/big/o"))
	require.NoError(t, err)
	require.EqualValues(t, 2500000, info.Size())
	require.Empty(t, h.tree(filepath.Join(h.store, "work")))
	h.sound()
}

// sound wants nothing to be wrong with the store.
func (h *home) sound() {
	h.t.Helper()
	s, err := disk.Open(h.store, disk.Options{ReadOnly: true})
	require.NoError(h.t, err)
	defer func() { require.NoError(h.t, s.Close()) }()
	problems, err := s.Verify(h.t.Context())
	require.NoError(h.t, err)
	require.Empty(h.t, problems)
}

// A campaign directory without a free byte is said to be that; with space the build goes on.
func TestFullCampaignDirectory(t *testing.T) {
	t.Parallel()
	h := newHome(t, nil)
	h.small(h.dir, "256k")
	h.write(ruinFiles())
	fill := filepath.Join(h.dir, "fill")
	f, err := os.Create(fill)
	require.NoError(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, unix.ENOSPC)
	require.NoError(t, f.Close())
	said, code := h.run("build")
	require.Equal(t, exitWorld, code, said)
	require.Contains(t, said, "no space left on device")
	require.NoError(t, os.Remove(fill))
	h.must("build")
	require.Equal(t, map[string]int{"first": 1, "asked": 1, "asked-too": 1, "last": 1}, h.traced())
}

// A store that was removed costs what was in it and nothing else, between builds and during one.
func TestRemovedStore(t *testing.T) {
	t.Parallel()
	h := newHome(t, ruinFiles())
	h.must("build")
	require.NoError(t, os.RemoveAll(h.store))
	h.must("build")
	require.Equal(t, map[string]int{"first": 2, "asked": 2, "asked-too": 2, "last": 2}, h.traced())

	h = newHome(t, scripted(waiting))
	c := h.start("build")
	h.awaitTrace("up", 1)
	require.NoError(t, os.RemoveAll(h.store))
	require.NoError(t, os.WriteFile(h.trace+".go", nil, 0o644))
	code := c.wait()
	require.Contains(t, []int{exitFailed, exitWorld}, code, c.said.String())
	require.Contains(t, c.said.String(), "no such file")
	h.must("build")
	require.Contains(t, h.must("plan"), "2 fresh")
	h.sound()
}

// An input that changes between the look at it and the start of its task is looked at again (S07).
func TestInputChangesInTheQueue(t *testing.T) {
	t.Parallel()
	const tries = 50 // which of two tasks comes first is nobody's promise
	for range tries {
		h := newHome(t, queueFiles)
		h.env = append(h.env, "UFROOT="+h.dir)
		h.must("build", "-j", "1")
		trace, err := os.ReadFile(h.trace)
		require.NoError(t, err)
		if string(trace) != "a\nb\n" {
			continue
		}
		got, err := os.ReadFile(filepath.Join(h.dir, "out/b/o"))
		require.NoError(t, err)
		require.Equal(t, "new\n", string(got))
		require.Contains(t, h.must("plan"), "2 fresh")
		return
	}
	require.Fail(t, "the task that edits never came first")
}

// queueFiles are two tasks, one of which edits what the other one reads.
var queueFiles = map[string]string{"in.txt": "old\n", "campaign.hcl": `
task "a" {
  command  = ["sh", "-c", "echo a >> $UFTRACE; echo new > $UFROOT/in.txt; echo > o"]
  pass_env = ["UFTRACE", "UFROOT"]
  output "o" {
    path = "o"
  }
}

task "b" {
  command  = ["sh", "-c", "echo b >> $UFTRACE; cat in.txt > o"]
  pass_env = ["UFTRACE"]
  input "in" {
    glob = ["in.txt"]
  }
  output "o" {
    path = "o"
  }
}
`}

// Who edits the project while a build runs costs the tasks that start afterwards nothing: they start from the project as it is then,
// as a whole, and the tasks before are stale to the next build.
func TestProjectChangesMidBuild(t *testing.T) {
	t.Parallel()
	const campaign = `
task "a" {
  command  = ["sh", "-c", "cat in.txt > o; cd $UFROOT; echo new > in.txt; rm gone.txt; echo 1 > made.txt"]
  pass_env = ["UFROOT"]
  workspace { mode = "repo" }
  output "o" {
    path = "o"
  }
}

task "b" {
  for_each   = toset(["x", "y"])
  command    = ["sh", "-c", "ls *.txt > ../${each.key}; cat in.txt >> ../${each.key}; mv ../${each.key} o"]
  depends_on = [task.a]
  workspace { mode = "repo" }
  output "o" {
    path = "o"
  }
}
`
	h := newHome(t, map[string]string{"in.txt": "old\n", "gone.txt": "", "campaign.hcl": campaign})
	h.env = append(h.env, "UFROOT="+h.dir)
	require.Contains(t, h.must("build"), "3 ran")
	for _, key := range []string{"x", "y"} {
		got, err := os.ReadFile(filepath.Join(h.dir, "out/b", key, "o"))
		require.NoError(t, err)
		require.Equal(t, "in.txt\nmade.txt\nnew\n", string(got))
	}
	require.Contains(t, h.must("plan"), "1 stale")
}

// While an input is being rewritten all the time no result is stored under the key of other bytes.
func TestInputKeepsChanging(t *testing.T) {
	t.Parallel()
	h := newHome(t, map[string]string{"in.txt": "", "campaign.hcl": `
task "copy" {
  command  = ["sh", "-c", "cat in.txt > o"]
  input "in" {
    glob = ["in.txt"]
  }
  output "o" {
    path = "o"
  }
}
`})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				text := bytes.Repeat(fmt.Appendf(nil, "%d\n", i), 2000+i%1000)
				_ = os.WriteFile(filepath.Join(h.dir, "in.txt"), text, 0o644)
			}
		}
	}()
	builds := 20
	if testing.Short() {
		builds = 4
	}
	for range builds {
		said, code := h.run("build")
		if code != exitOK {
			require.Equal(t, exitFailed, code, said)
			require.Contains(t, said, "in.txt")
			require.Contains(t, said, "chang")
		}
	}
	close(stop)
	<-stopped
	h.must("build")
	h.truthful("copy")
}

// truthful wants every good attempt of a task that copies its one input to be stored under the key of just
// that input.
func (h *home) truthful(address string) {
	h.t.Helper()
	s, err := disk.Open(h.store, disk.Options{ReadOnly: true})
	require.NoError(h.t, err)
	defer func() { require.NoError(h.t, s.Close()) }()
	good := 0
	for _, a := range h.attempts(address) {
		if a.Outcome != cache.OK {
			continue
		}
		good++
		manifest, err := cache.ReadAll(s, a.Manifest, -1)
		require.NoError(h.t, err)
		require.NotEqual(h.t, digest.Digest{}, a.Captured.Outputs[0].Digest)
		require.True(h.t, strings.Contains(string(manifest), a.Captured.Outputs[0].Digest.String()), "%s\n%s", manifest, a.Captured.Outputs[0].Digest)
	}
	require.Positive(h.t, good)
}

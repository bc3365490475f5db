package local

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/sandbox"
)

// hostileRole is the argument that makes the test program a task that tries to get out. It prints what it got.
const hostileRole = "-act-as-hostile"

// trick is one way out, for a task in its workspace that knows a directory outside and the process that started it.
type trick struct {
	name string
	try  func(outside string, starter int) error
}

func openFor(flags int, path string) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC|unix.O_NONBLOCK, 0o600)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

// again opens a file once more by way of a handle that carries no rights.
func again(flags int, path string) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return openFor(flags, "/proc/self/fd/"+strconv.Itoa(fd))
}

// byHandle opens a file by its number on the disk.
func byHandle(flags int, path string) error {
	h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, path, 0)
	if err != nil {
		return err
	}
	dir, err := unix.Open(filepath.Dir(path), unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	defer unix.Close(dir)
	fd, err := unix.OpenByHandleAt(dir, h, flags)
	if err == nil {
		err = unix.Close(fd)
	}
	return err
}

func proc(pid int, name string) string { return "/proc/" + strconv.Itoa(pid) + "/" + name }

// writeTricks must fail under every level; readTricks under strict.
var (
	writeTricks = []trick{
		{"make a file", func(o string, _ int) error { return openFor(unix.O_WRONLY|unix.O_CREAT, o+"/new") }},
		{"climb out", func(o string, _ int) error { return openFor(unix.O_WRONLY|unix.O_CREAT, "../new") }},
		{"go by /proc/self/root", func(o string, _ int) error { return openFor(unix.O_WRONLY|unix.O_CREAT, "/proc/self/root"+o+"/new") }},
		{"go by the starter's root", func(o string, p int) error { return openFor(unix.O_WRONLY|unix.O_CREAT, proc(p, "root")+o+"/new") }},
		{"open for writing", func(o string, _ int) error { return openFor(unix.O_WRONLY, o+"/victim") }},
		{"empty", func(o string, _ int) error { return unix.Truncate(o+"/victim", 0) }},
		{"open a handle again", func(o string, _ int) error { return again(unix.O_WRONLY, o+"/victim") }},
		{"open by number", func(o string, _ int) error { return byHandle(unix.O_WRONLY, o+"/victim") }},
		{"remove", func(o string, _ int) error { return unix.Unlink(o + "/victim") }},
		{"link in", func(o string, _ int) error { return unix.Link(o+"/victim", "hard") }},
		{"link out", func(o string, _ int) error { return unix.Link("mine", o+"/hard") }},
		{"move in", func(o string, _ int) error { return unix.Rename(o+"/victim", "moved") }},
		{"move out", func(o string, _ int) error { return unix.Rename("mine", o+"/moved") }},
		{"write through a link", func(o string, _ int) error {
			if err := unix.Symlink(o, "link"); err != nil {
				return err
			}
			return openFor(unix.O_WRONLY|unix.O_CREAT, "link/new")
		}},
		{"make a pipe", func(o string, _ int) error { return unix.Mkfifo(o+"/pipe", 0o600) }},
		{"make a link", func(o string, _ int) error { return unix.Symlink("x", o+"/link") }},
	}
	rootTricks = []trick{
		{"mount", func(o string, _ int) error { return unix.Mount("none", o, "tmpfs", 0, "") }},
		{"set the kernel", func(string, int) error { return openFor(unix.O_WRONLY, "/proc/sys/vm/drop_caches") }},
		{"trace the starter", func(_ string, p int) error {
			runtime.LockOSThread()
			err := unix.PtraceAttach(p)
			if err == nil {
				err = unix.PtraceDetach(p)
			}
			return err
		}},
		{"read the starter's memory", func(_ string, p int) error { return openFor(unix.O_RDONLY, proc(p, "mem")) }},
		{"read the starter's environment", func(_ string, p int) error { return openFor(unix.O_RDONLY, proc(p, "environ")) }},
		{"take the starter's files", func(_ string, p int) error {
			fd, err := unix.PidfdOpen(p, 0)
			if err != nil {
				return err
			}
			_, err = unix.PidfdGetfd(fd, 0, 0)
			return err
		}},
	}
	signalTricks = []trick{
		{"signal the starter", func(_ string, p int) error { return unix.Kill(p, unix.SIGURG) }},
	}
	readTricks = []trick{
		{"read", func(o string, _ int) error { return openFor(unix.O_RDONLY, o+"/victim") }},
		{"list", func(o string, _ int) error { return openFor(unix.O_RDONLY|unix.O_DIRECTORY, o) }},
		{"read by /proc/self/root", func(o string, _ int) error { return openFor(unix.O_RDONLY, "/proc/self/root"+o+"/victim") }},
		{"read a handle again", func(o string, _ int) error { return again(unix.O_RDONLY, o+"/victim") }},
		{"read by number", func(o string, _ int) error { return byHandle(unix.O_RDONLY, o+"/victim") }},
		{"read through a link", func(o string, _ int) error {
			if err := unix.Symlink(o+"/victim", "link2"); err != nil {
				return err
			}
			return openFor(unix.O_RDONLY, "link2")
		}},
		// Last, since everything after it would be seen from there.
		{"read from a root of one's own", func(o string, _ int) error {
			if err := unix.Chroot(o); err != nil {
				return err
			}
			return openFor(unix.O_RDONLY, "/victim")
		}},
	}
	networkTricks = []trick{
		{"enter the starter's network", func(_ string, p int) error {
			fd, err := unix.Open(proc(p, "ns/net"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return unix.Setns(fd, unix.CLONE_NEWNET)
		}},
		{"enter the first network", func(string, int) error {
			fd, err := unix.Open(proc(1, "ns/net"), unix.O_RDONLY|unix.O_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return unix.Setns(fd, unix.CLONE_NEWNET)
		}},
	}
	tricks = map[string][]trick{"write": writeTricks, "root": rootTricks, "signal": signalTricks, "read": readTricks, "network": networkTricks}
)

// hostile tries tricks and prints those that worked.
func hostile(kinds, outside string) {
	if err := os.WriteFile("mine", []byte("mine"), 0o600); err != nil {
		fmt.Println("GOT no workspace:", err)
	}
	for kind := range strings.SplitSeq(kinds, ",") {
		for _, t := range tricks[kind] {
			if err := t.try(outside, os.Getppid()); err == nil {
				fmt.Println("GOT", t.name)
			}
		}
	}
	fmt.Println("tried")
}

// runHostile runs the tricks under limits and returns the log.
func runHostile(t *testing.T, kinds, level string, noNetwork bool) string {
	exe, err := os.Executable()
	require.NoError(t, err)
	outside := t.TempDir()
	require.NoError(t, os.Chmod(outside, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(outside, "victim"), []byte("bytes"), 0o644))
	inv := invocation(t, "")
	inv.Argv, inv.Sandbox, inv.NoNetwork = []string{exe, hostileRole, kinds, outside}, level, noNetwork
	got, log := runLimited(t, inv)
	require.Zero(t, got.Exit, log)
	require.Contains(t, log, "tried\n")
	if level != "off" {
		b, err := os.ReadFile(filepath.Join(outside, "victim"))
		require.NoError(t, err)
		require.Equal(t, "bytes", string(b))
		entries, err := os.ReadDir(outside)
		require.NoError(t, err)
		require.Len(t, entries, 1, "nothing was made outside")
	}
	return log
}

func TestHostileTasksStayInside(t *testing.T) {
	needs(t, sandbox.Strict, false)
	version, err := sandbox.Version()
	require.NoError(t, err)
	kinds := "write,root"
	if version >= sandbox.SignalsFrom {
		kinds += ",signal"
	}
	require.NotContains(t, runHostile(t, kinds, "writes", false), "GOT")
	require.NotContains(t, runHostile(t, kinds+",read", "strict", false), "GOT")
	// The tricks are real: without a sandbox they work.
	free := runHostile(t, "write,signal", "off", false) + runHostile(t, "read", "off", false)
	for _, name := range []string{"make a file", "climb out", "go by /proc/self/root", "empty", "remove", "make a pipe", "signal the starter", "read", "list"} {
		require.Contains(t, free, "GOT "+name+"\n")
	}
}

func TestHostileTasksStayOffline(t *testing.T) {
	needs(t, sandbox.Strict, true)
	require.NotContains(t, runHostile(t, "network", "off", true), "GOT")
	require.NotContains(t, runHostile(t, "network,write,root,read", "strict", true), "GOT")
}

// A process that hides every mark of its attempt and writes on ends with the attempt.
func TestHostileGrandchildEnds(t *testing.T) {
	needs(t, sandbox.Writes, false)
	listed := t.TempDir()
	inv := invocation(t, `
		setsid env -i PATH="$PATH" F="$LISTED/f" sh -c 'cd / && (while :; do echo x >> $F; sleep 0.01; done) &' < /dev/null > /dev/null 2>&1 &
		while [ ! -s "$LISTED/f" ]; do sleep 0.01; done`)
	inv.Env, inv.Sandbox, inv.Writable = append(inv.Env, "LISTED="+listed), "writes", []string{listed}
	runLimited(t, inv)
	require.FileExists(t, filepath.Join(listed, "f"))
	require.Empty(t, bearing(listed), "its environment names the file it writes")
}

// An output that is swapped for a way out is refused, not followed.
func TestHostileOutputIsNotFollowed(t *testing.T) {
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "o"), []byte("not yours"), 0o644))
	inv := invocation(t, `mkdir d && echo o > d/o && rm -r d && ln -s "$OUTSIDE" d && ln -s "$OUTSIDE/o" p && ln -s "$OUTSIDE" t`)
	inv.Env = append(inv.Env, "OUTSIDE="+outside)
	inv.Outputs = []executor.OutputSpec{{Name: "d", Path: "d/o"}, {Name: "p", Path: "p"}, {Name: "t", Tree: []string{"t/**", "t"}}}
	got, _ := runLimited(t, inv)
	for _, o := range got.Outputs {
		require.False(t, o.Exists, o.Name)
	}
	require.Len(t, got.Problems, 3)
	for _, p := range got.Problems {
		require.Contains(t, p, "leaves the workspace")
	}
}

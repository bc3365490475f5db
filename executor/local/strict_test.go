package local

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/watchdog"
	"github.com/ufbuild/ufbuild/lang"
)

// runLimited runs a script under limits in a program that can start itself again.
func runLimited(t *testing.T, inv *executor.Invocation) (cache.Captured, string) {
	store := mem.New(t.TempDir())
	r := New(store, Options{Watchdog: true})
	defer func() { require.NoError(t, r.Close()) }()
	got, err := r.Run(context.Background(), inv, nil)
	require.NoError(t, err)
	return got, text(t, store, got.Log)
}

func needs(t *testing.T, level sandbox.Level, noNetwork bool) {
	if err := sandbox.Check(level); err != nil {
		t.Skip(err)
	}
	if noNetwork {
		if err := CheckNoNetwork(); err != nil {
			t.Skip(err)
		}
	}
}

func TestSandboxStrict(t *testing.T) {
	needs(t, sandbox.Strict, false)
	outside, listed := t.TempDir(), t.TempDir()
	for _, dir := range []string{outside, listed} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte("bytes of "+filepath.Base(dir)+"\n"), 0o644))
		require.NoError(t, os.WriteFile(filepath.Join(dir, "run"), []byte("#!/bin/sh\necho ran\n"), 0o755))
	}
	inv := invocation(t, `
		echo own > own && cat own /etc/passwd /proc/cpuinfo > all && test -s all && echo t > "$TMPDIR/t" && cat "$TMPDIR/t" || exit 1
		cat "$LISTED/f" && "$LISTED/run" || exit 2
		(cat "$OUTSIDE/f") && exit 3
		(ls "$OUTSIDE") && exit 4
		("$OUTSIDE/run") && exit 5
		(echo x > "$LISTED/f") && exit 6
		(cat "/proc/self/root$OUTSIDE/f") && exit 7
		ln -s "$OUTSIDE/f" link && (cat link) && exit 8
		(cat "/proc/$PPID/environ") && exit 9
		(cat "/proc/$PPID/cwd/go.mod") && exit 10
		(readlink /proc/$PPID/fd/0) && exit 11
		exit 0`)
	inv.Env = append(inv.Env, "TMPDIR="+filepath.Join(inv.Dir, "tmp"), "OUTSIDE="+outside, "LISTED="+listed)
	inv.Sandbox, inv.Readable = "strict", []string{listed}
	got, log := runLimited(t, inv)
	require.Zero(t, got.Exit, log)
	require.Equal(t, "strict", got.Sandbox)
	require.Contains(t, got.Enforced[0], "reads and writes by Landlock ")
	require.Contains(t, log, "bytes of "+filepath.Base(listed))
	require.NotContains(t, log, "bytes of "+filepath.Base(outside))
}

// A program that fails over a refusal is told which path it was, unless it was none of ours.
func TestSandboxNamesWhatItRefused(t *testing.T) {
	needs(t, sandbox.Strict, false)
	secret := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secret, []byte("x"), 0o644))
	inv := invocation(t, `cat "$SECRET"`)
	inv.Env, inv.Sandbox = append(inv.Env, "SECRET="+secret), "strict"
	got, log := runLimited(t, inv)
	require.Equal(t, 1, got.Exit)
	require.Equal(t, []string{`sandbox "strict": ` + secret + ` was not declared; list it in workspace.readable`}, got.Problems)
	require.Contains(t, log, "ufbuild: "+got.Problems[0])

	inv = invocation(t, `echo x > "$SECRET.new"`)
	inv.Env, inv.Sandbox = append(inv.Env, "SECRET="+secret), "writes"
	got, _ = runLimited(t, inv)
	require.Equal(t, []string{`sandbox "writes": ` + secret + `.new may not be written; list it in workspace.writable`}, got.Problems)

	inv = invocation(t, `echo "/nowhere/at/all: Permission denied, $PWD: EACCES"; exit 1`)
	inv.Sandbox = "strict"
	got, _ = runLimited(t, inv)
	require.Empty(t, got.Problems)
}

func TestSandboxWidePathOpensNothing(t *testing.T) {
	needs(t, sandbox.Strict, false)
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, "f"), []byte("x"), 0o644))
	inv := invocation(t, `cat "$HOME/f"`)
	inv.Env, inv.Sandbox = append(inv.Env[1:], "PATH=/usr/bin:/bin:/:"+home+":"+filepath.Dir(home)+":.", "HOME="+home), "strict"
	got, log := runLimited(t, inv)
	require.Equal(t, 1, got.Exit, log)
}

// listen answers every connection on loopback with a line.
func listen(t *testing.T) (port string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			c.Write([]byte("hello\n"))
			c.Close()
		}
	}()
	return strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
}

func TestNoNetwork(t *testing.T) {
	needs(t, sandbox.Off, true)
	port := listen(t)
	const reach = `exec 3<>/dev/tcp/127.0.0.1/$PORT && read line <&3 && echo "$line"`
	run := func(level string, noNetwork bool) (cache.Captured, string) {
		inv := invocation(t, "")
		inv.Argv = []string{"bash", "-c", reach + `; echo mine > f; stat -c %u:%g f; id -u; cat /proc/net/dev`}
		inv.Env, inv.Sandbox, inv.NoNetwork = append(inv.Env, "PORT="+port), level, noNetwork
		return runLimited(t, inv)
	}
	_, log := run("off", false)
	require.Contains(t, log, "hello\n")
	for _, level := range []string{"off", "writes", "strict"} {
		if sandbox.Check(sandbox.Level(level)) != nil {
			continue
		}
		got, log := run(level, true)
		require.NotContains(t, log, "hello\n", level)
		require.Contains(t, got.Enforced, "no network by a namespace")
		// Who it is and whom its files belong to stays, and there is one interface, its own.
		require.Contains(t, log, strconv.Itoa(os.Getuid())+":"+strconv.Itoa(os.Getgid())+"\n"+strconv.Itoa(os.Getuid())+"\n")
		_, devices, _ := strings.Cut(log, "compressed\n")
		require.Equal(t, 1, strings.Count(devices, ":"), devices)
	}
}

// A task may still talk to itself.
func TestNoNetworkHasItsLoopback(t *testing.T) {
	needs(t, sandbox.Off, true)
	inv := invocation(t, "")
	inv.Argv = []string{"bash", "-c", `exec 3<>/dev/tcp/127.0.0.1/9; echo refused: $?; grep -c . /proc/net/if_inet6; cat /proc/net/fib_trie | grep 127.0.0.1 | head -1`}
	inv.NoNetwork = true
	_, log := runLimited(t, inv)
	require.Contains(t, log, "Connection refused", "the address is there, and nobody listens")
	require.Contains(t, log, "127.0.0.1")
}

// What ends processes of a task works across the namespace.
func TestNoNetworkLeavesNobody(t *testing.T) {
	needs(t, sandbox.Off, true)
	inv := invocation(t, `setsid sleep 300 & sleep 300 & sleep 300`)
	inv.NoNetwork, inv.Timeout, inv.Grace = true, 300*time.Millisecond, 100*time.Millisecond
	began := time.Now()
	got, _ := runLimited(t, inv)
	require.Equal(t, stoppedTimeout, got.StoppedBy)
	require.Less(t, time.Since(began), 20*time.Second)
	require.Empty(t, bearing(inv.Dir))
}

// bearing lists processes that bear the marks of an attempt.
func bearing(dir string) []int {
	var out []int
	for _, pid := range watchdog.Processes() {
		if st, ok := readStat(pid); ok && st.state != 'Z' && (marks{dir: dir + "/"}).match(pid) {
			out = append(out, pid)
		}
	}
	return out
}

func TestLimitedProgramThatCannotRun(t *testing.T) {
	needs(t, sandbox.Strict, true)
	inv := invocation(t, "")
	inv.Argv, inv.Sandbox, inv.NoNetwork = []string{"./nothing"}, "strict", true
	got, log := runLimited(t, inv)
	require.Equal(t, sandbox.ExitNotFound, got.Exit)
	require.Contains(t, log, "was not found")
	require.Empty(t, got.Sandbox, "no program ran, so nothing was enforced")
	require.Empty(t, got.Enforced)
}

func TestStrictInGit(t *testing.T) {
	needs(t, sandbox.Strict, true)
	home := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(home, ".gitconfig"), []byte("[user]\n\tname = x\n"), 0o644))
	inv := invocation(t, `git status --short && echo y > y && git add y && git -c user.name=t -c user.email=t@t commit -qm m && git log --oneline | wc -l`)
	inv.Env = append(inv.Env, "HOME="+home, "GIT_CONFIG_GLOBAL="+os.DevNull)
	inv.Sandbox, inv.NoNetwork, inv.GitInit, inv.Mode = "strict", true, true, lang.ModeInputs
	got, log := runLimited(t, inv)
	require.Zero(t, got.Exit, log)
	require.Equal(t, "2\n", log)
}

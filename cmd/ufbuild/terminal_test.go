package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/executor/event"
)

// openTerminal returns both ends of a new pseudo terminal of 80 columns.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo terminals here:", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = program.Close() })
	require.NoError(t, unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 30, Col: 80}))
	return person, program
}

// onTerminal starts ufbuild as a shell does: on a terminal of its own, in the foreground.
func (h *home) onTerminal(args ...string) (*child, *os.File, *os.File) {
	h.t.Helper()
	return h.runOnTerminal(h.command(args...))
}

func (h *home) runOnTerminal(cmd *exec.Cmd) (*child, *os.File, *os.File) {
	h.t.Helper()
	person, program := openTerminal(h.t)
	c := &child{t: h.t, cmd: cmd, ended: make(chan struct{})}
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = program, program, program
	c.cmd.Env = append(c.cmd.Env, "TERM=xterm", "CI=")
	c.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	require.NoError(h.t, c.cmd.Start())
	go func() {
		_ = c.cmd.Wait()
		close(c.ended)
	}()
	h.t.Cleanup(c.kill)
	go func() { _, _ = io.Copy(&c.said, person) }()
	return c, person, program
}

// modes are the settings of a terminal that decide what typing does.
func modes(t *testing.T, f *os.File) uint32 {
	t.Helper()
	set, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	require.NoError(t, err)
	return set.Lflag & (unix.ICANON | unix.ECHO | unix.ISIG)
}

// TestTerminal builds on a terminal: what runs is shown with its last line, a key opens its log, and the
// terminal is afterwards as it was.
func TestTerminal(t *testing.T) {
	h := newHome(t, scripted("echo up >> $UFTRACE; printf 'hello \\033[2Jthere'; while [ ! -e "+"$UFTRACE.go"+" ]; do sleep 0.01; done; printf 'safe\\r\\033[2Junsafe\\n' > o"))
	c, person, program := h.onTerminal("build")
	before := uint32(unix.ICANON | unix.ECHO | unix.ISIG)
	h.awaitTrace("up", 1)
	says := func(words string) {
		h.await("the terminal shows "+words, func() bool { return strings.Contains(c.said.String(), words) })
	}
	says("0 of 2 done, 1 running")
	says("hello there")
	require.Equal(t, uint32(unix.ISIG), modes(t, program), "each key counts, and none is shown; Ctrl-C stays a signal")
	_, err := person.Write([]byte("j"))
	require.NoError(t, err)
	says("▾ t")
	require.NoError(t, os.WriteFile(h.trace+".go", nil, 0o644))
	require.Zero(t, c.wait(), c.said.String())
	says("2 tasks: 2 ran")
	require.Equal(t, before, modes(t, program))
	require.NotContains(t, c.said.String(), "\x1b[2J", "what a task prints is no command to the terminal")
	require.True(t, strings.LastIndex(c.said.String(), "\x1b[?25h") > strings.LastIndex(c.said.String(), "\x1b[?25l"), "the cursor is back")

	c, _, _ = h.onTerminal("log", "t")
	says("hello there")
	require.Zero(t, c.wait())
	require.NotContains(t, c.said.String(), "\x1b")

	c, _, _ = h.onTerminal("show", "t", "--output", "o")
	says("safe^M^[[2Junsafe") // all of it can be seen, and none of it acts
	require.Zero(t, c.wait())
	require.NotContains(t, c.said.String(), "\x1b")
}

// TestTerminalAfterSignals stops builds on a terminal in every way they can answer to.
func TestTerminalAfterSignals(t *testing.T) {
	for _, c := range []struct {
		name string
		stop func(*child, *os.File)
		code int
	}{
		{"Ctrl-C typed", func(_ *child, person *os.File) { _, _ = person.Write([]byte{3}) }, 130},
		{"SIGTERM", func(c *child, _ *os.File) { c.signal(syscall.SIGTERM) }, 143},
		{"c pressed twice", func(_ *child, person *os.File) { _, _ = person.Write([]byte("cc")) }, 130},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, scripted("echo up >> $UFTRACE; exec sleep 300"))
			b, person, program := h.onTerminal("build", "--grace", "1s")
			h.awaitTrace("up", 1)
			h.await("keys count", func() bool { return modes(t, program) == unix.ISIG })
			c.stop(b, person)
			require.Equal(t, c.code, b.wait(), b.said.String())
			require.Equal(t, uint32(unix.ICANON|unix.ECHO|unix.ISIG), modes(t, program))
			h.noneAlive()
		})
	}
}

// TestTerminalOfAShell builds in the background of a shell, brings the build to the front, stops it by Ctrl-Z and lets it go on behind:
// it is stopped when that is asked for alone, and while it is not in front the terminal is the shell's.
func TestTerminalOfAShell(t *testing.T) {
	h := newHome(t, scripted("echo up >> $UFTRACE; while [ ! -e $UFTRACE.go ]; do sleep 0.01; done; echo x > o"))
	build := h.command("build")
	named := filepath.Join(t.TempDir(), programName) // a shell calls a program what its file is called
	require.NoError(t, os.Symlink(build.Path, named))
	sh := exec.Command("/bin/sh", append([]string{
		"-c", `set -m; "$@" & read x; fg %1; echo "stopped $?"; read x; bg %1; wait %1; echo "code $?"`, "sh", named,
	}, build.Args[1:]...)...)
	sh.Env = build.Env
	c, person, program := h.runOnTerminal(sh)
	says := func(words string) {
		h.await("the terminal shows "+words, func() bool { return strings.Contains(c.said.String(), words) })
	}
	typed := func(keys string) {
		_, err := person.Write([]byte(keys))
		require.NoError(t, err)
	}
	const lines = "0 of 2 done, 1 running"
	usual := uint32(unix.ICANON | unix.ECHO | unix.ISIG)

	h.awaitTrace("up", 1)
	require.Equal(t, usual, modes(t, program), "keys are the shell's")
	require.NotContains(t, c.said.String(), lines)
	typed("\n")
	says(lines)
	h.await("keys are the build's", func() bool { return modes(t, program) == unix.ISIG })
	typed("j")
	says("▾ t")

	typed("\x1a")
	says("stopped 148")
	require.Equal(t, usual, modes(t, program))
	before, after, _ := strings.Cut(c.said.String(), "stopped 148")
	require.Greater(t, strings.LastIndex(before, "\x1b[?25h"), strings.LastIndex(before, "\x1b[?25l"), "the cursor is back")
	require.NotContains(t, after, lines)
	typed("\n")
	require.NoError(t, os.WriteFile(h.trace+".go", nil, 0o644))
	says("2 tasks: 2 ran")
	says("code 0")
	_, after, _ = strings.Cut(c.said.String(), "stopped 148")
	require.NotContains(t, after, lines)
	require.NotContains(t, after, "\x1b", "what scrolls by is text")
}

// TestKeysOfTheNextBuild watches on a terminal: a build that ended takes no key from the one that runs.
func TestKeysOfTheNextBuild(t *testing.T) {
	const script = "echo up >> $UFTRACE; while [ ! -e $UFTRACE.go ]; do sleep 0.01; done; echo x > o"
	h := newHome(t, scripted(script))
	require.NoError(t, os.WriteFile(h.trace+".go", nil, 0o644))
	c, person, _ := h.onTerminal("watch")
	ended := func(n int) {
		h.await("builds end", func() bool { return strings.Count(c.said.String(), "2 tasks: ") >= n })
	}
	ended(1)
	h.write(map[string]string{"t.sh": script + " "})
	ended(2)
	require.NoError(t, os.Remove(h.trace+".go"))
	h.write(map[string]string{"t.sh": script + "  "})
	h.awaitTrace("up", 3)
	_, err := person.Write([]byte("j"))
	require.NoError(t, err)
	h.await("the key counts", func() bool { return strings.Contains(c.said.String(), "▾ t") })
	require.NoError(t, os.WriteFile(h.trace+".go", nil, 0o644))
	ended(3)
	c.signal(syscall.SIGTERM)
	require.Equal(t, 143, c.wait())
}

// TestHeartbeat wants a build that is silent to say what it does, and one that is not to be left alone.
func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out syncBuffer
		h := startHeartbeat(event.Discard, &out)
		start := func(address string) {
			h.Emit(event.Event{Kind: event.AttemptStarted, Address: address, Time: time.Now()})
		}
		after := func(d time.Duration) string { time.Sleep(d); synctest.Wait(); return out.String() }
		require.Empty(t, after(beatAfter+time.Second), "nothing runs")
		start("fuzz")
		require.Empty(t, after(beatAfter), "its start was printed")
		start("lint")
		require.Empty(t, after(beatAfter))
		require.Equal(t, "still running: fuzz for 1m29s, and 1 more\n", after(beatAfter))
		h.Emit(event.Event{Kind: event.NodeDone, Address: "fuzz", State: "ran"})
		require.Contains(t, after(2*beatAfter), "\nstill running: lint for 1m59s\n")
		require.NoError(t, h.close())
	})
}

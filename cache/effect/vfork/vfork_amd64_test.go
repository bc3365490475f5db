package vfork

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// role is a variable that makes the test program another one: one that says what its parent's death signal is, or one that starts a
// program which says how many files it may open.
const role = "VFORK_TEST_ROLE"

func TestMain(m *testing.M) {
	switch os.Getenv(role) {
	case "death":
		var signal int32
		if err := unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&signal)), 0, 0, 0); err != nil {
			panic(err)
		}
		fmt.Println(signal)
		return
	case "limit":
		pid, err := Start("/bin/sh", []string{"sh", "-c", "ulimit -Sn; ulimit -Hn"}, &syscall.ProcAttr{Files: []uintptr{0, 1, 2}}, -1)
		if err == nil {
			_, err = syscall.Wait4(pid, nil, 0, nil)
		}
		if err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

type forkExec = func(string, []string, *syscall.ProcAttr) (int, error)

// start is Start in a directory that has to be looked up.
func start(path string, argv []string, attr *syscall.ProcAttr) (int, error) {
	return Start(path, argv, attr, -1)
}

// startIn is Start in a directory that is open.
func startIn(path string, argv []string, attr *syscall.ProcAttr) (int, error) {
	if attr.Dir == "" {
		return start(path, argv, attr)
	}
	dir, err := unix.Open(attr.Dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(dir)
	return Start(path, argv, attr, dir)
}

// said starts a program, waits for it and returns what it printed.
func said(t *testing.T, start forkExec, path string, argv []string, attr *syscall.ProcAttr) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer out.Close()
	for i, f := range attr.Files {
		if f == 0 {
			attr.Files[i] = out.Fd()
		}
	}
	pid, err := start(path, argv, attr)
	require.NoError(t, err)
	var status syscall.WaitStatus
	_, err = syscall.Wait4(pid, &status, 0, nil)
	require.NoError(t, err)
	require.Zero(t, status.ExitStatus())
	b, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	return strings.NewReplacer(fmt.Sprint(pid), "PID", out.Name(), "OUT").Replace(string(b))
}

const look = `echo "$0 $*"; pwd; env | sort; ulimit -Sn; ulimit -Hn; umask
read stat < /proc/$$/stat; set -- $stat; echo "parent $4 group $5 session $6"
for f in /proc/$$/fd/*; do case ${f##*/} in [0-9]) test -e $f && echo "${f##*/} $(readlink $f)"; esac; done; true`

// TestStartIsForkExec compares what a program finds.
func TestStartIsForkExec(t *testing.T) {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	require.NoError(t, err)
	defer null.Close()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	none := ^uintptr(0)
	for name, attr := range map[string]func() *syscall.ProcAttr{
		"as a task": func() *syscall.ProcAttr {
			return &syscall.ProcAttr{
				Dir: dir, Env: []string{"A=b", "PATH=/usr/bin:/bin", "C="}, Files: []uintptr{null.Fd(), 0, 0},
				Sys: &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL, PidFD: new(int)},
			}
		},
		"in a session": func() *syscall.ProcAttr {
			return &syscall.ProcAttr{Env: []string{"PATH=/usr/bin:/bin"}, Files: []uintptr{null.Fd(), 0, null.Fd(), null.Fd()}, Sys: &syscall.SysProcAttr{Setsid: true}}
		},
		"files missing":   func() *syscall.ProcAttr { return &syscall.ProcAttr{Env: []string{}, Files: []uintptr{none, 0}} },
		"files exchanged": func() *syscall.ProcAttr { return &syscall.ProcAttr{Files: []uintptr{2, 0, 1, 2, 4}} },
		"more than a list": func() *syscall.ProcAttr {
			return &syscall.ProcAttr{Files: []uintptr{null.Fd(), 0, null.Fd(), null.Fd(), null.Fd(), null.Fd(), null.Fd()}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			argv := []string{"sh", "-c", look, "name", "an argument", ""}
			want := said(t, syscall.ForkExec, "/bin/sh", argv, attr())
			require.Contains(t, want, "name an argument")
			require.Equal(t, want, said(t, start, "/bin/sh", argv, attr()))
			require.Equal(t, want, said(t, startIn, "/bin/sh", argv, attr()))
			unable.Store(true)
			defer unable.Store(false)
			require.Equal(t, want, said(t, start, "/bin/sh", argv, attr()), "where package syscall has to do it")
			unable.Store(false)
			signals := []string{"grep", "-E", "^(SigBlk|SigIgn|SigCgt|SigPnd|ShdPnd)", "/proc/self/status"}
			want = said(t, syscall.ForkExec, "/bin/grep", signals, attr())
			require.Equal(t, want, said(t, start, "/bin/grep", signals, attr()))
		})
	}
}

// TestDeathSignal asks a program for the signal that it gets when its parent dies.
func TestDeathSignal(t *testing.T) {
	itself, err := os.Executable()
	require.NoError(t, err)
	attr := &syscall.ProcAttr{Env: []string{role + "=death"}, Files: []uintptr{2, 0, 2}, Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGHUP}}
	require.Equal(t, fmt.Sprintln(int(syscall.SIGHUP)), said(t, start, itself, nil, attr))
}

// TestEndsAreNotTold wants no handler for the signal of a child's end, which would wake a thread for each, and the end to be there for who
// waits.
func TestEndsAreNotTold(t *testing.T) {
	_, err := Start("/bin/false", []string{"false"}, &syscall.ProcAttr{}, -1)
	require.NoError(t, err)
	status, err := os.ReadFile("/proc/self/status")
	require.NoError(t, err)
	_, rest, ok := strings.Cut(string(status), "\nSigCgt:")
	require.True(t, ok)
	caught, err := strconv.ParseUint(strings.Fields(rest)[0], 16, 64)
	require.NoError(t, err)
	require.Zero(t, caught>>(syscall.SIGCHLD-1)&1)
	require.NotZero(t, caught>>(syscall.SIGURG-1)&1, "the others are the runtime's")
	var end syscall.WaitStatus
	_, err = syscall.Wait4(-1, &end, 0, nil)
	require.NoError(t, err)
	require.Equal(t, 1, end.ExitStatus())
}

// TestErrors compares errors, and proves that nothing is left of a process that has none of a program.
func TestErrors(t *testing.T) {
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain")
	require.NoError(t, os.WriteFile(plain, []byte("x"), 0o644))
	bad := filepath.Join(dir, "bad")
	require.NoError(t, os.WriteFile(bad, []byte("x"), 0o755))
	open := openFiles(t)
	for name, tc := range map[string]struct {
		path string
		argv []string
		attr syscall.ProcAttr
	}{
		"absent":          {path: filepath.Join(dir, "absent")},
		"not executable":  {path: plain},
		"no program":      {path: bad},
		"no directory":    {path: "/bin/sh", attr: syscall.ProcAttr{Dir: filepath.Join(dir, "absent")}},
		"no file":         {path: "/bin/sh", attr: syscall.ProcAttr{Files: []uintptr{12345}}},
		"a zero byte":     {path: "/bin/sh\x00"},
		"one in argument": {path: "/bin/sh", argv: []string{"a\x00"}},
		"one in env":      {path: "/bin/sh", attr: syscall.ProcAttr{Env: []string{"A=\x00"}}},
		"one in dir":      {path: "/bin/sh", attr: syscall.ProcAttr{Dir: "\x00"}},
		"too long":        {path: "/bin/sh", argv: []string{strings.Repeat("x", 1<<20)}},
		"no such group":   {path: "/bin/sh", attr: syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setpgid: true, Pgid: 1 << 22}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, want := syscall.ForkExec(tc.path, tc.argv, &tc.attr)
			require.Error(t, want)
			for _, start := range []func(*list){born, bornAside} {
				handle := -1
				attr := tc.attr
				sys := syscall.SysProcAttr{}
				if attr.Sys != nil {
					sys = *attr.Sys
				}
				sys.PidFD = &handle
				attr.Sys = &sys
				_, err := with(start, tc.path, tc.argv, &attr, -1)
				require.Equal(t, want, err)
				require.Equal(t, -1, handle)
			}
			_, err := syscall.Wait4(-1, nil, 0, nil)
			require.Equal(t, syscall.ECHILD, err)
		})
	}
	require.Equal(t, open, openFiles(t))
	require.False(t, unable.Load())
}

func openFiles(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(entries)
}

// TestAProcessThatDoesNotStartHoldsUpNobody: what makes it waits, and the collector does not, which stops whatever runs.
func TestAProcessThatDoesNotStartHoldsUpNobody(t *testing.T) {
	answer, ask, err := os.Pipe()
	require.NoError(t, err)
	defer answer.Close()
	defer ask.Close()
	l, err := write("/bin/true", []string{"true"}, &syscall.ProcAttr{}, -1)
	require.NoError(t, err)
	last := l.calls[l.n-1]
	b := make([]byte, 1<<16) // on no stack, which moves
	l.n--
	l.add(noError, unix.SYS_READ, answer.Fd(), uintptr(unsafe.Pointer(&b[0])), 1)
	l.add(last.expect, last.number, last.args[:]...)
	started := make(chan error)
	go func() {
		_, err := finish(l, bornAside)
		started <- err
	}()
	for range 3 {
		runtime.GC()
	}
	select {
	case err := <-started:
		t.Fatal("it started", err)
	default:
	}
	born := 0
	for born == 0 {
		runtime.Gosched()
		born = int(atomic.LoadInt32(&l.born))
	}
	require.True(t, Starting(born), "who asks meanwhile is told whose it is")
	require.False(t, Starting(os.Getpid()))
	_, err = ask.Write([]byte("x"))
	require.NoError(t, err)
	require.NoError(t, <-started)
	require.Equal(t, born, int(l.pid))
	require.False(t, Starting(born))
	_, err = syscall.Wait4(int(l.pid), nil, 0, nil)
	require.NoError(t, err)
	require.Equal(t, byte('x'), b[0], "they shared their memory")
}

// TestAnOrphanEnds: a process whose parent died before it asked for its death signal does not become the program.
func TestAnOrphanEnds(t *testing.T) {
	l, err := write("/bin/true", []string{"true"}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}}, -1)
	require.NoError(t, err)
	l.parent++
	_, err = finish(l, born)
	require.Equal(t, syscall.ESRCH, err)
}

// TestKernelsThatMakeNone: what an older kernel, or who filters its calls, says of clone3 is no error of a program.
func TestKernelsThatMakeNone(t *testing.T) {
	for errno, want := range map[syscall.Errno]error{
		syscall.ENOSYS: errUnable, syscall.EPERM: errUnable, syscall.EINVAL: errUnable, syscall.EAGAIN: syscall.EAGAIN,
	} {
		_, err := with(func(l *list) { l.errno = uintptr(errno) }, "/bin/true", nil, &syscall.ProcAttr{}, -1)
		require.Equal(t, want, err)
		_, err = with(func(l *list) { l.clone.flags |= unix.CLONE_SIGHAND; born(l) }, "/bin/true", nil, &syscall.ProcAttr{}, -1)
		require.Equal(t, errUnable, err, "the kernel knows no such flags together")
	}
}

// TestManyAtOnce starts programs on several threads while the collector looks at their stacks.
func TestManyAtOnce(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for n := range 50 {
				way := born
				if (i+n)%2 == 0 {
					way = bornAside
				}
				var handle int
				pid, err := with(way, "/bin/true", []string{"true", strings.Repeat("x", n)}, &syscall.ProcAttr{Sys: &syscall.SysProcAttr{PidFD: &handle}}, -1)
				if err == nil {
					err = unix.Close(handle)
				}
				var status syscall.WaitStatus
				if err == nil {
					_, err = syscall.Wait4(pid, &status, 0, nil)
				}
				if err != nil || status.ExitStatus() != 0 {
					t.Error(err, status)
				}
			}
		})
	}
	wg.Wait()
}

// TestFileLimit proves that a program may open as many files as this one might at its start.
func TestFileLimit(t *testing.T) {
	var limit unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &limit))
	itself, err := os.Executable()
	require.NoError(t, err)
	got := said(t, syscall.ForkExec, "/bin/sh", []string{"sh", "-c", `ulimit -Sn 99 && exec "$0"`, itself},
		&syscall.ProcAttr{Env: []string{role + "=limit"}, Files: []uintptr{2, 0, 2}})
	hard := fmt.Sprint(limit.Max)
	if limit.Max == unix.RLIM_INFINITY {
		hard = "unlimited"
	}
	require.Equal(t, "99\n"+hard+"\n", got)
}

// TestProgramsAreAskedForAnew wants an answer to hold for a second.
func TestProgramsAreAskedForAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a asked
		kept := func() int {
			a.Lock()
			defer a.Unlock()
			return len(a.paths)
		}
		path := filepath.Join(t.TempDir(), "program")
		require.False(t, a.answers(path), "it is not there")
		require.NoError(t, os.WriteFile(path, nil, 0o755))
		require.False(t, a.answers(path))
		time.Sleep(askedAnew)
		synctest.Wait()
		require.Equal(t, answers(path, -1), a.answers(path))
		require.Equal(t, 1, kept())
		time.Sleep(askedAnew)
		synctest.Wait()
		require.Zero(t, kept(), "and what was asked for is kept no longer")
	})
}

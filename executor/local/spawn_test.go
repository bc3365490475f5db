package local

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/cache/raw"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/sandbox"
)

// TestAHungStartHoldsUpNobody: a program on a file system that does not answer has a thread for itself after a second.
func TestAHungStartHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStarter()
		hang := make(chan struct{})
		begun := time.Now()
		for n := range 3 {
			go s.run(func() { <-hang })
			synctest.Wait()
			s.run(func() {})
			require.Equal(t, time.Duration(n+1)*startPatience, time.Since(begun), "each costs one wait")
			s.run(func() {})
			require.Equal(t, time.Duration(n+1)*startPatience, time.Since(begun), "and then there is a thread more")
		}
		go s.run(func() { <-hang }) // on the last thread that was free
		synctest.Wait()
		late := false
		go s.run(func() { late = true })
		synctest.Wait()
		s.close() // while one waits, which nobody does any more
		close(hang)
		time.Sleep(startPatience)
		synctest.Wait()
		require.True(t, late)
	})
}

// TestThreadsStay is what starts of commands rest on: the death signal of a program is tied to the thread that started it, and that
// lives on when its goroutine has ended.
func TestThreadsStay(t *testing.T) {
	if !threadsStay {
		t.Skip("of this Go nobody has looked, so each start has a thread that stays")
	}
	var all, bound sync.WaitGroup
	threads := make([]int, 8)
	bound.Add(len(threads))
	for i := range threads {
		all.Go(func() {
			runtime.LockOSThread() // so that each has another one
			threads[i] = unix.Gettid()
			bound.Done()
			bound.Wait()
			runtime.UnlockOSThread()
		})
	}
	all.Wait()
	runtime.GC()
	debug.FreeOSMemory()
	for _, thread := range threads {
		require.DirExists(t, fmt.Sprintf("/proc/self/task/%d", thread))
	}
}

// TestStoppedBeforeItStarted: who stops everything waits for no start, and what starts after that is stopped at once.
func TestStoppedBeforeItStarted(t *testing.T) {
	r, _ := newRunner(t)
	p := newProcess(invocation(t, ""))
	r.setRunning(p, true)
	p.stop(stoppedTimeout, time.Hour)
	r.KillAll()
	cmd := exec.Command("sleep", "1000")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(t, cmd.Start())
	p.started(cmd.Process.Pid)
	require.ErrorContains(t, cmd.Wait(), "killed")
	p.end()
	r.setRunning(p, false)
	require.Equal(t, stoppedTimeout, p.ending(0).stoppedBy, "the first reason stays")
}

// TestHungStartIsGivenUp: a program that does not start ends with its time, and is killed should it start after that.
func TestHungStartIsGivenUp(t *testing.T) {
	for name, tc := range map[string]struct {
		killed bool // else its time is over
		inv    executor.Invocation
	}{
		"its time is over":  {inv: executor.Invocation{Grace: time.Millisecond}},
		"all are killed":    {killed: true},
		"it reads and says": {inv: executor.Invocation{Stdin: []byte("x"), Mask: []string{"secret"}}},
	} {
		t.Run(name, func(t *testing.T) {
			for timeout := time.Millisecond; !givesUpStart(t, tc.inv, timeout, tc.killed); timeout *= 2 {
				t.Logf("its time was over before it started: %v", timeout)
			}
		})
	}
}

// givesUpStart runs a program that hangs when it starts; false when its time was over before.
func givesUpStart(t *testing.T, with executor.Invocation, timeout time.Duration, killed bool) bool {
	r, store := newRunner(t)
	hang, hangs := make(chan struct{}), make(chan struct{})
	effect.Intercept(func(e effect.Effect) *effect.Fault {
		if e.Op == effect.OpStart {
			return &effect.Fault{Die: func() { close(hangs); <-hang }} // and goes on, once somebody answers
		}
		return nil
	})
	defer effect.Intercept(nil)
	inv := invocation(t, "trap '' INT; sleep 0.3; echo ran > ran")
	inv.Stdin, inv.Mask = with.Stdin, with.Mask
	if killed {
		go func() { <-hangs; r.KillAll() }()
	} else {
		inv.Timeout, inv.Grace = timeout, with.Grace
	}
	got, err := r.Run(context.Background(), inv, nil)
	require.NoError(t, err)
	select {
	case <-hangs:
	default:
		return false
	}
	require.Equal(t, -1, got.Exit)
	require.Contains(t, []string{stoppedTimeout, stoppedCancel}, got.StoppedBy)
	require.Len(t, got.Problems, 1)
	require.Contains(t, got.Problems[0], "sh does not start")
	require.Equal(t, "ufbuild: "+got.Problems[0]+"\n", text(t, store, got.Log))
	close(hang)
	require.Eventually(t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		return len(r.running) == 0
	}, time.Minute, time.Millisecond)
	require.NoFileExists(t, filepath.Join(inv.Dir, "ws/ran"))
	return true
}

// TestHungPlacesAreGivenUp: neither does a directory that a task in a sandbox may read, whether it lies on PATH behind the program's own or the
// campaign lists it.
func TestHungPlacesAreGivenUp(t *testing.T) {
	needs(t, sandbox.Strict, false)
	hung, hang, done := t.TempDir(), make(chan struct{}), make(chan struct{}, 2)
	wait := func(at string) {
		if at == hung {
			<-hang
			done <- struct{}{}
		}
	}
	was := ask.Swap(&fileSystem{
		look:         raw.Look,
		evalSymlinks: func(at string) (string, error) { wait(at); return filepath.EvalSymlinks(at) },
		stat:         func(at string) (os.FileInfo, error) { wait(at); return os.Stat(at) },
	})
	t.Cleanup(func() {
		close(hang)
		ask.Store(was)
		for range 2 { // each attempt waits once
			<-done
		}
	})
	for name, change := range map[string]func(*executor.Invocation) (said string){
		"on PATH": func(inv *executor.Invocation) string {
			inv.Env = []string{"PATH=/bin:" + hung}
			return "a directory on PATH does not answer (/bin:" + hung + ")"
		},
		"listed": func(inv *executor.Invocation) string {
			inv.Readable = []string{hung}
			return "or one that the campaign lists (" + hung + ")"
		},
	} {
		t.Run(name, func(t *testing.T) {
			store := mem.New(t.TempDir())
			r := New(store, Options{Watchdog: true})
			inv := invocation(t, "echo ran > ran")
			inv.Sandbox = string(sandbox.Strict)
			said := change(inv)
			inv.Timeout, inv.Grace = time.Millisecond, time.Millisecond
			got, err := r.Run(context.Background(), inv, nil)
			require.NoError(t, err)
			require.Equal(t, -1, got.Exit)
			require.Equal(t, stoppedTimeout, got.StoppedBy)
			require.Len(t, got.Problems, 1)
			require.Contains(t, got.Problems[0], `program "sh" is not found yet: `)
			require.Contains(t, got.Problems[0], said)
			require.Empty(t, r.running)
			require.NoError(t, r.Close())
		})
	}
}

// TestHungPathIsGivenUp: a directory on PATH that does not answer holds an attempt up until its time is over, or all are killed, and no
// longer.
func TestHungPathIsGivenUp(t *testing.T) {
	hang, hangs := make(chan struct{}), make(chan struct{})
	looked := make(chan struct{})
	was := ask.Load()
	never := *was
	never.look = func(dir int, path []byte, follow bool) raw.Stat {
		hangs <- struct{}{}
		<-hang
		defer func() { looked <- struct{}{} }()
		return raw.Look(dir, path, follow)
	}
	ask.Store(&never)
	t.Cleanup(func() {
		close(hang)
		for range 2 { // each attempt looks once
			<-looked
		}
		ask.Store(was)
	})
	for name, killed := range map[string]bool{"its time is over": false, "all are killed": true} {
		t.Run(name, func(t *testing.T) {
			r, store := newRunner(t)
			inv := invocation(t, "echo ran > ran")
			inv.Env = []string{"PATH=/bin"} // one look
			if killed {
				go func() { <-hangs; r.KillAll() }()
			} else {
				inv.Timeout, inv.Grace = time.Millisecond, time.Millisecond
			}
			got, err := r.Run(context.Background(), inv, nil)
			require.NoError(t, err)
			require.Equal(t, -1, got.Exit)
			require.Contains(t, []string{stoppedTimeout, stoppedCancel}, got.StoppedBy)
			require.Len(t, got.Problems, 1)
			require.Contains(t, got.Problems[0], `program "sh" is not found yet: a directory on PATH does not answer`)
			require.Equal(t, "ufbuild: "+got.Problems[0]+"\n", text(t, store, got.Log))
			require.Empty(t, r.running)
			if !killed {
				<-hangs // its look is under way, and not one of another attempt
			}
		})
	}
}

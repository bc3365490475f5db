package local

import (
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/watchdog"
)

// guard is the watchdog of this process, which cleans up when this one is killed. It learns of builds through a pipe of
// which this process holds the only other end, so that its death is the end of the pipe.
type guard struct {
	mu      sync.Mutex
	pipe    *os.File
	builds  map[string]string // the directory of their attempts that is closed, or ""
	process atomic.Int64
}

// pid is the number of the watchdog, 0 when there is none.
func (w *guard) pid() int { return int(w.process.Load()) }

// unlisted is the mode of the directory of a build that runs: a task of a user who is not root does not find those of others.
const unlisted = 0o300

// watch starts the watchdog and tells it of a build, each once. From then on nobody can list dir, which the attempts of
// the build are in, unless it is ""; the watchdog opens it should this process die.
func (w *guard) watch(build, dir string, null *os.File) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.builds[build]; known || !watchdog.Markable(build) {
		return nil
	}
	if w.pipe == nil {
		pipe, pid, err := startWatchdog(null)
		if err != nil {
			return fmt.Errorf("start watchdog: %w", err)
		}
		w.pipe, w.builds = pipe, map[string]string{}
		w.process.Store(int64(pid))
	}
	w.builds[build] = dir
	// A watchdog that somebody killed is no reason to stop: the kernel still kills what we started.
	fmt.Fprintln(w.pipe, watchdog.Line(build, dir))
	if dir == "" {
		return nil
	}
	if err := effect.Chmod(dir, unlisted); err != nil {
		return fmt.Errorf("make workspace: %w", err)
	}
	return nil
}

// dismiss ends the watchdog.
func (w *guard) dismiss() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe != nil {
		for _, dir := range w.builds {
			if dir != "" {
				_ = effect.Chmod(dir, watchdog.Listed) // who keeps workspaces looks at them
			}
		}
		fmt.Fprintln(w.pipe, watchdog.Dismissed)
		w.pipe.Close()
		w.pipe = nil
		bury(int(w.process.Swap(0)))
	}
}

// itself is this very program, also when another one or none has come to lie at its path since it started: an update may
// understand other words than those it is told, and take limits for something else.
const itself = "/proc/self/exe"

// startWatchdog starts this program again as a watchdog, in a session of its own and with nothing open
// but the pipe.
func startWatchdog(null *os.File) (pipe *os.File, pid int, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	pid, err = effect.ForkExec(itself, []string{watchdog.Name}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), r.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	}, -1)
	if err != nil {
		w.Close()
		return nil, 0, err
	}
	return w, pid, nil
}

// WatchdogMain must be called in a program that sets [Options.Watchdog] before it does anything else. It returns
// false at once in an ordinary process. In a watchdog it returns true when its work is done, and main
// returns. In a process that is to become a task in a sandbox it does not return.
func WatchdogMain() bool {
	sandbox.Main(os.Args)
	return watchdog.Main(os.Args)
}

package local

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// watchdogName is argv[0] of a watchdog.
const watchdogName = "ufbuild-watchdog"

// dismissed is the line that ends a watchdog without a look around.
const dismissed = "done"

// watchdog is the process that cleans up when this one is killed. It learns of builds through a pipe of
// which this process holds the only other end, so that its death is the end of the pipe.
type watchdog struct {
	mu      sync.Mutex
	pipe    *os.File
	builds  map[string]bool
	process atomic.Int64
}

// pid is the number of the watchdog, 0 when there is none.
func (w *watchdog) pid() int { return int(w.process.Load()) }

// watch starts the watchdog and tells it of a build, each once.
func (w *watchdog) watch(build string, null *os.File) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.builds[build] || !markable(build) {
		return nil
	}
	if w.pipe == nil {
		pipe, pid, err := startWatchdog(null)
		if err != nil {
			return fmt.Errorf("start watchdog: %w", err)
		}
		w.pipe, w.builds = pipe, map[string]bool{}
		w.process.Store(int64(pid))
	}
	w.builds[build] = true
	// A watchdog that somebody killed is no reason to stop: the kernel still kills what we started.
	fmt.Fprintln(w.pipe, build)
	return nil
}

// dismiss ends the watchdog.
func (w *watchdog) dismiss() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.pipe != nil {
		fmt.Fprintln(w.pipe, dismissed)
		w.pipe.Close()
		w.pipe = nil
		bury(int(w.process.Swap(0)))
	}
}

// startWatchdog starts this program again as a watchdog, in a session of its own and with nothing open
// but the pipe.
func startWatchdog(null *os.File) (pipe *os.File, pid int, err error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, 0, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, 0, err
	}
	defer r.Close()
	pid, err = effect.ForkExec(exe, []string{watchdogName}, &syscall.ProcAttr{
		Dir:   "/",
		Env:   []string{},
		Files: []uintptr{null.Fd(), null.Fd(), null.Fd(), r.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		return nil, 0, err
	}
	return w, pid, nil
}

// WatchdogMain must be the first thing main does in a program that sets [Options.Watchdog]. It returns
// false at once in an ordinary process. In a watchdog it returns true when its work is done, and main
// returns. In a process that is to become a task in a sandbox it does not return.
func WatchdogMain() bool {
	if len(os.Args) > 1 && os.Args[0] == sandboxName {
		sandboxMain(os.Args)
	}
	if len(os.Args) != 1 || os.Args[0] != watchdogName {
		return false
	}
	signal.Ignore(unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	var builds []string
	for in := bufio.NewScanner(os.NewFile(3, "pipe")); in.Scan(); {
		if in.Text() == dismissed {
			return true
		}
		builds = append(builds, in.Text())
	}
	for _, b := range builds {
		KillStrays(b)
	}
	return true
}

// markable reports whether a build id is long enough not to occur in an environment by chance.
func markable(build string) bool { return len(build) >= 8 }

// strayRounds and strayPause bound the hunt for processes that fork while they are hunted.
const (
	strayRounds = 200
	strayPause  = 5 * time.Millisecond
)

// attemptVar is the variable of every task's environment whose value is the build id, a colon, and the
// ordinal of the attempt.
const attemptVar = "UF_ATTEMPT"

// KillStrays kills the processes of a build whose builder is dead: those with UF_ATTEMPT=<build>:… in
// their environment. The id must be at least 8 bytes long. It returns how many it met. Never call it for a
// build that runs.
func KillStrays(build string) int {
	if !markable(build) {
		return 0
	}
	met := map[int]bool{}
	for range strayRounds {
		some := false
		for _, pid := range processes() {
			if pid != os.Getpid() && isStray(pid, build) && unix.Kill(pid, unix.SIGKILL) == nil {
				some = true
				met[pid] = true
			}
		}
		if !some {
			break
		}
		time.Sleep(strayPause)
	}
	return len(met)
}

// isStray reports whether a process that is not dead already bears the mark of a build.
func isStray(pid int, build string) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return false // dead, or of another user
	}
	for v := range bytes.SplitSeq(env, []byte{0}) {
		if value, ok := bytes.CutPrefix(v, []byte(attemptVar+"=")); ok && bytes.HasPrefix(value, []byte(build+":")) {
			return true
		}
	}
	return false
}

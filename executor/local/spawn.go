package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/raw"
	"github.com/ufbuild/ufbuild/executor/sandbox"
)

// starter starts programs on threads of its own. The death signal of a child is tied to the thread that made it, so they
// live until the runner is closed, and none has to wait blocked for the end of each program.
type starter struct {
	work  chan func()
	quit  chan struct{}
	first sync.Once // starts the first thread
}

func newStarter() *starter {
	return &starter{work: make(chan func()), quit: make(chan struct{})}
}

// close ends the threads, each when what it does is done. It is for once.
func (s *starter) close() { close(s.quit) }

func (s *starter) serve(do func()) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for {
		do()
		select {
		case do = <-s.work:
		case <-s.quit:
			return
		}
	}
}

// startPatience is how long a start waits for those before it. A start takes a millisecond, and for ever where the program lies
// on a network file system that does not answer.
const startPatience = time.Second

// run does something on a thread of s and returns when it is done. When all are taken for too long there is one more.
func (s *starter) run(do func()) {
	done := make(chan struct{})
	task := func() {
		defer close(done)
		do()
	}
	s.first.Do(func() { go s.serve(func() {}) })
	t := time.NewTimer(startPatience)
	defer t.Stop()
	select {
	case s.work <- task:
	case <-t.C:
		go s.serve(task)
	}
	<-done
}

// threadsStay says that a thread of this Go ends only with a goroutine that is bound to it: what it started is safe on any.
// Of later releases nobody knows.
var threadsStay = strings.HasPrefix(runtime.Version(), "go1.26")

// forkExec starts a program and returns its process id. dir is a descriptor of the directory that attr names; -1 for none. Its thread
// lives as long as the runner; for what costs money that does not rest on what Go does with threads.
func (s *starter) forkExec(path string, argv []string, attr *syscall.ProcAttr, dir int, paid bool) (pid int, err error) {
	start := func() { pid, err = effect.ForkExec(path, argv, attr, dir) }
	wait := time.Millisecond
	for try := 0; ; try++ {
		if paid || !threadsStay {
			s.run(start)
		} else {
			start() // to hand it over and back takes as long as half of a start
		}
		if !errors.Is(err, syscall.ETXTBSY) || try == sandbox.BusyTries {
			return pid, err
		}
		time.Sleep(wait)
		wait *= 2
	}
}

// awaitEnd waits until a child ended, and leaves it to be waited for. handle is a descriptor of it, which is closed; -1 where
// the kernel gave none. With one the poller waits, without one a thread of its own.
func awaitEnd(pid, handle int) error {
	if handle < 0 {
		_, err := ended(pid, 0)
		return err
	}
	if _, err := unix.FcntlInt(uintptr(handle), unix.F_SETFL, unix.O_RDWR|unix.O_NONBLOCK); err != nil { // or the poller does not take it
		return errors.Join(err, unix.Close(handle))
	}
	f := os.NewFile(uintptr(handle), "process")
	defer f.Close()
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var bad error
	// It is asked before the poller waits: what the poller was told before that it does not tell again.
	err = raw.Read(func(uintptr) (over bool) {
		over, bad = ended(pid, unix.WNOHANG)
		return over || bad != nil
	})
	if err != nil { // the poller cannot wait for it after all
		_, bad = ended(pid, 0)
	}
	return bad
}

// ended reports whether a child ended, and leaves it to be waited for.
func ended(pid, options int) (bool, error) {
	for {
		var info unix.Siginfo
		err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT|options, nil)
		if !errors.Is(err, unix.EINTR) {
			return info.Signo != 0, err
		}
	}
}

// find is lookPath that gives up where a directory on PATH does not answer until stop is closed: exit is then -1.
func find(stop <-chan struct{}, name, dir string, env []string) (path string, exit int, why string) {
	if name == "" || strings.Contains(name, "/") {
		return lookPath(name, dir, env) // it looks at nothing
	}
	type result struct {
		path string
		exit int
		why  string
	}
	found := make(chan result, 1)
	go func() {
		path, exit, why := lookPath(name, dir, env)
		found <- result{path, exit, why}
	}()
	select {
	case r := <-found:
		return r.path, r.exit, r.why
	case <-stop:
		return "", -1, fmt.Sprintf("program %q is not found yet: a directory on PATH does not answer (%s)", name, getenv(env, "PATH"))
	}
}

// lookPath finds a program as a shell would: a name without a slash on PATH of env, anything else
// relative to dir. It returns the path to execute, or an exit code and why.
func lookPath(name, dir string, env []string) (path string, exit int, why string) {
	if name == "" {
		return "", sandbox.ExitNotFound, "the program has no name"
	}
	if strings.Contains(name, "/") {
		return name, 0, ""
	}
	search := getenv(env, "PATH")
	denied := ""
	var room [256]byte // each task looks into all of PATH
	buf := room[:]
	for d := range strings.SplitSeq(search, string(filepath.ListSeparator)) {
		if search == "" {
			break
		}
		buf = append(appendPath(buf[:0], dir, d, name), 0)
		if !ask.Load().look(raw.Here, buf, true).IsRegular() {
			continue
		}
		p := string(buf[:len(buf)-1])
		if unix.Access(p, unix.X_OK) == nil {
			return p, 0, ""
		}
		denied = p
	}
	if denied != "" {
		return "", sandbox.ExitCannotRun, fmt.Sprintf("program %s is not executable", denied)
	}
	return "", sandbox.ExitNotFound, fmt.Sprintf("program %q was not found on PATH (%s)", name, search)
}

// appendPath appends the path of a name in a directory that PATH lists, which is relative to dir.
func appendPath(b []byte, dir, listed, name string) []byte {
	if strings.HasPrefix(listed, "/") && !strings.HasSuffix(listed, "/") && !strings.Contains(listed, "//") && !strings.Contains(listed, "/.") { // as it is cleaned
		return append(append(append(b, listed...), '/'), name...)
	}
	p := filepath.Join(listed, name)
	if !filepath.IsAbs(p) {
		p = filepath.Join(dir, p)
	}
	return append(b, p...)
}

// getenv returns the value of a variable in env; the last one counts.
func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name); ok && strings.HasPrefix(v, "=") {
			return v[1:]
		}
	}
	return ""
}

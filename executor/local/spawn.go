package local

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// busyTries bounds how often a program is started again that is "text file busy": while one thread
// writes a program, another may fork, and until its child has called exec the child holds the
// program open for writing. Waits double from 1 ms, so this is half a second.
const busyTries = 9

// forkExec starts a program and returns its process id. The calling goroutine must be locked to its
// thread until the program is dead: the death signal of a child is tied to the thread that made it.
func forkExec(path string, argv []string, attr *syscall.ProcAttr) (int, error) {
	wait := time.Millisecond
	for try := 0; ; try++ {
		pid, err := effect.ForkExec(path, argv, attr)
		if !errors.Is(err, syscall.ETXTBSY) || try == busyTries {
			return pid, err
		}
		time.Sleep(wait)
		wait *= 2
	}
}

// Exit codes of a program that did not start, as shells have them.
const (
	exitNotFound  = 127
	exitCannotRun = 126
)

// lookPath finds a program as a shell would: a name without a slash on PATH of env, anything else
// relative to dir. It returns the path to execute, or an exit code and why.
func lookPath(name, dir string, env []string) (path string, exit int, why string) {
	if name == "" {
		return "", exitNotFound, "the program has no name"
	}
	if strings.Contains(name, "/") {
		return name, 0, ""
	}
	search := getenv(env, "PATH")
	denied := ""
	for _, d := range filepath.SplitList(search) {
		p := filepath.Join(d, name)
		if !filepath.IsAbs(p) {
			p = filepath.Join(dir, p)
		}
		var st unix.Stat_t
		if unix.Stat(p, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			continue
		}
		if unix.Access(p, unix.X_OK) == nil {
			return p, 0, ""
		}
		denied = p
	}
	if denied != "" {
		return "", exitCannotRun, fmt.Sprintf("program %s is not executable", denied)
	}
	return "", exitNotFound, fmt.Sprintf("program %q was not found on PATH (%s)", name, search)
}

// getenv returns the value of a variable in env; the last one counts.
func getenv(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if v, ok := strings.CutPrefix(env[i], name+"="); ok {
			return v
		}
	}
	return ""
}

// startFailure sorts an error of exec: what the task is to blame for becomes an exit code and a reason.
func startFailure(path string, err error) (exit int, why string, world error) {
	var no *refusal
	switch {
	case errors.As(err, &no):
		return no.Exit, no.Why, nil
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return exitNotFound, fmt.Sprintf("program %s was not found, or the interpreter its first line names", path), nil
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.EPERM):
		return exitCannotRun, fmt.Sprintf("program %s cannot be executed: %v", path, err), nil
	case errors.Is(err, syscall.ENOEXEC):
		return exitCannotRun, fmt.Sprintf("program %s is no program: a script needs a first line like #!/bin/sh", path), nil
	case errors.Is(err, syscall.E2BIG):
		return exitCannotRun, "the arguments are longer than the system allows; pass them in a file", nil
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ETXTBSY):
		return exitCannotRun, fmt.Sprintf("program %s cannot be executed: %v", path, err), nil
	}
	return 0, "", fmt.Errorf("start %s: %w", path, err)
}

package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// sandboxName is argv[0] of this program when it limits itself and then executes the task's program:
//
//	ufbuild-sandbox COUNT WRITABLE… PROGRAM ARGV…
const sandboxName = "ufbuild-sandbox"

// exitSandbox is the exit code when the limits could not be set. No program ran.
const exitSandbox = 125

// checkSandbox says why the sandbox that an attempt asks for cannot be had here. Nothing runs with less.
func (r *Runner) checkSandbox(inv *executor.Invocation) error {
	if level(inv) == sandbox.Off {
		return nil
	}
	err := sandbox.Check(level(inv))
	if err == nil && !r.opts.Watchdog {
		err = errors.New("enforce sandbox: this program cannot start itself again")
	}
	if err != nil {
		return fmt.Errorf("%w\nhint: set workspace.sandbox = \"off\" to run without", err)
	}
	for _, p := range writable(inv) {
		if _, err := os.Stat(p); err != nil {
			return fmt.Errorf("make sandbox: %w\nhint: paths of workspace.writable must exist before the task starts", err)
		}
	}
	return nil
}

func level(inv *executor.Invocation) sandbox.Level {
	if inv.Sandbox == "" {
		return sandbox.Off
	}
	return sandbox.Level(inv.Sandbox)
}

// writable are the paths that the campaign lists: absolute, below the home of the task, or below the root.
func writable(inv *executor.Invocation) []string {
	var out []string
	for _, p := range inv.Writable {
		rest, home := strings.CutPrefix(p, "~/")
		switch {
		case home:
			p = filepath.Join(getenv(inv.Env, "HOME"), rest)
		case !filepath.IsAbs(p):
			p = filepath.Join(inv.Root, p)
		}
		out = append(out, p)
	}
	return out
}

// sandboxed turns the start of a program into that of this one, which sets the limits first.
func sandboxed(inv *executor.Invocation, path, dir string) (exe string, argv []string, err error) {
	if level(inv) == sandbox.Off {
		return path, inv.Argv, nil
	}
	if exe, err = os.Executable(); err != nil {
		return "", nil, fmt.Errorf("make sandbox: %w", err)
	}
	// The log too: it may be standard output itself, and programs open that by name.
	may := append([]string{dir, filepath.Join(inv.Dir, workspace.Log)}, writable(inv)...)
	tmp := filepath.Join(inv.Dir, workspace.Tmp)
	if _, err := os.Stat(tmp); err == nil {
		may = append(may, tmp)
	}
	argv = append([]string{sandboxName, strconv.Itoa(len(may))}, may...)
	return exe, append(append(argv, path), inv.Argv...), nil
}

// sandboxMain is the program named sandboxName. It does not return.
func sandboxMain(args []string) {
	exit, why := enterSandbox(args)
	_, _ = unix.Write(2, []byte("ufbuild: "+why+"\n"))
	unix.Exit(exit)
}

// enterSandbox sets the limits and executes the program. It returns only when that fails.
func enterSandbox(args []string) (exit int, why string) {
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 0 || len(args) < n+4 {
		panic("BUG: start sandbox: its arguments are not those of this program")
	}
	may, path, argv := args[2:2+n], args[2+n], args[3+n:]
	// Limits belong to a thread. The one that executes a program hands its own on.
	runtime.LockOSThread()
	if err := sandbox.Restrict(may); err != nil {
		return exitSandbox, err.Error()
	}
	// So does the death signal, and this thread need not be the one that got it at the start.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return exitSandbox, fmt.Sprintf("make sandbox: %v", err)
	}
	wait := time.Millisecond
	for try := 0; ; try++ {
		err = syscall.Exec(path, argv, syscall.Environ())
		if !errors.Is(err, syscall.ETXTBSY) || try == busyTries {
			break
		}
		time.Sleep(wait)
		wait *= 2
	}
	exit, why, world := startFailure(path, err)
	if world != nil {
		return exitCannotRun, world.Error()
	}
	return exit, why
}

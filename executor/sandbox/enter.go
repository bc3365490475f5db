package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Name is argv[0] of this program when it limits itself and then executes the task's program:
//
//	ufbuild-sandbox LIMITS PROGRAM ARGV…
//
// LIMITS are those of the sandbox package, as JSON. Without a program it only tries them.
const Name = "ufbuild-sandbox"

// HandshakeFD is where the program between tells that it failed. The kernel closes it when the task's program is
// executed, so that silence means that all limits hold.
const HandshakeFD = 3

// Exit codes of a program that did not start, as shells have them.
const (
	ExitNotFound  = 127
	ExitCannotRun = 126
)

// Refusal is why a program was not started, in the words of StartFailure.
type Refusal struct {
	Exit  int    `json:"exit"`
	Why   string `json:"why"`
	World bool   `json:"world,omitempty"` // the machine is to blame, not the task
}

// Error implements error.
func (r *Refusal) Error() string { return r.Why }

// StartFailure sorts an error of exec: what the task is to blame for becomes an exit code and a reason.
func StartFailure(path string, err error) (exit int, why string, world error) {
	var no *Refusal
	switch {
	case errors.As(err, &no):
		return no.Exit, no.Why, nil
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR):
		return ExitNotFound, fmt.Sprintf("program %s was not found, or the interpreter its first line names", path), nil
	case errors.Is(err, syscall.EACCES):
		return ExitCannotRun, fmt.Sprintf("program %s cannot be executed: %v; a script needs chmod +x, or its interpreter named before it", path, err), nil
	case errors.Is(err, syscall.EISDIR), errors.Is(err, syscall.EPERM):
		return ExitCannotRun, fmt.Sprintf("program %s cannot be executed: %v", path, err), nil
	case errors.Is(err, syscall.ENOEXEC):
		return ExitCannotRun, fmt.Sprintf("program %s is no program: a script needs a first line like #!/bin/sh", path), nil
	case errors.Is(err, syscall.E2BIG):
		return ExitCannotRun, "the arguments are longer than the system allows; pass them in a file", nil
	case errors.Is(err, syscall.ELOOP), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.EINVAL), errors.Is(err, syscall.ETXTBSY):
		return ExitCannotRun, fmt.Sprintf("program %s cannot be executed: %v", path, err), nil
	}
	return 0, "", fmt.Errorf("start %s: %w", path, err)
}

// BusyTries bounds how often a program is started again that is "text file busy": while one thread
// writes a program, another may fork, and until its child has called exec the child holds the
// program open for writing. Waits double from 1 ms, so this is half a second.
const BusyTries = 9

// Main is the program named Name, if args, the program's own with its name, are those of one: then it does not return. It needs
// next to nothing, so that it can be this before the rest of the program is initialised: every task in a sandbox pays for it.
func Main(args []string) {
	if len(args) < 2 || args[0] != Name {
		return
	}
	unix.CloseOnExec(HandshakeFD)
	no := enter(args)
	if no == nil {
		unix.Exit(0) // it was a trial
	}
	text, err := json.Marshal(no)
	if err != nil {
		panic("BUG: a refusal has no JSON: " + err.Error())
	}
	_, _ = unix.Write(HandshakeFD, text)
	unix.Exit(ExitCannotRun)
}

// enter sets the limits and executes the program. It returns when that fails, or when there is no program.
func enter(args []string) *Refusal {
	var limits Limits
	if err := json.Unmarshal([]byte(args[1]), &limits); err != nil || len(args) == 3 {
		panic("BUG: start sandbox: its arguments are not those of this program")
	}
	if limits.NoNetwork {
		if err := loopbackUp(); err != nil {
			return &Refusal{Why: "make sandbox: start the loopback network: " + err.Error(), World: true}
		}
	}
	// Limits belong to a thread. The one that executes a program hands its own on.
	runtime.LockOSThread()
	if err := Restrict(&limits); err != nil {
		return &Refusal{Why: err.Error(), World: true}
	}
	// So does the death signal, and this thread need not be the one that got it at the start.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return &Refusal{Why: "make sandbox: " + err.Error(), World: true}
	}
	if len(args) == 2 {
		return nil
	}
	path, argv := args[2], args[3:]
	err := execute(path, argv)
	exit, why, world := StartFailure(path, err)
	if world != nil {
		return &Refusal{Exit: ExitCannotRun, Why: world.Error(), World: true}
	}
	return &Refusal{Exit: exit, Why: why}
}

// execute becomes the program, which may be busy for a moment (see BusyTries). It returns only when that fails.
func execute(path string, argv []string) (err error) {
	wait := time.Millisecond
	for try := 0; ; try++ {
		err = syscall.Exec(path, argv, syscall.Environ())
		if !errors.Is(err, syscall.ETXTBSY) || try == BusyTries {
			return err
		}
		time.Sleep(wait)
		wait *= 2
	}
}

// loopbackUp starts the loopback of the network that this process is in.
func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	lo.SetUint16(unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
}

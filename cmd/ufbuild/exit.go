package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime/debug"
	"syscall"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
)

// The exit codes. They are a promise to scripts: see docs/reference/cli.md.
const (
	exitOK      = 0
	exitFailed  = 1   // a task failed; check found an error
	exitUsage   = 2   // usage, or a broken campaign for any verb but check
	exitWaiting = 3   // waiting for approval
	exitBudget  = 4   // budget, deadline or an exhausted account
	exitLocked  = 5   // another build holds the campaign
	exitWorld   = 6   // store or environment
	exitWork    = 7   // plan --detailed-exitcode found work
	exitBug     = 70  // a bug in ufbuild; EX_SOFTWARE of sysexits.h
	exitSIGHUP  = 129 // the terminal went away
	exitSIGINT  = 130
	exitSIGPIPE = 141 // whoever read the words went away, as in "ufbuild plan | head"
	exitSIGTERM = 143
)

// exitError ends ufbuild with a code. A nil cause prints nothing: all was said already.
type exitError struct {
	code  int
	cause error
}

// Error implements error.
func (e *exitError) Error() string {
	if e.cause == nil {
		return fmt.Sprintf("exit %d", e.code)
	}
	return e.cause.Error()
}

// Unwrap implements the convention of package errors.
func (e *exitError) Unwrap() error { return e.cause }

// exit ends with a code and no further words.
func exit(code int) error {
	if code == exitOK {
		return nil
	}
	return &exitError{code: code}
}

// usageErrorf is the user's fault on the command line.
func usageErrorf(format string, args ...any) error {
	return &exitError{code: exitUsage, cause: fmt.Errorf(format, args...)}
}

// exitCode prints an error, if there is something to say, and returns the code for it. An error
// without a code is trouble with the store or the machine.
func exitCode(err error, w io.Writer, style ui.Style) int {
	if err == nil {
		return exitOK
	}
	if readerLeft(err) {
		return exitSIGPIPE
	}
	code := exitWorld
	var coded *exitError
	if errors.As(err, &coded) {
		code = coded.code
		if coded.cause == nil {
			return code
		}
	}
	fmt.Fprintf(w, "%s %s\n", style.Bad("ufbuild:"), err)
	return code
}

// readerLeft says that standard output is a pipe which nobody reads any more: no trouble, and nothing to say.
func readerLeft(err error) bool {
	var at *fs.PathError
	return errors.Is(err, syscall.EPIPE) && errors.As(err, &at) && at.Path == os.Stdout.Name()
}

// bugReport turns a panic into words and exit code 70.
func bugReport(w io.Writer, cause any) int {
	fmt.Fprintf(w, "ufbuild: this is a bug in ufbuild, not in your campaign: %v\n", cause)
	fmt.Fprintf(w, "hint: nothing that was completed is lost; please report it with these lines\n\n%s %s\n%s", programName, version().Version, debug.Stack())
	return exitBug
}

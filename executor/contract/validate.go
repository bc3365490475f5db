package contract

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/lang"
)

const (
	// ValidateTimeout is how long a validate command may run. It checks a document, it does not
	// make one; a longer check is a task of its own.
	ValidateTimeout = 60 * time.Second
	// StartTimeout bounds a trial that only asks whether a command starts: one that still runs does.
	StartTimeout = 10 * time.Second
	// maxTail is how much of a command's output a message keeps, from its end, in bytes.
	maxTail = 4 << 10
	// pipeDelay is how long the output of an ended command is waited for when a child that it left
	// behind holds it open.
	pipeDelay = 200 * time.Millisecond
)

// validate runs the contract's command over one output.
func (j *judging) validate(s *Subject, c *lang.Contract, r *report) error {
	if len(c.Validate) == 0 {
		return nil
	}
	name := strings.Join(c.Validate, " ")
	if j.run == nil {
		j.undecide(r, "validate %s: not run", name)
		return nil
	}
	path := s.Output.Path
	if s.Captured.Tree {
		path = "."
	}
	exit, out, err := j.run(j.ctx, Spec{
		Argv:     append(append([]string(nil), c.Validate...), path),
		Output:   s.Output.Name,
		Subjects: j.subjects,
		Uses:     c.Uses,
	})
	if ended := j.ctx.Err(); ended != nil {
		return ended
	}
	switch {
	case err != nil:
		j.undecide(r, "validate %s: %v", name, err)
	case exit == 1:
		r.add("validate %s: exit 1%s", name, quoted(out))
	case exit != 0:
		j.undecide(r, "validate %s: exit %d, want 0 (pass) or 1 (fail)%s%s", name, exit, exitWords(exit), quoted(out))
	}
	return nil
}

// undecide notes that a rule could not be judged; for a warning that is a warning too.
func (j *judging) undecide(r *report, format string, args ...any) {
	if r.warn {
		j.leaveOut(r, format, args...)
		return
	}
	j.undecided = append(j.undecided, r.prefix+": "+fmt.Sprintf(format, args...))
}

// leaveOut notes that a rule was not applied, and why that is all right.
func (j *judging) leaveOut(r *report, format string, args ...any) {
	j.warned = append(j.warned, r.prefix+": "+fmt.Sprintf(format, args...))
}

// exitWords says what a shell means by the exit codes that it gives itself.
func exitWords(exit int) string {
	switch {
	case exit == 126:
		return "; a program could not be run"
	case exit == 127:
		return "; a program was not found"
	case exit > 128 && exit <= 128+64:
		return fmt.Sprintf("; a program was ended by signal %d", exit-128)
	}
	return ""
}

func quoted(out string) string {
	if out = strings.TrimSpace(out); out == "" {
		return ""
	}
	return ":\n    " + strings.ReplaceAll(out, "\n", "\n    ")
}

// Process runs validate commands as real processes. Its fields are read only; Validate may be
// called concurrently.
type Process struct {
	Files   Files                  // the files that commands use; may be nil when there are none
	Scratch string                 // directory below which fresh directories are made; "" for the system's
	Path    string                 // PATH of the command, its whole environment
	Lay     func(dir string) error // lays the attempt's inputs into dir; may be nil
	Timeout time.Duration          // 0: ValidateTimeout
}

// Validate implements [Validate]. Whatever the command starts in its process group is killed when
// it ends, and the directory is removed. When this process is killed the kernel kills the command, but not
// what the command had started: nothing in an environment of PATH alone tells whose it is.
func (p Process) Validate(ctx context.Context, spec Spec) (int, string, error) {
	dir, err := effect.MkdirTemp(p.Scratch, "validate-")
	if err != nil {
		return 0, "", fmt.Errorf("make directory: %w", err)
	}
	defer func() { _ = effect.RemoveAll(dir) }()
	if err := p.lay(dir, spec); err != nil {
		return 0, "", err
	}
	limit := p.Timeout
	if limit == 0 {
		limit = ValidateTimeout
	}
	timed, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	exit, out, err := p.exec(timed, dir, spec.Argv)
	if timed.Err() != nil && ctx.Err() == nil {
		return 0, out, fmt.Errorf("%w after %s%s", errStopped, limit, quoted(out))
	}
	return exit, out, err
}

// errStopped says that a command ran longer than it may.
var errStopped = errors.New("stopped")

// exec runs argv in dir. The exit code of a command that a signal ended is an error.
func (p Process) exec(ctx context.Context, dir string, argv []string) (int, string, error) {
	program, err := p.find(dir, argv[0])
	if err != nil {
		return 0, "", err
	}
	out := &tail{}
	cmd := exec.CommandContext(ctx, program)
	cmd.Args = argv
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + p.Path}
	cmd.Stdout, cmd.Stderr = out, out
	// The signal comes when the thread that starts it ends, and threads of Go that nobody locked end with the process.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.WaitDelay = pipeDelay
	cmd.Cancel = func() error { return killGroup(cmd.Process.Pid) }
	if err := effect.Do(effect.OpStart, program, cmd.Start); err != nil {
		return 0, "", fmt.Errorf("start %s: %w", argv[0], err)
	}
	err = cmd.Wait()
	_ = killGroup(cmd.Process.Pid) // what it left in the background
	var ee *exec.ExitError
	if errors.As(err, &ee) && ee.Exited() {
		return ee.ExitCode(), out.String(), nil
	}
	if errors.Is(err, exec.ErrWaitDelay) { // it ended well, but a child held its output open
		err = nil
	}
	return 0, out.String(), err
}

// killGroup ends a process group; one that is gone already is fine.
func killGroup(pid int) error {
	if err := syscall.Kill(-pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

// find resolves a program: a path is relative to the fresh directory, a bare name is on PATH.
func (p Process) find(dir, name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil // the child resolves it after it changed to dir
	}
	for _, d := range filepath.SplitList(p.Path) {
		full := filepath.Join(d, name)
		if st, err := os.Stat(full); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 && filepath.IsAbs(full) {
			return full, nil
		}
	}
	return "", fmt.Errorf("find program %s: not on PATH", name)
}

// tail keeps the end of what is written to it.
type tail struct {
	b   []byte
	cut bool
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.b = append(t.b, p...)
	if over := len(t.b) - maxTail; over > 0 {
		t.b, t.cut = append(t.b[:0], t.b[over:]...), true
	}
	return len(p), nil
}

// String returns valid UTF-8 that says when something was cut.
func (t *tail) String() string {
	s := strings.ToValidUTF8(string(t.b), "\ufffd")
	if t.cut {
		return "… " + s
	}
	return s
}

var _ io.Writer = (*tail)(nil)

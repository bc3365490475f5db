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
	"github.com/ufbuild/ufbuild/executor/watchdog"
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
	// pipeDelay is how long a keeper has to end a command that is not wanted any more, and all it started: milliseconds where the machine
	// is not busy.
	pipeDelay = 5 * time.Second
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
	j.undecided = append(j.undecided, r.prefix()+": "+fmt.Sprintf(format, args...))
}

// leaveOut notes that a rule was not applied, and why that is all right.
func (j *judging) leaveOut(r *report, format string, args ...any) {
	j.warned = append(j.warned, r.prefix()+": "+fmt.Sprintf(format, args...))
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

// Validate implements [Validate]. Whatever the command starts is killed when it ends, and when this process is gone, and the
// directory is removed. The command is a child of a keeper, which is this program started anew: its main has to call
// [watchdog.Main] before it does anything else.
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
	text, err := keeper(ctx, out, dir, append([]string{watchdog.KeeperName, p.Path, program}, argv...))
	if err != nil {
		return 0, out.String(), fmt.Errorf("start %s: %w", argv[0], err)
	}
	said, ok := watchdog.ParseSaid(text)
	switch {
	case !ok && ctx.Err() != nil:
		return 0, out.String(), ctx.Err()
	case !ok:
		return 0, out.String(), errors.New("killed with the process that kept it")
	case said.Start != 0:
		return 0, "", fmt.Errorf("start %s: %w", argv[0], &os.PathError{Op: "fork/exec", Path: program, Err: said.Start})
	case said.Signal != 0:
		return 0, out.String(), fmt.Errorf("signal: %w", signalError(said.Signal))
	}
	return said.Exit, out.String(), nil
}

// signalError is a signal that ended a command.
type signalError syscall.Signal

// Error implements error.
func (s signalError) Error() string { return syscall.Signal(s).String() }

// keeper runs a keeper in dir and returns what it said. It is told to end by the end of a pipe, which also comes when this process
// dies.
func keeper(ctx context.Context, out io.Writer, dir string, argv []string) (string, error) {
	life, end, err := os.Pipe()
	if err != nil {
		return "", err
	}
	defer end.Close()
	says, say, err := os.Pipe()
	if err != nil {
		life.Close()
		return "", err
	}
	defer says.Close()
	cmd := exec.CommandContext(ctx, "/proc/self/exe") // this very program, whatever has come to lie at its path
	cmd.Args, cmd.Env, cmd.Dir = argv, []string{}, dir
	cmd.Stdout, cmd.Stderr = out, out
	cmd.ExtraFiles = []*os.File{watchdog.KeeperLife - 3: life, watchdog.KeeperSays - 3: say}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a terminal's signals are for us
	cmd.WaitDelay = pipeDelay
	cmd.Cancel = end.Close
	err = effect.Do(effect.OpStart, argv[2], cmd.Start)
	life.Close()
	say.Close()
	if err != nil {
		return "", err
	}
	_ = cmd.Wait() // what the keeper says tells more
	text, err := io.ReadAll(says)
	return string(text), err
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

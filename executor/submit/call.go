package submit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/lang"
)

// callTime bounds a command of an engine. One that takes longer is not answered by its controller.
const callTime = 2 * time.Minute

// maxSaid bounds what is kept of what a command printed.
const maxSaid = 64 << 10

// callError is a command of an engine that failed.
type callError struct {
	argv []string
	err  error
	said string // on standard error, else on standard output
}

// Error implements error.
func (e *callError) Error() string {
	said := strings.TrimSpace(e.said)
	if i := strings.LastIndexByte(said, '\n'); i >= 0 {
		said = said[i+1:]
	}
	if said != "" {
		said = ": " + event.Plain(said)
	}
	return fmt.Sprintf("%s: %v%s", e.argv[0], e.err, said)
}

// Unwrap implements the convention of package errors.
func (e *callError) Unwrap() error { return e.err }

// noJob are the words by which commands say that there is no such job, where they call that an error.
var noJob = regexp.MustCompile(`(?i)\bno jobs?\b|\b(invalid|unknown) job\b|\bjobs?\b.*\b(not found|does not exist)\b`)

// saysNoJob reports whether the command was answered, and the answer is that the engine has no such job. What a shell says
// of a program that it cannot find or run is no answer.
func (e *callError) saysNoJob() bool {
	var exit *exec.ExitError
	if errors.As(e.err, &exit) && (exit.ExitCode() == sandbox.ExitNotFound || exit.ExitCode() == sandbox.ExitCannotRun) {
		return false
	}
	return noJob.MatchString(e.said)
}

// call runs a command of the engine and returns what it printed. With inv it has the variables that a job needs by name.
func (r *Runner) call(ctx context.Context, words map[string]string, argv []string, input string, inv *executor.Invocation) (string, error) {
	argv = fillAll(argv, words, r.o.Properties)
	if len(argv) == 0 {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	cmd := r.command(ctx, argv)
	cmd.Stdin = strings.NewReader(fill(input, words))
	if inv != nil {
		cmd.Env = append(cmd.Env, named(inv)...)
	}
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &limited{b: &out}, &limited{b: &said}
	if err := cmd.Run(); err != nil {
		if said.Len() == 0 {
			said = out
		}
		return "", &callError{argv, err, said.String()}
	}
	return out.String(), nil
}

// command makes a command that is found on the PATH of the engine's environment.
func (r *Runner) command(ctx context.Context, argv []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, find(argv[0], r.o.Environ), argv[1:]...)
	cmd.Env = append([]string(nil), r.o.Environ...)
	cmd.WaitDelay = 5 * time.Second // a grandchild may hold the pipe
	return cmd
}

// Try asks the engine for a job that nobody handed in. The error says why it cannot be asked.
func (r *Runner) Try(ctx context.Context) error {
	j := &job{r: r, words: r.fillIn(&executor.Invocation{Address: lang.Address{Task: "doctor"}}, strings.Repeat("0", 64)+"/0")}
	_, err := j.ask(ctx)
	return err
}

// Lacks returns the programs of e that are not on the PATH of env, sorted.
func (e Engine) Lacks(env []string) []string {
	var out []string
	for _, argv := range [][]string{e.Submit, e.State, e.Cancel, e.Logs} {
		if len(argv) == 0 {
			continue
		}
		if _, err := exec.LookPath(find(argv[0], env)); err != nil && !slices.Contains(out, argv[0]) {
			out = append(out, argv[0])
		}
	}
	slices.Sort(out)
	return out
}

// find looks for a program on the PATH of env.
func find(name string, env []string) string {
	if strings.Contains(name, "/") {
		return name
	}
	for _, v := range env {
		path, ok := strings.CutPrefix(v, "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			if p, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
				return p
			}
		}
	}
	return name
}

// named are the variables of an attempt whose values travel by the engine alone.
func named(inv *executor.Invocation) []string {
	var out []string
	for _, v := range inv.Env {
		if name, _, _ := strings.Cut(v, "="); slices.Contains(inv.ByName, name) {
			out = append(out, v)
		}
	}
	return out
}

// limited drops what is too much.
type limited struct{ b *bytes.Buffer }

// Write implements io.Writer; it never fails.
func (l *limited) Write(p []byte) (int, error) {
	if room := maxSaid - l.b.Len(); room > 0 {
		l.b.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

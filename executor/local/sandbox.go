package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// checkSandbox says why the sandbox that an attempt asks for cannot be had here. Nothing runs with less.
func (r *Runner) checkSandbox(inv *executor.Invocation) error {
	if !isLimited(inv) {
		return nil
	}
	err := sandbox.Check(sandbox.Level(inv.Sandbox))
	switch {
	case err == nil && !r.opts.Watchdog:
		err = errors.New("enforce sandbox: this program cannot start itself again")
	case err == nil && inv.NoNetwork:
		err = CheckNoNetwork()
	}
	if err != nil {
		return fmt.Errorf("%w\nhint: %s", err, sandboxHint(inv))
	}
	return nil
}

// checkListed says which path that the campaign lists cannot be opened to the task. It may wait for a file system that does not answer.
func checkListed(inv *executor.Invocation) error {
	if !isLimited(inv) {
		return nil
	}
	if err := checkPlaces(inv, "workspace.writable", inv.Writable); err != nil {
		return err
	}
	return checkPlaces(inv, "workspace.readable", inv.Readable)
}

// checkPlaces says which of the paths that an attribute lists is none that can be opened to a task.
func checkPlaces(inv *executor.Invocation, attribute string, listed []string) error {
	for i, p := range places(inv, listed) {
		if !filepath.IsAbs(p) { // below a home that is nowhere; what it meant here would be something else
			return fmt.Errorf("make sandbox: %s: the task has no HOME that is an absolute path\nhint: set HOME in env, or write the whole path in %s", listed[i], attribute)
		}
		if _, err := ask.Load().stat(p); err != nil {
			return fmt.Errorf("make sandbox: %w\nhint: paths of %s must exist before the task starts", err, attribute)
		}
	}
	return nil
}

func sandboxHint(inv *executor.Invocation) string {
	if inv.NoNetwork && sandbox.Check(sandbox.Level(inv.Sandbox)) == nil {
		return "set workspace.network = true to run with it; `ufbuild doctor` says what this machine can enforce"
	}
	return "set workspace.sandbox = \"off\" to run without; `ufbuild doctor` says what this machine can enforce"
}

// isLimited reports whether an attempt is to be withheld anything.
func isLimited(inv *executor.Invocation) bool {
	return inv.NoNetwork || inv.Sandbox != "" && inv.Sandbox != string(sandbox.Off)
}

// places are paths that the campaign lists: absolute, below the home of the task, or below the root.
func places(inv *executor.Invocation, listed []string) []string {
	var out []string
	for _, p := range listed {
		rest, home := strings.CutPrefix(p, "~/")
		switch {
		case p == "~":
			p = getenv(inv.Env, "HOME")
		case home:
			p = filepath.Join(getenv(inv.Env, "HOME"), rest)
		case !filepath.IsAbs(p):
			p = filepath.Join(inv.Root, p)
		}
		out = append(out, p)
	}
	return out
}

// limitsOf spells out what is withheld from the program at path that runs in dir.
func limitsOf(inv *executor.Invocation, path, dir string) *sandbox.Limits {
	l := &sandbox.Limits{Level: sandbox.Level(inv.Sandbox), NoNetwork: inv.NoNetwork}
	if l.Level == "" {
		l.Level = sandbox.Off
	}
	if l.Level == sandbox.Off {
		return l
	}
	// The log too: it may be standard output itself, and programs open that by name.
	l.Writable = append([]string{dir, filepath.Join(inv.Dir, workspace.Log)}, places(inv, inv.Writable)...)
	tmp := filepath.Join(inv.Dir, workspace.Tmp)
	if _, err := os.Stat(tmp); err == nil {
		l.Writable = append(l.Writable, tmp)
	}
	if l.Level == sandbox.Strict {
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		keep := []string{inv.Root, inv.Dir}
		if home := getenv(inv.Env, "HOME"); filepath.IsAbs(home) {
			keep = append(keep, filepath.Clean(home))
		}
		l.Readable = append(places(inv, inv.Readable), programs(path, getenv(inv.Env, "PATH"), keep)...)
	}
	return l
}

// limited is the start of a program by way of this one, which sets the limits first.
type limited struct {
	limits *sandbox.Limits
	argv   []string
	ours   *os.File // the end of the handshake that is read
	theirs *os.File
}

// limit prepares the start of a program under limits.
func limit(l *sandbox.Limits, path string, argv []string) (*limited, error) {
	text, err := json.Marshal(l)
	if err != nil {
		panic("BUG: limits have no JSON: " + err.Error())
	}
	s := &limited{limits: l, argv: append([]string{sandbox.Name, string(text), path}, argv...)}
	if s.ours, s.theirs, err = os.Pipe(); err != nil {
		return nil, fmt.Errorf("make sandbox: %w", err)
	}
	return s, nil
}

// started waits until the task's program was executed under all its limits, or returns why it was not.
func (s *limited) started() error {
	_ = s.theirs.Close()
	s.theirs = nil
	var no sandbox.Refusal
	switch err := json.NewDecoder(s.ours).Decode(&no); {
	case err != nil: // nothing was said
		return nil
	case no.World:
		return errors.New(no.Why)
	}
	return &no
}

func (s *limited) close() {
	_ = s.ours.Close()
	if s.theirs != nil {
		_ = s.theirs.Close()
	}
}

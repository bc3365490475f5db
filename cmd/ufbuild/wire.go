package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/term"

	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/agent/claude"
	"github.com/ufbuild/ufbuild/executor/agent/codex"
	agentexec "github.com/ufbuild/ufbuild/executor/agent/exec"
	"github.com/ufbuild/ufbuild/executor/agent/gemini"
	"github.com/ufbuild/ufbuild/executor/agent/opencode"
)

// drivers are the adapters that this program knows.
var drivers = agent.Registry{
	"claude":   claude.Driver{},
	"codex":    codex.Driver{},
	"exec":     agentexec.Driver{},
	"gemini":   gemini.Driver{},
	"opencode": opencode.Driver{},
}

// isTerminal reports whether a person can answer on r.
func isTerminal(r io.Reader) bool {
	f, ok := r.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// onPath reports whether a program is found on PATH.
func (a *app) onPath(name string) bool {
	if filepath.IsAbs(name) {
		_, err := exec.LookPath(name)
		return err == nil
	}
	for _, dir := range filepath.SplitList(a.getenv("PATH")) {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

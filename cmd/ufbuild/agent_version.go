package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/lang"
)

// agentVersions asks programs of agents for their version, each once.
type agentVersions struct {
	app *app

	mu    sync.Mutex
	known map[string]answer
}

type answer struct {
	said string
	err  error
}

// versionTimeout bounds how long a program may take to say its version; the slowest start a runtime.
const versionTimeout = 20 * time.Second

// leftOpen is how long the output of a program that has ended is waited for: what it left in the background may hold it for ever.
const leftOpen = time.Second

// startedBy is the program that starts an agent.
func startedBy(ag *lang.Agent) (string, error) {
	d, err := drivers.Driver(ag.Adapter)
	if err != nil {
		return "", err
	}
	cmd, err := d.Start(agent.Start{Profile: &lang.Profile{Agent: ag}})
	if err != nil {
		return "", err
	}
	return cmd.Argv[0], nil
}

// of returns the first line that the program of an agent prints for --version.
func (v *agentVersions) of(ag *lang.Agent) (string, error) {
	program, err := startedBy(ag)
	if err != nil {
		return "", err
	}
	a := v.ask(program)
	if a.err != nil {
		return "", fmt.Errorf("ask %s for its version: %w\nhint: install it, or drop version = \"key\" from agent %q", program, a.err, ag.Name)
	}
	return a.said, nil
}

// ask asks a program.
func (v *agentVersions) ask(program string) answer {
	v.mu.Lock()
	defer v.mu.Unlock()
	a, ok := v.known[program]
	if !ok {
		a.said, a.err = askVersion(v.app.context(), program)
		if v.known == nil {
			v.known = map[string]answer{}
		}
		v.known[program] = a
	}
	return a
}

// answered returns what a program said, if it was asked.
func (v *agentVersions) answered(program string) (answer, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	a, ok := v.known[program]
	return a, ok
}

// mayAsk reports whether the version of an agent is recorded. A program behind the adapter exec, and one that is
// started by another (npx, sh), is asked only where the campaign declares version: who knows what it does with an
// argument it does not know, or whose version that is.
func (v *agentVersions) mayAsk(ag *lang.Agent) bool {
	return ag.Asks || ag.Adapter != "exec" && len(ag.Command) <= 1
}

// says returns what is recorded of an agent's version.
func (v *agentVersions) says(ag *lang.Agent) string {
	if !v.mayAsk(ag) {
		return ""
	}
	said, err := v.of(ag)
	if err != nil {
		return "" // it need not answer
	}
	return said
}

func askVersion(ctx context.Context, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "--version")
	cmd.WaitDelay = leftOpen
	out, err := cmd.Output()
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) { // else it said it, and left a process behind that holds its output
		return "", err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first, nil
}

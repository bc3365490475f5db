package main

import (
	"context"
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
	known map[string]string
}

// versionTimeout bounds how long a program may take to say its version; the slowest start a runtime.
const versionTimeout = 20 * time.Second

// of returns the first line that the program of an agent prints for --version.
func (v *agentVersions) of(ag *lang.Agent) (string, error) {
	d, err := drivers.Driver(ag.Adapter)
	if err != nil {
		return "", err
	}
	cmd, err := d.Start(agent.Start{Profile: &lang.Profile{Agent: ag}})
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	program := cmd.Argv[0]
	if known, ok := v.known[program]; ok {
		return known, nil
	}
	said, err := askVersion(v.app.context(), program)
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w\nhint: install it, or drop version = \"key\" from agent %q", program, err, ag.Name)
	}
	if v.known == nil {
		v.known = map[string]string{}
	}
	v.known[program] = said
	return said, nil
}

func askVersion(ctx context.Context, program string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, versionTimeout)
	defer cancel()
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if err != nil {
		return "", err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return first, nil
}

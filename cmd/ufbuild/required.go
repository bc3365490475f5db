package main

import (
	"fmt"
	"strings"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// checkRequired looks for the programs that tasks need before anything runs: an agent that is not
// installed is better known now than after the tasks before it are paid for. What is fresh needs nothing.
func (s *session) checkRequired(ids []graph.NodeID) error {
	missing := map[lang.Address][]string{}
	for _, id := range s.graph.Closure(ids...) {
		inst := s.graph.Node(id).Instance
		if inst == nil {
			continue
		}
		for _, name := range append(programOf(inst), inst.Requires...) {
			if !s.app.onPath(name) {
				missing[inst.Address] = append(missing[inst.Address], name)
			}
		}
	}
	if len(missing) == 0 {
		return nil
	}
	sum, err := s.plan(ids)
	if err != nil {
		return err
	}
	var lines []string
	told := map[string]bool{}
	for i := range sum.Nodes {
		r := &sum.Nodes[i]
		if r.State != executor.WouldRun && r.State != executor.Unknown {
			continue
		}
		for _, name := range missing[r.Address] {
			if !told[name] {
				told[name] = true
				lines = append(lines, fmt.Sprintf("%s needs %q, which is not on PATH", r.Address, name))
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("check required commands: %s\nhint: install them, or build other targets", strings.Join(lines, "\n"))
}

// missingCommands warns of commands that are not on PATH here, once for each task and command.
func (a *app) missingCommands(l *loaded) lang.Diagnostics {
	var ds lang.Diagnostics
	for _, t := range l.campaign.Tasks {
		told := map[string]bool{}
		for _, inst := range t.Instances {
			for _, name := range append(programOf(inst), inst.Requires...) {
				if told[name] || a.onPath(name) {
					continue
				}
				told[name] = true
				where := t.Range
				ds = append(ds, lang.Diagnostic{
					Severity: lang.Warning, Code: "UF7102", Subject: &where,
					Summary: fmt.Sprintf("task.%s needs %q, which is not on PATH.", t.Name, name),
					Hint:    "Install it, or take it out of requires.",
				})
			}
		}
	}
	return ds
}

// programOf names the program of a prompt's agent, unless it is a file of the campaign.
func programOf(inst *lang.Instance) []string {
	if inst.Task.Kind != lang.Prompt || inst.Profile == nil {
		return nil
	}
	d, err := drivers.Driver(inst.Profile.Agent.Adapter)
	if err != nil {
		return nil // the attempt says what is wrong
	}
	cmd, err := d.Start(agent.Start{Profile: inst.Profile})
	if err != nil || len(cmd.Argv) == 0 {
		return nil
	}
	if name := cmd.Argv[0]; !strings.Contains(name, "/") || strings.HasPrefix(name, "/") {
		return []string{name}
	}
	return nil
}

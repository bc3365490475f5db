package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/local"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/lang"
)

// checkRequired looks for the programs and the limits that tasks need before anything runs: an agent that is not
// installed is better known now than after the tasks before it are paid for. What is fresh needs nothing.
func (s *session) checkRequired(sel selection) error {
	missing := map[lang.Address][]string{}
	for _, id := range s.graph.Closure(sel.ids...) {
		inst := s.graph.Node(id).Instance
		if inst == nil || inst.RunsOn(inst.Profile) != "" { // else this machine need not have it
			continue
		}
		for _, name := range append(programOf(inst), inst.Requires...) {
			if !s.app.onPath(name) {
				missing[inst.Address] = append(missing[inst.Address], fmt.Sprintf("%q, which is not on PATH", name))
			}
		}
		if err := unenforceable(inst); err != nil {
			missing[inst.Address] = append(missing[inst.Address], fmt.Sprintf("what this machine cannot do: %v", err))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	mayRun, err := s.mayRun(sel)
	if err != nil {
		return err
	}
	var lines []string
	told := map[string]bool{}
	for _, id := range s.graph.Closure(sel.ids...) {
		at := s.graph.Node(id).Address
		if !mayRun[at] {
			continue
		}
		for _, what := range missing[at] {
			if !told[what] {
				told[what] = true
				lines = append(lines, fmt.Sprintf("%s needs %s", at, what))
			}
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("check what tasks need: %s\nhint: install what is missing, or build other targets; `ufbuild doctor` lists what is here", strings.Join(lines, "\n"))
}

// unenforceable says which limit of a task cannot be had on this machine.
func unenforceable(inst *lang.Instance) error {
	if err := sandbox.Check(sandbox.Level(inst.Workspace.Sandbox)); err != nil {
		return err
	}
	if !inst.Workspace.Network {
		return local.CheckNoNetwork()
	}
	return nil
}

// missingCommands warns of commands that are not on PATH here, once for each task and command.
func (a *app) missingCommands(l *loaded) lang.Diagnostics {
	var ds lang.Diagnostics
	for _, t := range l.campaign.Tasks {
		told := map[string]bool{}
		for _, inst := range t.Instances {
			if inst.RunsOn(inst.Profile) != "" {
				continue // another machine has to have them
			}
			programs := programOf(inst)
			for i, name := range slices.Concat(programs, inst.Requires) {
				if told[name] || a.onPath(name) {
					continue
				}
				told[name] = true
				hint := "Install it, or take it out of requires."
				if i < len(programs) {
					hint = fmt.Sprintf("Install it, or correct command of agent.%s.", inst.Profile.Agent.Name)
				}
				where := t.Range
				ds = append(ds, lang.Diagnostic{
					Severity: lang.Warning, Code: "UF7102", Subject: &where,
					Summary: fmt.Sprintf("task.%s needs %q, which is not on PATH.", t.Name, name),
					Hint:    hint,
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

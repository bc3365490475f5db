package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/lang"
)

// tried is a contract with an output that has to keep it and an instance that makes the output.
type tried struct {
	inst *lang.Instance // nil: no task uses the contract
	out  lang.Output
}

// contractUses lists every contract of the campaign, with the first output of each that has to keep it.
func contractUses(c *lang.Campaign) []tried {
	var uses []tried
	seen := map[*lang.Contract]bool{}
	for _, t := range c.Tasks {
		for _, inst := range t.Instances {
			for _, o := range inst.Outputs {
				if o.Contract != nil && !seen[o.Contract] {
					seen[o.Contract] = true
					uses = append(uses, tried{inst, o})
				}
			}
		}
	}
	for _, ct := range c.Contracts {
		if !seen[ct] {
			uses = append(uses, tried{out: lang.Output{Name: ct.Name, Path: ct.Name, Contract: ct}})
		}
	}
	return uses
}

// tryContracts reports the contracts that reject what they say keeps them, as far as that is known without
// running a command. Where the campaign has errors their cause is reported already.
func (l *loaded) tryContracts(ctx context.Context) {
	if l.problems.HasErrors() {
		return
	}
	for _, u := range contractUses(l.campaign) {
		problems, err := contract.Trial{}.Try(ctx, u.out)
		if err != nil {
			return // the verb was stopped
		}
		for _, p := range problems {
			l.problems = append(l.problems, contractProblem(u.out.Contract, p, lang.Error))
		}
	}
	l.problems.Sort()
}

func contractProblem(c *lang.Contract, problem string, s lang.Severity) lang.Diagnostic {
	where := c.Range
	return lang.Diagnostic{
		Severity: s, Code: "UF6113", Subject: &where, Summary: fmt.Sprintf("contract.%s %s.", c.Name, strings.TrimSuffix(problem, ".")),
		Hint: "Correct it before an agent is paid to keep it.",
	}
}

// brokenTooling runs the validate commands of all contracts over what they say is good.
func (a *app) brokenTooling(l *loaded) lang.Diagnostics {
	var ds lang.Diagnostics
	for _, u := range contractUses(l.campaign) {
		for _, p := range a.tryTooling(l, u) {
			ds = append(ds, contractProblem(u.out.Contract, p, lang.Warning))
		}
	}
	return ds
}

// tryTooling tries one contract with its validate command, without the inputs of any attempt.
func (a *app) tryTooling(l *loaded, u tried) []string {
	files := source.Open(l.campaign.Root, "")
	p := contract.Process{Files: executor.ContractFiles{Files: files}, Path: a.getenv("PATH"), Timeout: contract.TimeoutFor(u.out.Contract)}
	problems, err := contract.Trial{Run: p.Validate}.Try(a.context(), u.out)
	if err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}

// checkTooling tries the contracts of what a build may run before it runs anything: a validate command that
// cannot start, or that says no to what its contract says is good, is found before an agent is paid.
func (s *session) checkTooling(sel selection) error {
	var uses []tried
	seen := map[*lang.Contract]bool{}
	for _, id := range s.graph.Closure(sel.ids...) {
		inst := s.graph.Node(id).Instance
		if inst == nil {
			continue
		}
		for _, o := range inst.Outputs {
			if o.Contract != nil && len(o.Contract.Validate) > 0 && !seen[o.Contract] {
				uses = append(uses, tried{inst, o})
			}
		}
	}
	if len(uses) == 0 {
		return nil
	}
	mayRun, err := s.mayRun(sel)
	if err != nil {
		return err
	}
	var lines []string
	for _, u := range uses {
		if seen[u.out.Contract] || !mayRun[lang.Address{Task: u.inst.Task.Name}] {
			continue
		}
		seen[u.out.Contract] = true
		problems, err := s.try(u)
		if err != nil {
			return err
		}
		for _, p := range problems {
			lines = append(lines, fmt.Sprintf("contract.%s of task.%s: %s", u.out.Contract.Name, u.inst.Task.Name, p))
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return fmt.Errorf("try contracts: %s\nhint: nothing was started; correct this first, and look with: ufbuild check --env", strings.Join(lines, "\n"))
}

// try tries a contract with what is known of the attempt that has to keep it: its source files. Where
// outputs of other tasks flow in, a command may miss them and is only asked to start.
func (s *session) try(u tried) ([]string, error) {
	d := s.decider()
	planned := d.Planned(u.inst, nil)
	p := contract.Process{Files: executor.ContractFiles{Files: s.files}, Path: s.app.getenv("PATH"), Timeout: contract.TimeoutFor(u.out.Contract)}
	p.Lay = func(dir string) error {
		_, err := workspace.Lay(dir, s.store, workspace.Spec{Root: s.campaign.Root, Sources: planned.Sources})
		return err
	}
	flows := slices.ContainsFunc(u.inst.Needs, func(n lang.Need) bool { return n.Kind == lang.DataRef })
	t := contract.Trial{Run: p.Validate, Strict: !flows && planned.Err == nil}
	return t.Try(s.app.context(), u.out)
}

// mayRun are the nodes that a build may run, and under its name alone each task that has one. What is fresh
// needs neither programs nor contracts.
func (s *session) mayRun(sel selection) (map[lang.Address]bool, error) {
	sum, err := s.planAimed(sel)
	if err != nil {
		return nil, err
	}
	may := map[lang.Address]bool{}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		if r.State == executor.WouldRun || r.State == executor.Unknown && r.Cause != r.Address { // else it waits to be judged
			may[r.Address], may[lang.Address{Task: r.Address.Task}] = true, true
		}
	}
	return may, nil
}

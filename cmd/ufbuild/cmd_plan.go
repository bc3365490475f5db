package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/graph"
)

func (a *app) planCommand() *cobra.Command {
	var detailed bool
	cmd := &cobra.Command{
		Use:   "plan [TARGET…]",
		Short: "Say what a build would do, and why",
		Long: `Decides every task as a build would and says which are fresh, which are stale and
why, and which cannot be known until another has run. It uses the same function
as build, writes nothing and starts nothing, and works while a build runs.`,
		Example: `  ufbuild plan
  ufbuild plan report
  ufbuild plan --json | jq '.nodes[] | select(.state == "stale")'
  ufbuild plan --detailed-exitcode    exit 7 when something would run`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE: func(_ *cobra.Command, targets []string) error {
			return a.runPlan(targets, detailed)
		},
	}
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit 7 when a build would run something")
	return cmd
}

func (a *app) runPlan(targets []string, detailed bool) error {
	if a.answerUnchanged(targets) {
		return nil
	}
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	ids, err := s.selectTargets(targets)
	if err != nil {
		return err
	}
	sum, err := s.plan(ids)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(planReport{SchemaVersion: 1, Nodes: reportNodes(sum.Nodes), Counts: countNames(sum.Counts)})
	} else {
		err = a.printPlan(s, &sum)
	}
	if err != nil {
		return err
	}
	switch {
	case sum.Counts[executor.Failed] > 0:
		return exit(exitFailed)
	case detailed && sum.Counts[executor.WouldRun] > 0:
		return exit(exitWork)
	}
	return nil
}

type planReport struct {
	SchemaVersion int            `json:"schema_version"`
	Nodes         []nodeReport   `json:"nodes"`
	Counts        map[string]int `json:"counts"`
}

func countNames(counts map[executor.State]int) map[string]int {
	out := map[string]int{}
	for st, n := range counts {
		out[st.String()] = n
	}
	return out
}

// plan decides nodes and what they need, without writing.
func (s *session) plan(ids []graph.NodeID) (executor.Summary, error) {
	base, only := s.toBase(ids)
	b := &executor.Builder{Decider: s.decider(), Graph: s.base, Only: only, Sink: event.Discard, Jobs: 1, After: time.After}
	return b.Plan(s.app.context(), base)
}

func (a *app) printPlan(s *session, sum *executor.Summary) error {
	style := a.outTerm.Style()
	var rows [][]string
	var past time.Duration
	for i := range sum.Nodes {
		r := &sum.Nodes[i]
		if r.State == executor.IsFresh && len(r.Differ)+len(r.Warnings) == 0 && !r.Found {
			continue
		}
		took := ""
		if d := s.pastDuration(r); d > 0 && r.State != executor.IsFresh {
			took = "last took " + ui.Duration(d)
			past += d
		}
		rows = append(rows, []string{paintState(style, r.State), r.Address.String(), stateWords(r), took})
	}
	if err := ui.Table(a.out, nil, rows); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	printFailures(a.out, style, s.loaded, sum)
	line := sentence(sum.Total, sum.Counts)
	if past > 0 {
		line += "; what may run took " + ui.Duration(past) + " last time"
	}
	_, err := fmt.Fprintln(a.out, line)
	return err
}

// pastDuration is what the last selected attempt of a node took.
func (s *session) pastDuration(r *executor.NodeResult) time.Duration {
	last, ok := s.view.Last[r.Address]
	if !ok {
		return 0
	}
	attempts, err := s.store.Attempts(last.Key)
	if err != nil {
		return 0
	}
	for _, at := range attempts {
		if at.Ordinal == last.Ordinal && at.Captured != nil {
			return at.Captured.Duration
		}
	}
	return 0
}

package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache/tiered"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

func (a *app) recheckCommand() *cobra.Command {
	var wait bool
	var why string
	var r remoteFlags
	cmd := &cobra.Command{
		Use:   "recheck TARGET…",
		Short: "Judge stored outputs again, without running anything",
		Long: `Judges what is stored for the targets by the contracts of today, validate commands
included, also where a verdict is recorded: a check may have been wrong that day.
No agent is paid. An edited contract needs no recheck: plan and build judge by it
by themselves. What passes now is sent to the server that machines share, if there
is one. The exit code is 1 when a target does not pass.`,
		Example: `  ufbuild recheck triage
  ufbuild recheck @failed --why "the linter was broken that day"`,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, targets []string) error { return a.runRecheck(targets, why, wait, &r) },
	}
	cmd.Flags().BoolVar(&wait, "wait", false, "wait while another ufbuild holds the campaign")
	r.bind(cmd)
	cmd.Flags().StringVar(&why, "why", "", "the reason, `TEXT`, kept with the record")
	return cmd
}

func (a *app) runRecheck(targets []string, why string, wait bool, r *remoteFlags) error {
	id := newID(time.Now())
	var stands error // the exit code: how the targets stand
	judge := func(s *session, j *journal.Journal) error {
		ids, err := s.selectTargets(targets)
		if err != nil {
			return err
		}
		asked := map[lang.Address]bool{}
		var names []lang.Address
		for _, id := range ids {
			names = append(names, s.graph.Node(id).Address)
			asked[s.graph.Node(id).Address] = true
		}
		tell := func(text string) { a.warn(errors.New(text)) }
		if err := s.reachRemote(r, id, tiered.Options{Say: tell, Tell: tell}); err != nil { // nothing is taken from there
			return err
		}
		base, only := s.toBase(ids)
		b := &executor.Builder{Decider: s.decider(), Graph: s.base, Only: only, Sink: event.Discard, Jobs: 1, After: time.After}
		b.Validator, b.Rejudge = s.validator, asked
		if s.shared != nil {
			b.Shared = s.shared
		}
		sum, err := b.Recheck(a.context(), base)
		s.sendRest(b)
		if err != nil {
			return err
		}
		rec := journal.Rechecked(id, a.who(), why, names)
		rec.Time = time.Now()
		if err := errors.Join(j.Append(rec), j.Sync()); err != nil {
			return err
		}
		stands = a.rechecked(&sum, asked)
		return nil
	}
	err := a.decideAs("recheck", id, wait, judge, func(*session) (selection, error) { return selection{}, nil }, retryFlags{noBuild: true})
	if err != nil {
		return err
	}
	return stands
}

// rechecked says how the targets stand now.
func (a *app) rechecked(sum *executor.Summary, asked map[lang.Address]bool) error {
	nodes, code := []nodeReport{}, exitOK
	var rows [][]string
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		if !asked[r.Address] {
			continue
		}
		nodes = append(nodes, reportNode(r))
		if r.State != executor.IsFresh && (r.State != executor.Awaiting || r.Cause != lang.Address{}) {
			code = exitFailed
		}
		rows = append(rows, []string{paintState(a.outTerm.Style(), r.State), r.Address.String(), stateWords(r)})
	}
	if err := a.printRechecked(nodes, rows); err != nil {
		return err
	}
	return exit(code)
}

func (a *app) printRechecked(nodes []nodeReport, rows [][]string) error {
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "nodes": nodes})
	}
	return a.outTerm.Table(a.out, nil, rows)
}

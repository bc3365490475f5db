package main

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

func (a *app) statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status [TARGET…]",
		Short: "Say how things stand, also while a build runs",
		Long: `Lists every task with its state: running, fresh, stale and why, unknown, or skipped.
It is worked out from what is on disk, never waits and never writes, so looking
changes nothing.`,
		Example: `  ufbuild status
  ufbuild status group.review
  ufbuild status --json`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, targets []string) error { return a.runStatus(targets) },
	}
}

type statusReport struct {
	SchemaVersion int             `json:"schema_version"`
	Building      *journal.Holder `json:"building,omitempty"`
	Nodes         []statusNode    `json:"nodes"`
	Paused        []pausedReport  `json:"paused,omitempty"` // accounts of which nothing may start now
	Counts        map[string]int  `json:"counts"`
}

type statusNode struct {
	nodeReport
	Running     bool   `json:"running,omitempty"`
	LastOutcome string `json:"last_outcome,omitempty"`
	LastMessage string `json:"last_message,omitempty"`
	SkippedFor  string `json:"skipped_for,omitempty"` // the task whose failure kept it from running last time
}

func (a *app) runStatus(targets []string) error {
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	ids, err := s.selectOrAll(targets)
	if err != nil {
		return err
	}
	sum, err := s.planShown(selection{ids: ids})
	if err != nil {
		return err
	}
	live, err := executor.LiveAttempts(s.store, s.campaign.Root)
	if err != nil {
		return err
	}
	running := map[lang.Address]executor.Live{}
	for _, l := range live {
		running[l.Address] = l
	}
	holder, held := journal.Held(s.campaign.Root)
	if a.json {
		return a.printStatusJSON(s, &sum, running, holder, held)
	}
	if held {
		fmt.Fprintln(a.out, holderWords(holder))
	}
	return a.printStatus(s, &sum, running)
}

func (a *app) printStatusJSON(s *session, sum *executor.Summary, running map[lang.Address]executor.Live, h journal.Holder, held bool) error {
	r := statusReport{SchemaVersion: 1, Nodes: []statusNode{}, Counts: countNames(sum.Counts), Paused: reportPauses(s.standingPauses())}
	if held {
		r.Building = &h
	}
	for i := range sum.Nodes {
		n := statusNode{nodeReport: reportNode(sum.Nodes[i])}
		_, n.Running = running[sum.Nodes[i].Address]
		last, _ := s.view.Ended(sum.Nodes[i].Address)
		n.LastOutcome, n.LastMessage = string(last.Outcome), last.Message
		if skip, ok := s.skipped(sum, sum.Nodes[i]); ok {
			n.SkippedFor = skip.Cause.String()
		}
		r.Nodes = append(r.Nodes, n)
	}
	return a.printJSON(r)
}

func (a *app) printStatus(s *session, sum *executor.Summary, running map[lang.Address]executor.Live) error {
	style := a.outTerm.Style()
	var rows [][]string
	counts := maps.Clone(sum.Counts)
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		state, words := paintState(style, r.State), stateWords(r)+s.whereWords(r)
		if l, ok := running[r.Address]; ok {
			counts[r.State]--
			counts[executor.Running]++
			state, words = style.Bold("running"), "for "+ui.Duration(time.Since(l.Attempt.StartedAt).Round(time.Second))
		} else if skip, ok := s.skipped(sum, r); ok {
			words += "; " + skipWords(skip)
		}
		rows = append(rows, []string{state, r.Address.String(), words})
	}
	if err := a.outTerm.Table(a.out, nil, rows); err != nil {
		return fmt.Errorf("write status: %w", err)
	}
	for _, p := range s.standingPauses() {
		words := style.Warn(p.String())
		if p.Until.IsZero() { // nobody knows when it is over
			words += "; a build with work for it tries it with one attempt first"
		}
		fmt.Fprintln(a.out, words)
	}
	_, err := fmt.Fprintln(a.out, sentence(sum.Total, counts))
	return err
}

// skipped says why the last build that wanted a node did not run it, if that still matters: what failed then may be gone,
// or fresh since an edit was taken back.
func (s *session) skipped(sum *executor.Summary, r *executor.NodeResult) (journal.Skip, bool) {
	if r.State != executor.WouldRun && r.State != executor.Unknown && r.State != executor.Paused {
		return journal.Skip{}, false
	}
	skip, ok := s.view.Skipped[r.Address]
	if !ok {
		return journal.Skip{}, false
	}
	return skip, slices.ContainsFunc(sum.Nodes, func(n *executor.NodeResult) bool {
		return n.Address == skip.Cause && n.State != executor.IsFresh
	})
}

func skipWords(skip journal.Skip) string {
	words := "skipped last time, as " + skip.Cause.String() + " failed"
	if skip.Message != "" {
		words += " (" + skip.Message + ")"
	}
	return shorten(words)
}

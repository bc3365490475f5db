package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache/tiered"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/graph"
)

func (a *app) planCommand() *cobra.Command {
	var detailed bool
	var budget float64
	var p pick
	var r remoteFlags
	cmd := &cobra.Command{
		Use:   "plan [TARGET…]",
		Short: "Say what a build would do, and why",
		Long: `Decides every task as a build would and says which are fresh, which are stale and
why, and which cannot be known until another has run. It uses the same function
as build, writes nothing and starts nothing, and works while a build runs. --only,
--from, --until and --budget say what they say for build.`,
		Example: `  ufbuild plan
  ufbuild plan report
  ufbuild plan --from dedupe          # the same as build --from dedupe would do
  ufbuild plan --json | jq '.nodes[] | select(.state == "stale")'
  ufbuild plan --detailed-exitcode    # exit 7 when something would run`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE: func(_ *cobra.Command, targets []string) error {
			if err := p.check(targets); err != nil {
				return err
			}
			return a.runPlan(targets, p, r, detailed, budget)
		},
	}
	p.bind(a, cmd)
	a.bindWarnings(cmd)
	r.bind(cmd)
	cmd.Flags().Var((*ceiling)(&budget), "budget", "say what would not start with this ceiling, `USD`")
	cmd.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit 7 when a build would run something")
	return cmd
}

// runPlan plans what a build with the same words would do. usd is the ceiling it would have, 0 for that of the campaign.
func (a *app) runPlan(targets []string, p pick, r remoteFlags, detailed bool, usd float64) error {
	if !p.narrows() && a.answerUnchanged(targets, reading) {
		return nil
	}
	if !p.narrows() {
		if s := a.openSlice(targets, reading); s != nil {
			err := a.runPlanIn(s, selection{ids: s.slice.ids}, r, detailed, usd)
			if !errors.Is(err, errUnsound) {
				return err
			}
		}
	}
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	sel, err := s.selectOnly(targets, p)
	if err != nil {
		return errors.Join(err, s.close())
	}
	return a.runPlanIn(s, sel, r, detailed, usd)
}

// runPlanIn plans in a session, which it closes.
func (a *app) runPlanIn(s *session, sel selection, r remoteFlags, detailed bool, usd float64) error {
	defer func() { _ = s.close() }()
	s.limit(usd)
	use := tiered.Options{Read: true, Virtual: true, Say: func(text string) { fmt.Fprintln(a.err, text) }, Tell: func(text string) { a.warn(errors.New(text)) }}
	if err := s.reachRemote(&r, "", use); err != nil {
		return err
	}
	sum, err := s.planShown(sel)
	if err != nil {
		return err
	}
	if a.json {
		err = a.printPlanJSON(s, &sum)
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
	Budgets       []budgetReport `json:"budgets,omitempty"`
}

func (a *app) printPlanJSON(s *session, sum *executor.Summary) error {
	nodes, prices := reportNodes(sum.Nodes), pricing{s: s}
	for i := range nodes {
		p, err := prices.of(sum.Nodes[i])
		if err != nil {
			return err
		}
		nodes[i].Price = p.report()
	}
	budgets, err := s.budgets(sum)
	if err != nil {
		return err
	}
	return a.printJSON(planReport{SchemaVersion: 1, Nodes: nodes, Counts: countNames(sum.Counts), Budgets: budgets})
}

func countNames(counts map[executor.State]int) map[string]int {
	out := map[string]int{}
	for st, n := range counts {
		out[st.String()] = n
	}
	return out
}

// plan decides nodes and what they need, without writing. What is stale is so whether there is money for it or not: this is for
// questions of this program, what is shown of nodes comes from planShown.
func (s *session) plan(ids []graph.NodeID) (executor.Summary, error) {
	return s.planAimed(selection{ids: ids})
}

// planAimed is plan of what a build of a selection would decide.
func (s *session) planAimed(sel selection) (executor.Summary, error) { return s.planAs(sel, false) }

// planShown decides what a build of a selection would decide, and tells what no money is left for from what is stale. Every verb that
// says how a node stands asks here, so that they agree.
func (s *session) planShown(sel selection) (executor.Summary, error) { return s.planAs(sel, true) }

func (s *session) planAs(sel selection, funded bool) (executor.Summary, error) {
	d := s.decider()
	if s.shared != nil && s.held == nil { // one that writes would take what it finds
		d.Shared = s.shared
	}
	b := &executor.Builder{Decider: d, Graph: s.base, Sink: event.Discard, Jobs: 1, After: time.After}
	s.equip(b)
	if funded {
		b.Funded = true
		if err := s.fundBy(b); err != nil {
			return executor.Summary{}, err
		}
	}
	sum, err := b.Plan(s.app.context(), s.aim(b, sel))
	if err == nil && sum.Unsound != nil {
		err = errUnsound
	}
	if err != nil {
		return sum, err
	}
	if sum.Stopped { // half a plan is no answer
		return sum, exit(s.app.signalCode())
	}
	return sum, s.tellRunning(&sum)
}

// tellRunning tells attempts that are under way from interrupted ones, which look the same in the store.
func (s *session) tellRunning(sum *executor.Summary) error {
	live, err := executor.LiveAttempts(s.store, s.campaign.Root)
	if err != nil {
		return err
	}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		runs := slices.ContainsFunc(live, func(l executor.Live) bool { return l.Address == r.Address && l.Attempt.Key == r.Key })
		if runs && (r.Reason.Kind == executor.Interrupted || r.Reason.Kind == executor.NotStoredYet) {
			r.Reason = &executor.Reason{Kind: executor.RunsNow, Ordinal: r.Reason.Ordinal}
		}
	}
	return nil
}

func (a *app) printPlan(s *session, sum *executor.Summary) error {
	style := a.outTerm.Style()
	var rows [][]string
	var total priceSum
	prices := pricing{s: s}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		if r.State == executor.IsFresh && len(r.Differ)+len(r.Warnings) == 0 && !r.Found {
			continue
		}
		p, err := prices.of(r)
		if err != nil {
			return err
		}
		if r.State != executor.Paused {
			total.add(&p)
		}
		rows = append(rows, []string{paintState(style, r.State), r.Address.String(), stateWords(r) + s.whereWords(r), p.words()})
	}
	if err := a.outTerm.Table(a.out, nil, rows); err != nil {
		return fmt.Errorf("write plan: %w", err)
	}
	printFailures(a.out, style, s.loaded, sum)
	printLeftOutHint(a.out, sum)
	budgets, err := s.budgets(sum)
	if err != nil {
		return err
	}
	printBudgets(a.out, budgets)
	_, err = fmt.Fprintln(a.out, sentence(sum.Total, sum.Counts)+total.words())
	return err
}

// spentWords is a time, with the money where any was spent.
func spentWords(d time.Duration, usd *float64) string {
	if usd == nil || *usd == 0 {
		return ui.Duration(d)
	}
	return ui.Duration(d) + ", " + ui.Money(usd)
}

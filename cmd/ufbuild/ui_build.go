package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// Plan implements web.Decider.
func (p *pages) Plan(_ context.Context, w web.Work) (*web.Plan, error) {
	a, words := p.app.quiet()
	s, err := a.openSession(reading)
	if err != nil {
		return nil, withWords(err, words)
	}
	defer func() { _ = s.close() }()
	sel, err := s.selectOnly(w.Targets, pick{})
	if err != nil {
		return nil, withWords(err, words)
	}
	plan, err := s.webPlan(sel)
	return plan, withWords(err, words)
}

// webPlan is what a build of a selection would run.
func (s *session) webPlan(sel selection) (*web.Plan, error) {
	sum, err := s.planShown(sel)
	if err != nil {
		return nil, err
	}
	plan := &web.Plan{Nodes: []web.PlannedNode{}}
	var exact bytes.Buffer
	var total priceSum
	prices := pricing{s: s}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		if r.State != executor.WouldRun && r.State != executor.Unknown {
			continue
		}
		price, err := prices.of(r)
		if err != nil {
			return nil, err
		}
		total.add(&price)
		n := web.PlannedNode{Address: r.Address.String(), State: r.State.String(), Words: stateWords(r), Price: price.words()}
		if task, ok := s.campaign.Task(r.Address.Task); ok && task.Kind == lang.Prompt {
			n.Paid = true
			plan.Paid++
		}
		plan.Nodes = append(plan.Nodes, n)
		fmt.Fprintf(&exact, "%s %s %s\n", n.Address, n.State, r.Key)
	}
	plan.Price = sentence(sum.Total, sum.Counts) + total.words()
	plan.Agreed = digest.Of(exact.Bytes()).String()
	return plan, nil
}

// Build implements web.Decider. It returns when the build starts.
func (p *pages) Build(_ context.Context, w web.Work) (web.Done, error) {
	if w.Agreed == "" {
		return web.Done{}, usageErrorf("a build needs the plan that was agreed to")
	}
	return p.behind("The build", func(a *app, told func(string)) error {
		return a.runBuild("build", p.flags, func(s *session) (selection, error) {
			sel, err := s.selectOnly(w.Targets, pick{})
			if err != nil {
				return sel, err
			}
			plan, err := s.webPlan(sel)
			switch {
			case err != nil:
				return sel, err
			case plan.Agreed != w.Agreed:
				return sel, errOtherList
			}
			told("the build of " + ui.Count(len(plan.Nodes), "task") + " starts")
			return sel, nil
		})
	})
}

// Order implements web.Decider. It returns when the build has heard.
func (p *pages) Order(_ context.Context, o web.Order) (web.Done, error) {
	a, words := p.app.quiet()
	want := journal.Want(o.Want)
	if want != journal.WantHold && want != journal.WantGo && want != journal.WantStop {
		return web.Done{}, usageErrorf("there is no order %q", o.Want)
	}
	opts, _, err := a.options()
	if err != nil {
		return web.Done{}, withWords(err, words)
	}
	root, _, err := lang.Locate(opts) // a campaign that an edit broke has a build to be stopped all the same
	if err != nil {
		return web.Done{}, usageErrorf("%w", err)
	}
	if h, held := journal.Held(root); held && h.Build != o.Build {
		return web.Done{}, usageErrorf("another build runs now than the one that was looked at\nhint: look again")
	}
	h, ended, err := a.give(root, want, o.Why)
	if err != nil {
		return web.Done{}, withWords(err, words)
	}
	return web.Done{Words: fmt.Sprintf("the %s of %s %s", h.Verb, h.Who, orderedWords(want, ended))}, nil
}

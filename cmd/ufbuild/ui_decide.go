package main

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
)

// Price implements web.Decider.
func (p *pages) Price(_ context.Context, r web.Retry) (*web.Price, error) {
	a, words := p.app.quiet()
	s, err := a.openSession(reading)
	if err != nil {
		return nil, withWords(err, words)
	}
	defer func() { _ = s.close() }()
	inv, err := s.cone(r.Targets, r.Alone)
	if err == nil {
		err = s.refusePinned(inv)
	}
	if err != nil {
		return nil, withWords(err, words)
	}
	if len(inv.Nodes) == 0 {
		return nil, usageErrorf("there is nothing to retry")
	}
	price := &web.Price{Price: retryPrice(inv.Listed()), Agreed: agreed(inv)}
	for _, n := range inv.Listed() {
		node := retriedNodeOf(n)
		price.Nodes = append(price.Nodes, web.PricedNode(node))
	}
	return price, nil
}

// agreed names exactly a list: the tasks and the attempts that they lose.
func agreed(inv executor.Invalidation) string {
	var b bytes.Buffer
	for _, n := range inv.Nodes {
		fmt.Fprintf(&b, "%s %s %d\n", n.Address, n.Key, n.Selected)
	}
	return digest.Of(b.Bytes()).String()
}

// Retry implements web.Decider. It returns when the results are discarded; a build goes on behind it.
func (p *pages) Retry(_ context.Context, r web.Retry) (web.Done, error) {
	if r.Agreed == "" || len(r.Targets) == 0 {
		return web.Done{}, usageErrorf("a retry needs targets and the list that was agreed to")
	}
	return p.behind("The build after the retry of "+strings.Join(r.Targets, ", "), func(a *app, told func(string)) error {
		f := retryFlags{buildFlags: p.flags, alone: r.Alone, noBuild: !r.Build, why: r.Why}
		f.agree = func(inv executor.Invalidation) error {
			if agreed(inv) != r.Agreed {
				return errOtherList
			}
			return nil
		}
		f.told = func(inv executor.Invalidation) {
			words := ui.Count(len(inv.Listed()), "task") + " discarded"
			if r.Build {
				words += "; the build starts"
			}
			told(words)
		}
		return a.runRetry(r.Targets, f)
	})
}

// errOtherList refuses a yes to something else.
var errOtherList = usageErrorf("the list is not the one that was agreed to: something changed meanwhile\nhint: look again")

// behind runs what may build, and returns when it says what was done; it goes on behind the answer. What becomes of
// it is noted on the page when that is not good. It can be cancelled without the server.
func (p *pages) behind(what string, run func(a *app, told func(words string)) error) (web.Done, error) {
	a, words := p.app.quiet()
	stop, end := p.app.stopApart()
	a.stop = stop
	told, ended := make(chan web.Done, 1), make(chan error, 1)
	p.tell("")
	p.builds.Go(func() {
		defer end()
		err := guarded(func() error { return run(a, func(words string) { told <- web.Done{Words: words} }) })
		if err = withWords(err, words); err != nil {
			p.tell(what + ": " + lastLine(err.Error()))
		}
		ended <- err
	})
	select {
	case done := <-told:
		return done, nil
	case err := <-ended:
		select {
		case done := <-told: // both at once: it was done
			return done, nil
		default:
		}
		p.tell("") // the answer says it
		return web.Done{Words: "nothing to do"}, err
	}
}

// guarded turns a panic into an error: the server and other pages go on.
func guarded(do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("this is a bug in ufbuild: %v", cause)
		}
	}()
	return do()
}

// lastLine is the summary at the end of what a build prints.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// Decide implements web.Decider.
func (p *pages) Decide(_ context.Context, d web.Decision) (web.Done, error) {
	a, words := p.app.quiet()
	err := guarded(func() error { return a.decideOnPage(d) })
	if err != nil {
		return web.Done{}, withWords(err, words)
	}
	return web.Done{Words: d.Verb + " is recorded"}, nil
}

func (a *app) decideOnPage(d web.Decision) error {
	if d.Address == "" && d.Verb != "undo" {
		return usageErrorf("name a task")
	}
	switch d.Verb {
	case "approve", "deny":
		if d.Asks == "" {
			return usageErrorf("name the bytes that were looked at")
		}
		return a.runWord(d.Address, approveFlags{yes: true, denied: d.Verb == "deny", why: d.Why, seen: d.Asks})
	case "accept", "pin", "unpin":
		return a.runRuling(journal.Word(d.Verb), []string{d.Address}, approveFlags{why: d.Why})
	case "select":
		return a.runRuling(journal.Select, []string{fmt.Sprintf("%s@%d", d.Address, d.N)}, approveFlags{why: d.Why})
	case "undo":
		if d.ID == "" {
			return usageErrorf("there is nothing to undo")
		}
		return a.runUndo(d.ID, retryFlags{noBuild: true})
	}
	return usageErrorf("there is no verb %q here", d.Verb)
}

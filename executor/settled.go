package executor

import (
	"context"
	"fmt"
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// Settled is how a node is fresh of which that is known. Nothing that it rests on has changed since it was decided.
type Settled struct {
	Attempt   journal.Attempt // that made it fresh
	Inherited bool            // its trees record what they changed of others: [NodeResult.Inherited] when it was decided
}

// settle ends the nodes that need no decision.
func (s *scheduler) settle(ctx context.Context) {
	for _, id := range s.order {
		known, ok := s.b.Settled[id]
		if !ok || s.unsound != nil {
			continue
		}
		at, found, err := findAttempt(s.b.Store, known.Attempt)
		if err == nil && (!found || at.Captured == nil) {
			err = fmt.Errorf("attempt %d of %s is not in the store", known.Attempt.Ordinal, s.graph.Node(id).Address)
		}
		if err != nil {
			s.unsound = err
			s.stopShort()
			return
		}
		s.settleBy(ctx, id, at, known.Inherited)
	}
}

func (s *scheduler) settleBy(ctx context.Context, id graph.NodeID, at cache.Attempt, inherited bool) {
	n := s.nodes[id]
	s.set(id, Deciding)
	n.waiting = 0
	n.result.Key, n.result.Ordinal = at.Key, at.Ordinal
	n.left = leftOf(outputSpecs(s.graph.Node(id).Instance), at, inherited)
	n.placed, n.placedAt = at.Captured.Outputs, s.b.Now().UnixNano()
	if !s.plan && s.b.Account != nil {
		s.b.Account(accountOf(s.b.Campaign, s.graph.Node(id).Instance, at, true))
	}
	s.done(ctx, id, IsFresh)
}

// restsOnSettled reports whether a node reads what a settled one left. Its damage may be there, and that is only known by deciding
// nodes that the graph may not have.
func (s *scheduler) restsOnSettled(id graph.NodeID) bool {
	for _, e := range s.graph.Deps(id) {
		if _, ok := s.b.Settled[e.To]; ok && e.Kind != graph.Validation {
			return true
		}
	}
	return false
}

// giveUpSettled ends a build that met damaged bytes beside settled nodes. What runs goes on to its end and is kept.
func (s *scheduler) giveUpSettled(ctx context.Context, id graph.NodeID, err error) {
	s.unsound = err
	if s.plan {
		s.fail(ctx, id, cache.Infra, err.Error())
		return
	}
	s.stopShort()
	if !s.nodes[id].state.Final() {
		s.cancel(id)
	}
}

// stopShort starts nothing more.
func (s *scheduler) stopShort() {
	s.halt("all has to be decided anew")
	for _, id := range s.order {
		if st := s.nodes[id].state; s.plan && st == Waiting {
			s.cancel(id)
		}
	}
}

// AccountHit tells the account that an attempt is read again whose node is not in the graph. profile is that of its task, nil for
// a command, and pool the task's own.
func (b *Builder) AccountHit(at journal.Attempt, profile *lang.Profile, pool string) error {
	if b.Account == nil {
		return nil
	}
	found, ok, err := findAttempt(b.Store, at)
	if ok && err == nil {
		b.Account(accountOf(b.Campaign, &lang.Instance{Settings: &lang.Settings{Profile: profile, Pool: pool}}, found, true))
	}
	return err
}

// TouchBeyond is a file of a node that is not in the graph.
type TouchBeyond struct {
	place.Touch
	Owner lang.Address // zero where it is of no node
	Quiet bool         // somebody else tells of it, or nobody, when a task of this build did that
}

// overOutputsBeyond is overOutputs for nodes that are not in the graph. What nobody looked at before may have been changed by then: that
// is no work of a task, and nobody decided without it.
func (s *scheduler) overOutputsBeyond() []Trespass {
	w := &s.b.witness
	if s.b.Touched == nil || !s.b.Unseen && !slices.ContainsFunc(w.runs, func(st *stay) bool { return st.roams }) {
		return nil
	}
	var out []Trespass
	for _, t := range s.b.Touched() {
		by := w.suspects(t.At, t.Owner)
		switch {
		case len(by) == 0 && s.b.Unseen && s.unsound == nil:
			s.unsound = fmt.Errorf("%s was %s before", t.Path, t.What)
		case len(by) > 0 && !t.Quiet:
			out = append(out, Trespass{Path: t.Path, What: t.What, Owner: t.Owner, By: by})
		}
	}
	return out
}

package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/graph"
)

// rulings describe the verbs by which a person chooses an attempt.
var rulings = map[journal.Word]struct{ use, short, long, example string }{
	journal.Accept: {
		"accept TARGET[@N]", "Say that an edit, or a failing check, does not matter",
		`Selects for the task as it is now the attempt whose check failed, or else its last
good one from before an edit, or attempt N of "show --history". It counts in this
campaign, for exactly this key and these failures: another edit is decided anew.
Nothing runs; undo takes it back.`,
		`  ufbuild accept triage --why "only reworded"
  ufbuild accept triage@2 --why "short, and right"`,
	},
	journal.Select: {
		"select TARGET@N", "Read one attempt instead of another",
		`Selects the N-th attempt of a task, as "show --history" numbers them, for the task
as it is now. Nothing runs; undo takes it back.`,
		`  ufbuild show triage --history
  ufbuild select triage@2 --why "the better of the two"`,
	},
	journal.Pin: {
		"pin TARGET[@N]", "Hold the attempt that a task reads",
		`Holds what the task reads now, or has it read attempt N and holds that: a retry of it
is refused until unpin or undo. It counts for the task as it is now; an edit is decided
anew.`,
		`  ufbuild pin triage --why "the report quotes it"
  ufbuild pin triage@2 --why "the better of the two"`,
	},
	journal.Unpin: {
		"unpin TARGET", "Let a pinned task go",
		`Takes back a pin. The task goes on reading what it reads.`,
		`  ufbuild unpin triage`,
	},
}

func (a *app) rulingCommand(word journal.Word) *cobra.Command {
	var f approveFlags
	of := rulings[word]
	cmd := &cobra.Command{
		Use: of.use, Short: of.short, Long: of.long, Example: of.example,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, args []string) error { return a.runRuling(word, args[0], f) },
	}
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait while another ufbuild holds the campaign")
	cmd.Flags().StringVar(&f.why, "why", "", "the reason, `TEXT`, kept with the record")
	return cmd
}

func (a *app) runRuling(word journal.Word, target string, f approveFlags) error {
	rule := func(s *session, j *journal.Journal) error { return a.rule(s, j, word, target, f.why) }
	return a.decideAs(string(word), newID(time.Now()), f.wait, rule, func(*session) (selection, error) { return selection{}, nil }, retryFlags{noBuild: true})
}

func (a *app) rule(s *session, j *journal.Journal, word journal.Word, target, why string) error {
	c, err := s.choose(target)
	if err != nil {
		return err
	}
	node, err := s.planOf(c)
	if err != nil {
		return err
	}
	before, _ := s.view.Selected(c.address)
	r := journal.Ruling{
		ID: newID(time.Now()), Address: c.address, Word: word, For: node.Key, Who: a.who(), Why: why, Time: time.Now(),
		Before: before,
	}
	switch word {
	case journal.Select:
		if _, n := s.splitNumber(target); n == 0 {
			return usageErrorf("select needs the number of an attempt, such as %s@1\nhint: `ufbuild show %s --history` lists them", target, target)
		}
	case journal.Accept:
		if node.State == executor.IsFresh {
			return usageErrorf("%s is fresh, so there is nothing to accept\nhint: accept is about edits of the campaign; outputs that were edited by hand are kept with keep_edits", c.address)
		}
		if c, err = s.acceptable(c, node, target); err != nil {
			return err
		}
	case journal.Pin:
		if node.State != executor.IsFresh {
			return usageErrorf("%s is not fresh, so there is nothing to hold\nhint: build it, or choose an attempt with select", c.address)
		}
		if _, n := s.splitNumber(target); n == 0 {
			if c, err = s.readNow(c, node); err != nil {
				return err
			}
		}
	case journal.Unpin:
		if _, pinned := s.view.PinOf(c.address, journal.Attempt{Key: c.gen.Attempt.Key, Ordinal: c.gen.Attempt.Ordinal}); !pinned {
			return usageErrorf("%s is not pinned\nhint: `ufbuild show %s --history` lists the decisions about it", c.address, quoteTarget(c.address))
		}
	}
	return a.writeRuling(s, j, r, c, executor.Documents(node.Compared))
}

func (a *app) writeRuling(s *session, j *journal.Journal, r journal.Ruling, c chosen, others []contract.Document) error {
	at := c.gen.Attempt
	if at.Captured == nil {
		return usageErrorf("attempt %d of %s left nothing that could be read\nhint: `ufbuild show %s --history` lists the others", c.gen.N, c.address, quoteTarget(c.address))
	}
	r.Attempt = journal.Attempt{Key: at.Key, Ordinal: at.Ordinal}
	inst, _ := s.instance(c.address)
	key, err := contract.KeyOf(inst.Outputs, executor.ContractFiles{Files: s.files}, at.Captured.Outputs, others...)
	if err != nil {
		return err
	}
	r.Verdict = key
	if err := j.Append(journal.Ruled(r)); err != nil {
		return err
	}
	if err := j.Sync(); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "id": r.ID, "verb": r.Word, "address": c.address.String(), "n": c.gen.N})
	}
	fmt.Fprintf(a.out, "%s: attempt %d of %s\n", r.Word, c.gen.N, c.address)
	return nil
}

// planOf says how the node stands. Its key has to be known: a ruling is for a key.
func (s *session) planOf(c chosen) (*executor.NodeResult, error) {
	id, _ := s.graph.Find(c.address)
	sum, err := s.plan([]graph.NodeID{id})
	if err != nil {
		return nil, err
	}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		switch {
		case r.Address != c.address || r.Key.IsZero():
		case c.have:
			return r, nil
		case r.State == executor.IsFresh:
			return nil, usageErrorf("%s was found in the store, and no build here has taken it up yet\nhint: `ufbuild build %s` first", c.address, quoteTarget(c.address))
		}
	}
	return nil, usageErrorf("%s cannot be decided about yet\nhint: `ufbuild plan %s` says what has to run first", c.address, quoteTarget(c.address))
}

// readNow is the attempt that the node reads. What was selected last is another one where the campaign was edited since and
// nothing was built.
func (s *session) readNow(c chosen, node *executor.NodeResult) (chosen, error) {
	reads := readsNow(node)
	gens, err := s.generations(c.address)
	if err != nil {
		return c, err
	}
	for _, g := range gens {
		if g.Attempt.Key == reads.Key && g.Attempt.Ordinal == reads.Ordinal {
			c.gen = g
			return c, nil
		}
	}
	return c, usageErrorf("%s reads what was found in the store, and no build has taken it up yet\nhint: `ufbuild build %s` first", c.address, quoteTarget(c.address))
}

// acceptable finds what accept selects: the attempt that the target names, else what failed a check under the key of now, else
// the last good one.
func (s *session) acceptable(c chosen, node *executor.NodeResult, target string) (chosen, error) {
	good := []cache.Outcome{cache.OK, cache.Partial}
	if _, n := s.splitNumber(target); n != 0 {
		if o := c.gen.Attempt.Outcome; slices.Contains(good, o) || o == cache.Rejected && c.gen.Attempt.Key == node.Key {
			return c, nil
		}
		return c, usageErrorf("%s cannot be accepted: it is %s\nhint: `ufbuild show %s --history` lists the others", c.label(), outcomeWords(&c.gen.Attempt), quoteTarget(c.address))
	}
	gens, err := s.generations(c.address)
	if err != nil {
		return c, err
	}
	for _, now := range []bool{true, false} {
		for _, g := range slices.Backward(gens) {
			passes := slices.Contains(good, g.Attempt.Outcome) || now && g.Attempt.Outcome == cache.Rejected
			if passes && !g.Retried && (!now || g.Attempt.Key == node.Key) {
				c.gen = g
				return c, nil
			}
		}
	}
	return c, usageErrorf("%s has no attempt that could be accepted\nhint: `ufbuild show %s --history` lists what there is", c.address, quoteTarget(c.address))
}

// undoRuling takes back the last ruling.
func (a *app) undoRuling(j *journal.Journal, id string, r journal.Ruling) error {
	rec := journal.Unruled(id, a.who(), r)
	rec.Time = time.Now()
	if err := j.Append(rec); err != nil {
		return err
	}
	if err := j.Sync(); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(undoneReport{SchemaVersion: 1, ID: id, Undoes: r.ID, Restored: []string{r.Address.String()}})
	}
	fmt.Fprintf(a.out, "took back the %s of %s by %s: %s\n", r.Word, dateWords(r.Time), r.Who, r.Address)
	return nil
}

// refusePinned keeps a retry from discarding what a person holds.
func (s *session) refusePinned(inv executor.Invalidation) error {
	for _, n := range inv.Nodes {
		if r, pinned := s.view.PinOf(n.Address, journal.Attempt{Key: n.Key, Ordinal: n.Selected}); pinned {
			return usageErrorf("%s is pinned by %s\nhint: `ufbuild unpin %s` lets it go; --no-cone leaves it alone", n.Address, r.Who, quoteTarget(n.Address))
		}
	}
	return nil
}

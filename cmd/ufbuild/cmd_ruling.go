package main

import (
	"fmt"
	"slices"
	"strings"
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
		"accept TARGET[@N]…", "Say that an edit, or a failing check, does not matter",
		`Selects for the task as it is now the attempt whose check failed, or else its last
good one from before an edit, or attempt N of "show --history". It counts in this
campaign, for exactly this key and these failures: another edit is decided anew.
Of a target that names several tasks, what is fresh is left out. Nothing runs; undo
takes all of it back.`,
		`  ufbuild accept triage --why "only reworded"
  ufbuild accept triage@2 --why "short, and right"
  ufbuild accept lens triage --why "a typo in the prompts"`,
	},
	journal.Select: {
		"select TARGET@N…", "Read one attempt instead of another",
		`Selects the N-th attempt of a task, as "show --history" numbers them, for the task
as it is now. With several targets all are selected, or none. Nothing runs; undo takes
all of it back.`,
		`  ufbuild show triage --history
  ufbuild select triage@2 --why "the better of the two"`,
	},
	journal.Pin: {
		"pin TARGET[@N]…", "Hold the attempt that a task reads",
		`Holds what the task reads now, or has it read attempt N and holds that: a retry of it
is refused until unpin or undo. It counts for the task as it is now; an edit is decided
anew. Of several targets all are held, or none.`,
		`  ufbuild pin triage --why "the report quotes it"
  ufbuild pin triage@2 --why "the better of the two"`,
	},
	journal.Unpin: {
		"unpin TARGET…", "Let a pinned task go",
		`Takes back a pin. The task goes on reading what it reads. Of a target that names several
tasks, what is not pinned is left out.`,
		`  ufbuild unpin triage`,
	},
}

func (a *app) rulingCommand(word journal.Word) *cobra.Command {
	var f approveFlags
	of := rulings[word]
	cmd := &cobra.Command{
		Use: of.use, Short: of.short, Long: of.long, Example: of.example,
		Args:              cobra.MinimumNArgs(1),
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, args []string) error { return a.runRuling(word, args, f) },
	}
	cmd.Flags().BoolVar(&f.wait, "wait", false, "wait while another ufbuild holds the campaign")
	cmd.Flags().StringVar(&f.why, "why", "", "the reason, `TEXT`, kept with the record")
	return cmd
}

func (a *app) runRuling(word journal.Word, targets []string, f approveFlags) error {
	rule := func(s *session, j *journal.Journal) error { return a.rule(s, j, word, targets, f.why) }
	return a.decideAs(string(word), newID(time.Now()), f.wait, rule, func(*session) (selection, error) { return selection{}, nil }, retryFlags{noBuild: true})
}

// rule says one word of all that the targets name, or of nothing: who names several sees what is chosen for each.
func (a *app) rule(s *session, j *journal.Journal, word journal.Word, targets []string, why string) error {
	picks, err := s.pickAll(word, targets)
	if err != nil {
		return err
	}
	id, now := newID(time.Now()), time.Now()
	rulings := make([]journal.Ruling, len(picks))
	rows := make([][]string, len(picks))
	for i := range picks {
		p := &picks[i]
		if rulings[i], err = s.rulingOf(p); err != nil {
			return err
		}
		r := &rulings[i]
		r.ID, r.Word, r.Who, r.Why, r.Time = id, word, a.who(), why, now
		rows[i] = []string{p.address.String(), fmt.Sprintf("attempt %d", p.gen.N), outcomeWords(&p.gen.Attempt)}
	}
	if len(rows) > 1 {
		if err := a.errTerm.Table(a.err, []string{"task", string(word), "which is"}, rows); err != nil {
			return err
		}
	}
	if err := j.Append(journal.Ruled(rulings[0], rulings[1:]...)); err != nil {
		return err
	}
	if err := j.Sync(); err != nil {
		return err
	}
	return a.tellRuled(id, word, picks)
}

// ruledReport is a ruling in JSON. Address and N are those of the first one.
type ruledReport struct {
	SchemaVersion int           `json:"schema_version"`
	ID            string        `json:"id"`
	Verb          journal.Word  `json:"verb"`
	Address       string        `json:"address"`
	N             int           `json:"n"`
	Attempts      []ruledChoice `json:"attempts"`
}

type ruledChoice struct {
	Address string `json:"address"`
	N       int    `json:"n"`
}

func (a *app) tellRuled(id string, word journal.Word, picks []ruledOn) error {
	r := ruledReport{SchemaVersion: 1, ID: id, Verb: word, Address: picks[0].address.String(), N: picks[0].gen.N}
	for i := range picks {
		r.Attempts = append(r.Attempts, ruledChoice{picks[i].address.String(), picks[i].gen.N})
	}
	if a.json {
		return a.printJSON(r)
	}
	for _, c := range r.Attempts {
		fmt.Fprintf(a.out, "%s: attempt %d of %s\n", word, c.N, c.Address)
	}
	return nil
}

// ruledOn is the attempt of an instance that a ruling is about, and how the instance stands.
type ruledOn struct {
	chosen
	node *executor.NodeResult
}

// pickAll finds what a ruling of targets is about. Of a target that names several, accept leaves out what is fresh, and unpin what
// nobody holds: there is nothing to say of it.
func (s *session) pickAll(word journal.Word, targets []string) ([]ruledOn, error) {
	var all []graph.NodeID
	several, numbers := map[graph.NodeID]bool{}, map[graph.NodeID]int{}
	for _, target := range targets {
		ids, n, err := s.chooseAll(target)
		if err != nil {
			return nil, err
		}
		if word == journal.Select && n == 0 {
			return nil, usageErrorf("select needs the number of an attempt, such as %s@1\nhint: `ufbuild show %s --history` lists them", target, target)
		}
		for _, id := range ids {
			if had, ok := numbers[id]; !ok {
				all = append(all, id)
			} else if had != n {
				return nil, usageErrorf("%s is named twice, with different attempts", s.graph.Node(id).Address)
			}
			numbers[id], several[id] = n, len(ids) > 1
		}
	}
	sum, err := s.plan(all)
	if err != nil {
		return nil, err
	}
	var picks []ruledOn
	for _, id := range all {
		c, err := s.chosenAt(id, numbers[id])
		if err != nil {
			return nil, err
		}
		p, ok, err := s.pick(word, c, &sum, several[id])
		if err != nil {
			return nil, err
		}
		if ok {
			picks = append(picks, p)
		}
	}
	if len(picks) == 0 {
		return nil, usageErrorf("there is nothing to %s in %s\nhint: `ufbuild status` shows how each task stands", word, strings.Join(targets, " "))
	}
	return picks, nil
}

// pick finds what a ruling of one instance is about; false where there is nothing to say of one of several.
func (s *session) pick(word journal.Word, c chosen, sum *executor.Summary, several bool) (p ruledOn, ok bool, err error) {
	node, err := planOf(c, sum)
	if err != nil {
		return p, false, err
	}
	switch word {
	case journal.Accept:
		switch {
		case node.State == executor.IsFresh && several:
			return p, false, nil
		case node.State == executor.IsFresh:
			return p, false, usageErrorf("%s is fresh, so there is nothing to accept\nhint: accept is about edits of the campaign; outputs that were edited by hand are kept with keep_edits", c.address)
		}
		c, err = s.acceptable(c, node)
	case journal.Pin:
		switch {
		case node.State != executor.IsFresh:
			return p, false, usageErrorf("%s is not fresh, so there is nothing to hold\nhint: build it, or choose an attempt with select", c.address)
		case c.n == 0:
			c, err = s.readNow(c, node)
		}
	case journal.Unpin:
		if _, pinned := s.view.PinOf(c.address, journal.Attempt{Key: c.gen.Attempt.Key, Ordinal: c.gen.Attempt.Ordinal}); !pinned {
			if several {
				return p, false, nil
			}
			return p, false, usageErrorf("%s is not pinned\nhint: `ufbuild show %s --history` lists the decisions about it", c.address, quoteTarget(c.address))
		}
	}
	return ruledOn{c, node}, err == nil, err
}

// rulingOf is what a ruling says of an instance, whatever its word.
func (s *session) rulingOf(p *ruledOn) (journal.Ruling, error) {
	at := p.gen.Attempt
	if at.Captured == nil {
		return journal.Ruling{}, usageErrorf("attempt %d of %s left nothing that could be read\nhint: `ufbuild show %s --history` lists the others", p.gen.N, p.address, quoteTarget(p.address))
	}
	inst, _ := s.instance(p.address)
	key, err := contract.KeyOf(inst.Outputs, executor.ContractFiles{Files: s.files}, at.Captured.Outputs, executor.Documents(p.node.Compared)...)
	if err != nil {
		return journal.Ruling{}, err
	}
	before, _ := s.view.Selected(p.address)
	return journal.Ruling{
		Attempt: journal.Attempt{Key: at.Key, Ordinal: at.Ordinal}, Address: p.address, For: p.node.Key, Verdict: key, Before: before,
	}, nil
}

// planOf says how the node stands. Its key has to be known: a ruling is for a key.
func planOf(c chosen, sum *executor.Summary) (*executor.NodeResult, error) {
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
func (s *session) acceptable(c chosen, node *executor.NodeResult) (chosen, error) {
	good := []cache.Outcome{cache.OK, cache.Partial}
	if c.n != 0 {
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

// undoRuling takes back the last ruling, and what was said together with it.
func (a *app) undoRuling(j *journal.Journal, id string, r journal.Ruling, all []journal.Ruling) error {
	rec := journal.Unruled(id, a.who(), r)
	rec.Time = time.Now()
	if err := j.Append(rec); err != nil {
		return err
	}
	if err := j.Sync(); err != nil {
		return err
	}
	var names []string
	for _, of := range all {
		names = append(names, of.Address.String())
	}
	if a.json {
		return a.printJSON(undoneReport{SchemaVersion: 1, ID: id, Undoes: r.ID, Restored: names})
	}
	fmt.Fprintf(a.out, "took back the %s of %s by %s: %s\n", r.Word, dateWords(r.Time), r.Who, strings.Join(names, ", "))
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

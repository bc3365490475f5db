package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// decisionReport is what a person did to a task, in the JSON of show --history.
type decisionReport struct {
	Word   string    `json:"decision"`
	N      int       `json:"n,omitempty"` // the attempt in the history, where there was one
	Who    string    `json:"who"`
	When   time.Time `json:"when"`
	Why    string    `json:"why,omitempty"`
	ID     string    `json:"id,omitempty"`
	Undoes string    `json:"undoes,omitempty"`
	Undone bool      `json:"undone,omitempty"`
}

// reportDecisions are the decisions of persons over a task, oldest first.
func (s *session) reportDecisions(a lang.Address) ([]decisionReport, error) {
	attempts, err := s.view.History(a)
	if err != nil {
		return nil, err
	}
	decisions, err := s.view.Decisions()
	if err != nil {
		return nil, err
	}
	number := map[journal.Attempt]int{}
	for i, at := range attempts {
		number[at] = i + 1
	}
	out := []decisionReport{}
	for _, d := range decisions[a] {
		out = append(out, decisionReport{
			Word: d.Word, N: number[d.Attempt], Who: d.Who, When: d.Time, Why: d.Why, ID: d.ID, Undoes: d.Undoes, Undone: d.Undone,
		})
	}
	return out, nil
}

// saidWords are what persons did of which a result is read.
var saidWords = map[string]string{"accept": "accepted", "select": "selected", "pin": "pinned", "unpin": "unpinned", "approve": "approved"}

// readsNow is the attempt that a fresh node reads. It is of another key than the node's where a person chose it.
func readsNow(r *executor.NodeResult) journal.Attempt {
	if r.From != nil {
		return journal.Attempt{Key: *r.From, Ordinal: r.Ordinal}
	}
	return journal.Attempt{Key: r.Key, Ordinal: r.Ordinal}
}

// sayWhoChose adds which attempt a fresh node reads, and the standing words of persons by which it does.
func (s *session) sayWhoChose(n *whyNode, r *executor.NodeResult) error {
	if r.State != executor.IsFresh {
		return nil
	}
	reads := readsNow(r)
	gens, err := s.generations(r.Address)
	if err != nil {
		return err
	}
	for _, g := range gens {
		if g.Attempt.Key != reads.Key || g.Attempt.Ordinal != reads.Ordinal {
			continue
		}
		n.Attempt = g.N
		if rl, ok := s.view.RulingOf(r.Address, r.Key); ok && rl.Attempt == reads {
			n.Decisions = append(n.Decisions, decisionReport{Word: string(rl.Word), N: g.N, Who: rl.Who, When: rl.Time, Why: rl.Why, ID: rl.ID})
			if let, held := s.view.PinOf(r.Address, reads); rl.Word == journal.Pin && !held {
				n.Decisions = append(n.Decisions, decisionReport{Word: string(let.Word), N: g.N, Who: let.Who, When: let.Time, Why: let.Why, ID: let.ID})
			}
		}
		inst, ok := s.instance(r.Address)
		if !ok || len(executor.NeedApproval(inst.Outputs)) == 0 || g.Attempt.Captured == nil {
			break
		}
		if said, ok := s.view.ApprovalOf(r.Address, executor.ApprovalDigest(inst.Outputs, g.Attempt.Captured.Outputs)); ok && !said.Denied {
			n.Decisions = append(n.Decisions, decisionReport{Word: "approve", N: g.N, Who: said.Who, When: said.Time, Why: said.Why, ID: said.ID})
		}
	}
	if r.From != nil {
		n.AttemptKey = r.From.String()
	}
	return nil
}

// printDecisions lists them below the attempts.
func (a *app) printDecisions(s *session, addr lang.Address) error {
	decisions, err := s.reportDecisions(addr)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, d := range decisions {
		word, n := d.Word, ""
		if d.Undone {
			word += ", taken back"
		}
		if d.N > 0 {
			n = "@" + strconv.Itoa(d.N)
		}
		rows = append(rows, []string{word, n, dateWords(d.When), d.Who, d.Why})
	}
	if len(rows) == 0 {
		return nil
	}
	fmt.Fprintln(a.out)
	return a.outTerm.Table(a.out, []string{"decision", "of", "when", "who", "why"}, rows)
}

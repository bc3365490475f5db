package executor

import (
	"fmt"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// estimate says what a node is likely to take, asked once a build.
func (s *scheduler) estimate(id graph.NodeID) budget.Estimate {
	n := s.nodes[id]
	if n.likely == nil {
		n.likely = &budget.Estimate{}
		if s.b.Estimate != nil {
			e := s.b.Estimate(s.graph.Node(id).Address, n.decision.Key)
			if e.CostUSD != nil {
				n.likely.USD = *e.CostUSD
			}
			if e.Tokens != nil {
				n.likely.Tokens = *e.Tokens
			}
		}
	}
	return *n.likely
}

// reserve sets money aside for a prompt that starts.
func (s *scheduler) reserve(id graph.NodeID) {
	if s.budget != nil && s.graph.Node(id).Task.Kind == lang.Prompt {
		s.budget.Reserve(s.estimate(id))
	}
}

// spend puts what an attempt used in the place of what was reserved for it.
func (s *scheduler) spend(m endedMsg) {
	if s.budget == nil || s.graph.Node(m.id).Task.Kind != lang.Prompt {
		return
	}
	s.budget.Release(s.estimate(m.id))
	if !m.found && m.attempt.Captured != nil {
		s.budget.Spend(m.attempt.Captured.Usage)
	}
}

// deadline fires when the build has run for as long as the campaign allows.
func (s *scheduler) deadline() <-chan time.Time {
	if s.plan || s.b.Campaign.Deadline == 0 {
		return nil
	}
	return s.b.After(s.b.Campaign.Deadline)
}

// expire ends what has not started, and leaves it to the next build.
func (s *scheduler) expire() {
	if s.halted != "" {
		return
	}
	s.haltAs = Paused
	s.halt(fmt.Sprintf("the campaign's deadline of %s has passed", durationWords(s.b.Campaign.Deadline)))
}

// durationWords leaves out what is zero: "4h" and not "4h0m0s".
func durationWords(d time.Duration) string {
	s := d.String()
	for _, zero := range []string{"0s", "0m"} {
		if cut, ok := strings.CutSuffix(s, zero); ok && cut != "" && !strings.ContainsAny(cut[len(cut)-1:], "0123456789.") {
			s = cut
		}
	}
	return s
}

// complete reports whether nothing that was wanted is missing.
func (s *Summary) complete() bool {
	for i := range s.Nodes {
		switch r := &s.Nodes[i]; r.State {
		case Failed, Cancelled, Paused, Awaiting:
			return false
		case Skipped:
			if !r.Withheld {
				return false
			}
		}
	}
	return true
}

// priced adds what the tokens of an attempt cost by the campaign's table, where its program did not say.
func (d *Decider) priced(a *Action, u cache.Usage) cache.Usage {
	model := u.Model
	if _, ok := d.Campaign.Prices[model]; !ok {
		model = a.Agent.Model
	}
	if p, ok := d.Campaign.Prices[model]; ok && u.CostUSD == nil {
		u.CostUSD = budget.Price(p, u)
	}
	return u
}

package executor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/executor/event"
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

// fund opens the accounts that hold the build to its ceilings.
func (s *scheduler) fund() {
	b := s.b
	if b.Ceiling != (lang.Budget{}) {
		s.budget = budget.New("the budget", b.Ceiling, b.Spent)
	}
	for _, g := range b.Campaign.Groups {
		if g.Budget != (lang.Budget{}) {
			s.budgets[g.Name] = budget.New("the budget of group."+g.Name, g.Budget, b.SpentOf[g.Name])
		}
	}
	if slices.ContainsFunc(b.Campaign.Tasks, func(t *lang.Task) bool { return t.Kind == lang.Prompt }) {
		s.admit.afford = func(id graph.NodeID) bool { return s.short(id) == "" }
	}
}

// own is the account of a node's own ceiling, which its attempts share; nil for none.
func (s *scheduler) own(id graph.NodeID) *budget.Account {
	node := s.graph.Node(id)
	if node.Task.Kind != lang.Prompt || node.Instance == nil || node.Instance.Budget == (lang.Budget{}) {
		return nil
	}
	if s.owns[id] == nil {
		s.owns[id] = budget.New("the budget of "+node.Address.String(), node.Instance.Budget, s.b.SpentAt[node.Address])
	}
	return s.owns[id]
}

// funded is the instance of a node on its rung. What its next attempt may take is what is left to it.
func (s *scheduler) funded(id graph.NodeID) *lang.Instance {
	inst := s.onRung(id)
	own := s.own(id)
	if own == nil {
		return inst
	}
	return inst.With(func(s *lang.Settings) { s.EachBudget.USD = own.Left(inst.EachBudget) })
}

// accountsOf are the accounts that pay for a node: that of the campaign, and that of its group. None for a
// command.
func (s *scheduler) accountsOf(id graph.NodeID) []*budget.Account {
	task := s.graph.Node(id).Task
	if task.Kind != lang.Prompt {
		return nil
	}
	var out []*budget.Account
	for _, a := range []*budget.Account{s.budget, s.budgets[task.Group]} {
		if a != nil {
			out = append(out, a)
		}
	}
	return out
}

// short says which account cannot pay for a node, "" when all can.
func (s *scheduler) short(id graph.NodeID) string {
	// What an attempt is likely to take keeps none from starting under a ceiling of its own: it is stopped there.
	if own := s.own(id); own != nil {
		if why := own.Why(budget.Estimate{}); why != "" {
			return why
		}
	}
	for _, a := range s.accountsOf(id) {
		if why := a.Why(s.estimate(id)); why != "" {
			return why
		}
	}
	return ""
}

// whyShort says at the end of a build which account a node was stopped for, with what was spent in the end.
func (s *scheduler) whyShort(id graph.NodeID) string {
	for _, a := range s.accountsOf(id) {
		if why := a.Why(budget.Estimate{}); why != "" {
			return why
		}
	}
	return s.nodes[id].result.Message
}

// reserve sets money aside for a prompt that starts.
func (s *scheduler) reserve(id graph.NodeID) {
	for _, a := range s.accountsOf(id) {
		a.Start(int(id), s.estimate(id))
	}
	if own := s.own(id); own != nil {
		own.Start(int(id), budget.Estimate{})
	}
}

// spend puts what an attempt used in the place of what was reserved for it.
func (s *scheduler) spend(m endedMsg) {
	accounts := s.accountsOf(m.id)
	if own := s.own(m.id); own != nil {
		accounts = append(accounts, own)
	}
	for _, a := range accounts {
		a.Settle(int(m.id))
		switch {
		case m.found:
		case m.attempt.Captured != nil:
			a.Spend(m.attempt.Captured.Usage)
		case m.seen != (cache.Usage{}): // it ran, and could not be captured
			a.Spend(m.seen)
		}
	}
}

// takeUsed holds a running attempt to its ceiling, and all that runs to those they share. What a shared one
// stops are all paid attempts under it: each of them would only spend more.
func (s *scheduler) takeUsed(m usedMsg) {
	n := s.nodes[m.id]
	if n.state != Running {
		return
	}
	inst := s.onRung(m.id)
	if u := m.usage; u.CostUSD != nil && *u.CostUSD > 0 || u.OutputTokens != nil && *u.OutputTokens > 0 {
		s.admit.proved(accountOfAgent(inst.Profile.Agent)) // the provider answers: nobody has to wait for the end
	}
	s.emit(event.Event{
		Kind: event.AttemptUsed, Address: inst.Address.String(), CostUSD: m.usage.CostUSD,
		InputTokens: m.usage.InputTokens, OutputTokens: m.usage.OutputTokens,
	})
	if words, over := budget.Over(n.decision.Action.Budget, m.usage); over {
		n.stop(&Stop{By: stoppedBudget, Why: "stopped: " + words})
	}
	if own := s.own(m.id); own != nil {
		own.Use(int(m.id), m.usage)
		if why := own.Passed(); why != "" {
			n.stop(&Stop{By: stoppedBudget, Why: "stopped: " + why})
		}
	}
	for _, a := range s.accountsOf(m.id) {
		a.Use(int(m.id), m.usage)
		if why := a.Passed(); why != "" {
			s.stopUnder(a, why)
		}
	}
}

// stopUnder stops every attempt that an account pays for. Their nodes wait for the next build.
func (s *scheduler) stopUnder(a *budget.Account, why string) {
	for _, id := range s.order {
		n := s.nodes[id]
		if n.state == Running && !n.short && slices.Contains(s.accountsOf(id), a) {
			n.short = true
			n.stop(&Stop{By: stoppedBudget, Why: "stopped: " + why})
		}
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

// Complete reports whether nothing that was wanted is missing.
func (s *Summary) Complete() bool {
	for i := range s.Nodes {
		switch r := s.Nodes[i]; r.State {
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
func (d *Decider) priced(a *Action, end agent.End) cache.Usage {
	return d.pricedAs(a.Agent.Model, end)
}

// pricedAs goes by the model that the program reports, else by the one that the campaign names. What several models used has the
// price of each; one that has none makes the sum a lower bound.
func (d *Decider) pricedAs(model string, end agent.End) cache.Usage {
	u := end.Usage
	switch {
	case u.CostUSD != nil:
	case len(end.Parts) > 1:
		var sum cache.Usage
		for i, p := range end.Parts {
			if p.CostUSD == nil {
				p.CostUSD = d.price(cmp.Or(p.Model, model), p)
			}
			if i > 0 {
				p = agent.Add(sum, p)
			}
			sum = p
		}
		u.CostUSD, u.AtLeast = sum.CostUSD, u.AtLeast || sum.AtLeast
	default:
		if u.CostUSD = d.price(u.Model, u); u.CostUSD == nil {
			u.CostUSD = d.price(model, u)
		}
	}
	return u
}

// price is what tokens of a model cost, nil when nobody knows.
func (d *Decider) price(model string, u cache.Usage) *float64 {
	p, ok := d.Campaign.Prices[model]
	if !ok {
		return nil
	}
	return budget.Price(p, u)
}

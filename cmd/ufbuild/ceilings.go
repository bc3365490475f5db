package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// spending is what was spent since all was fresh.
type spending struct {
	all    budget.Spending
	of     map[string]budget.Spending       // by group; of tasks without one under ""
	at     map[lang.Address]budget.Spending // by attempts of an address since it was fresh
	builds []string                         // ids of the builds that spent it
	// unnamed are ids of builds that spent before it, which the journal calls closed and the ledger does not: the
	// build that closed them was killed before it said so.
	unnamed []string
}

// spending adds up the entries that count against the budgets of today.
func (s *session) spending(entries []ledger.Entry) (spending, error) {
	closedHere, err := s.view.Closed()
	if err != nil {
		return spending{}, err
	}
	sp := spending{of: map[string]budget.Spending{}, at: map[lang.Address]budget.Spending{}}
	closed := map[string]bool{} // by the ledger
	for _, e := range entries {
		for _, id := range e.Closes {
			closed[id] = true
		}
	}
	ordered, err := s.inOrder(entries)
	if err != nil {
		return spending{}, err
	}
	for _, e := range ordered {
		if e.Kind != ledger.Ran || e.Profile == "" || closed[e.Build] {
			continue
		}
		if closedHere(e.Build) {
			if !slices.Contains(sp.unnamed, e.Build) {
				sp.unnamed = append(sp.unnamed, e.Build)
			}
			continue
		}
		sp.all.Add(e.Usage)
		s.spendAt(sp.at, &e)
		group := s.groupOf(ledger.Task(e))
		of := sp.of[group]
		of.Add(e.Usage)
		sp.of[group] = of
		if !slices.Contains(sp.builds, e.Build) {
			sp.builds = append(sp.builds, e.Build)
		}
	}
	return sp, nil
}

// inOrder puts entries in the order of their builds. Those of one build are in the order in which they were written;
// builds that the journal does not know come first.
func (s *session) inOrder(entries []ledger.Entry) ([]ledger.Entry, error) {
	builds, err := s.view.Builds()
	if err != nil {
		return nil, err
	}
	place := map[string]int{}
	for i, b := range builds {
		place[b.ID] = i + 1
	}
	out := slices.Clone(entries)
	slices.SortStableFunc(out, func(a, b ledger.Entry) int { return place[a.Build] - place[b.Build] })
	return out, nil
}

// spendAt counts an attempt for its address. A good one closes the account of the address, also one that a higher
// ceiling or another contract made good.
func (s *session) spendAt(at map[lang.Address]budget.Spending, e *ledger.Entry) {
	a, err := lang.ParseAddress(e.Address)
	if err != nil {
		return
	}
	sel, ok := s.view.Selected(a)
	if e.Outcome == cache.OK || e.Outcome == cache.Partial || ok && sel.Key == e.Key && sel.Ordinal == e.Ordinal {
		delete(at, a)
		return
	}
	sum := at[a]
	sum.Add(e.Usage)
	at[a] = sum
}

// groupOf is the group that a task is in today; "" for none.
func (s *session) groupOf(task string) string {
	if t, ok := s.campaign.Task(task); ok {
		return t.Group
	}
	return ""
}

// budgetReport is one ceiling in the JSON of plan and cost. A field of a ceiling that is missing has none.
type budgetReport struct {
	Budget       string  `json:"budget"` // "campaign", "group.NAME" or, in a plan, a task of which nothing is left
	USD          float64 `json:"usd,omitempty"`
	Tokens       int64   `json:"tokens,omitempty"`
	SpentUSD     float64 `json:"spent_usd"`
	SpentTokens  int64   `json:"spent_tokens"`
	SpentUnknown int     `json:"spent_unknown"` // attempts that did not say all: what was spent is a lower bound

	// Of a plan: what is stale under the ceiling is likely to take, as far as anybody knows, and whether a build
	// would leave some of it for want of money.
	LikelyUSD    float64 `json:"likely_usd,omitempty"`
	LikelyTokens int64   `json:"likely_tokens,omitempty"`
	Short        bool    `json:"short,omitempty"`
	gone         bool    // nothing is left
}

// limit puts a ceiling in the place of the dollars of the campaign; 0 leaves them.
func (s *session) limit(usd float64) {
	if usd > 0 {
		s.campaign.Budget.USD = usd
	}
}

// hasCeilings reports whether the campaign, a group or a task has a budget.
func (s *session) hasCeilings() bool {
	return s.campaign.Budget != lang.Budget{} || slices.ContainsFunc(s.campaign.Groups, hasBudget) ||
		slices.ContainsFunc(s.graph.Nodes(), func(n graph.Node) bool { return ownBudget(&n) != lang.Budget{} })
}

// ownBudget is the ceiling of one instance.
func ownBudget(n *graph.Node) lang.Budget {
	if n.Instance == nil {
		return lang.Budget{}
	}
	return n.Instance.Budget
}

func hasBudget(g *lang.Group) bool { return g.Budget != lang.Budget{} }

// budgets says what was spent of each ceiling, and whether the rest reaches for what is stale in a plan; of nil
// nothing is. It reads the ledger only where there is a ceiling.
func (s *session) budgets(plan *executor.Summary) ([]budgetReport, error) {
	if !s.hasCeilings() {
		return nil, nil
	}
	entries, err := s.allAccounts()
	if err != nil {
		return nil, err
	}
	sp, err := s.spending(entries)
	if err != nil {
		return nil, err
	}
	st := s.demanded(plan, s.estimates(entries))
	var out []budgetReport
	add := func(name string, b lang.Budget, spent budget.Spending, stale demand) {
		if b != (lang.Budget{}) {
			account := budget.New(name, b, spent)
			short, gone := stale.prompts > 0 && !account.Fits(stale.likely), !account.Fits(budget.Estimate{})
			out = append(out, budgetReport{
				name, b.USD, b.Tokens, spent.USD, spent.Tokens, spent.Unknown, stale.likely.USD, stale.likely.Tokens, short, gone,
			})
		}
	}
	add("campaign", s.campaign.Budget, sp.all, st.all)
	for _, g := range s.campaign.Groups {
		add("group."+g.Name, g.Budget, sp.of[g.Name], st.of[g.Name])
	}
	return append(out, s.spentTasks(plan, sp.at)...), nil
}

// spentTasks are the tasks of a plan that would not start since nothing is left of their own ceilings.
func (s *session) spentTasks(plan *executor.Summary, at map[lang.Address]budget.Spending) []budgetReport {
	if plan == nil {
		return nil
	}
	var out []budgetReport
	for i := range plan.Nodes {
		r := plan.Nodes[i]
		id, ok := s.graph.Find(r.Address)
		if !ok || !stale(r) {
			continue
		}
		b, spent := ownBudget(s.graph.Node(id)), at[r.Address]
		if !budget.New("", b, spent).Fits(budget.Estimate{}) {
			out = append(out, budgetReport{
				Budget: r.Address.String(), USD: b.USD, Tokens: b.Tokens, SpentUSD: spent.USD, SpentTokens: spent.Tokens,
				SpentUnknown: spent.Unknown, Short: true, gone: true,
			})
		}
	}
	return out
}

// demand is what stale prompts are likely to take: the sum of what a build sets aside for each.
type demand struct {
	prompts int
	likely  budget.Estimate
}

func (d *demand) add(e ledger.Estimate) {
	d.prompts++
	if e.CostUSD != nil {
		d.likely.USD += *e.CostUSD
	}
	if e.Tokens != nil {
		d.likely.Tokens += *e.Tokens
	}
}

// demands are those of the campaign and of its groups.
type demands struct {
	all demand
	of  map[string]demand
}

// stale reports whether a node of a plan runs as soon as there is money for it.
func stale(r *executor.NodeResult) bool {
	return r.State == executor.WouldRun || r.State == executor.Paused && r.Cause == lang.Address{}
}

// demanded adds up what the stale prompts of a plan are likely to take.
func (s *session) demanded(plan *executor.Summary, estimate func(lang.Address, cache.Key) ledger.Estimate) demands {
	d := demands{of: map[string]demand{}}
	if plan == nil {
		return d
	}
	for i := range plan.Nodes {
		r := plan.Nodes[i]
		task, ok := s.campaign.Task(r.Address.Task)
		if !ok || task.Kind != lang.Prompt || !stale(r) {
			continue
		}
		e := estimate(r.Address, r.Key)
		d.all.add(e)
		of := d.of[task.Group]
		of.add(e)
		d.of[task.Group] = of
	}
	return d
}

// words says what was spent of a ceiling, such as "$4.00 of $5.00"; "" while nothing was and the rest reaches.
func (r *budgetReport) words() string {
	words := ""
	if r.USD > 0 && (r.SpentUSD > 0 || r.SpentUnknown > 0 || r.Short) {
		words = lowerBound(r.SpentUSD, r.SpentUnknown) + " of " + ui.Money(&r.USD)
	}
	if r.Tokens > 0 && (r.SpentTokens > 0 || r.Short) {
		if words != "" {
			words += ", "
		}
		words += fmt.Sprintf("%d of %d tokens", r.SpentTokens, r.Tokens)
	}
	return words
}

// shortWords says that the rest of a budget does not reach for what is stale; "" when it does.
func (r *budgetReport) shortWords() string {
	switch {
	case !r.Short:
		return ""
	case r.gone:
		return "; no stale prompt would start"
	}
	var likely []string
	if r.USD > 0 && r.LikelyUSD > 0 {
		likely = append(likely, "cost "+ui.Money(&r.LikelyUSD))
	}
	if r.Tokens > 0 && r.LikelyTokens > 0 {
		likely = append(likely, fmt.Sprintf("take %d tokens", r.LikelyTokens))
	}
	return "; what is stale is likely to " + strings.Join(likely, " and ") + ", so not all of it would start"
}

// printBudgets prints a line for each budget of which something is gone, or which does not reach.
func printBudgets(w io.Writer, budgets []budgetReport) {
	for i := range budgets {
		if words := budgets[i].words(); words != "" {
			fmt.Fprintf(w, "budget of %s: %s spent since all was fresh%s\n", budgets[i].Budget, words, budgets[i].shortWords())
		}
	}
}

package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/lang"
)

// spending is what was spent since all was fresh.
type spending struct {
	all    budget.Spending
	of     map[string]budget.Spending // by group; of tasks without one under ""
	builds []string                   // ids of the builds that spent it
	// unnamed are ids of builds that spent before it, which the journal calls closed and the ledger does not: the
	// build that closed them was killed before it said so.
	unnamed []string
}

// spending adds up the entries that count against the budgets of today.
func (s *session) spending(entries []ledger.Entry) spending {
	sp := spending{of: map[string]budget.Spending{}}
	closed := map[string]bool{} // by the ledger
	for _, e := range entries {
		for _, id := range e.Closes {
			closed[id] = true
		}
	}
	for _, e := range entries {
		if e.Kind != ledger.Ran || e.Profile == "" || closed[e.Build] {
			continue
		}
		if s.view.Closed(e.Build) {
			if !slices.Contains(sp.unnamed, e.Build) {
				sp.unnamed = append(sp.unnamed, e.Build)
			}
			continue
		}
		sp.all.Add(e.Usage)
		group := s.groupOf(ledger.Task(e))
		of := sp.of[group]
		of.Add(e.Usage)
		sp.of[group] = of
		if !slices.Contains(sp.builds, e.Build) {
			sp.builds = append(sp.builds, e.Build)
		}
	}
	return sp
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
	Budget       string  `json:"budget"` // "campaign" or "group.NAME"
	USD          float64 `json:"usd,omitempty"`
	Tokens       int64   `json:"tokens,omitempty"`
	SpentUSD     float64 `json:"spent_usd"`
	SpentTokens  int64   `json:"spent_tokens"`
	SpentUnknown int     `json:"spent_unknown"` // attempts that did not say all: what was spent is a lower bound
}

// hasCeilings reports whether the campaign, or a group, has a budget.
func (s *session) hasCeilings() bool {
	return s.campaign.Budget != lang.Budget{} || slices.ContainsFunc(s.campaign.Groups, hasBudget)
}

func hasBudget(g *lang.Group) bool { return g.Budget != lang.Budget{} }

// budgets says what was spent of each ceiling. It reads the ledger only where there is one.
func (s *session) budgets() ([]budgetReport, error) {
	if !s.hasCeilings() {
		return nil, nil
	}
	entries, err := s.allAccounts()
	if err != nil {
		return nil, err
	}
	sp := s.spending(entries)
	var out []budgetReport
	add := func(name string, b lang.Budget, spent budget.Spending) {
		if b != (lang.Budget{}) {
			out = append(out, budgetReport{name, b.USD, b.Tokens, spent.USD, spent.Tokens, spent.Unknown})
		}
	}
	add("campaign", s.campaign.Budget, sp.all)
	for _, g := range s.campaign.Groups {
		add("group."+g.Name, g.Budget, sp.of[g.Name])
	}
	return out, nil
}

// words says what was spent of a ceiling, such as "$4.00 of $5.00"; "" while nothing was.
func (r *budgetReport) words() string {
	words := ""
	if r.USD > 0 && (r.SpentUSD > 0 || r.SpentUnknown > 0) {
		words = lowerBound(r.SpentUSD, r.SpentUnknown) + " of " + ui.Money(&r.USD)
	}
	if r.Tokens > 0 && r.SpentTokens > 0 {
		if words != "" {
			words += ", "
		}
		words += fmt.Sprintf("%d of %d tokens", r.SpentTokens, r.Tokens)
	}
	return words
}

// printBudgets prints a line for each budget of which something is gone.
func printBudgets(w io.Writer, budgets []budgetReport) {
	for i := range budgets {
		if words := budgets[i].words(); words != "" {
			fmt.Fprintf(w, "budget of %s: %s spent since all was fresh\n", budgets[i].Budget, words)
		}
	}
}

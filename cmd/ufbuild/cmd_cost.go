package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/web"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/ledger"
)

// costBy says what an entry is counted under, by the word of --by. Groups are those of the campaign of today.
var costBy = map[string]func(ledger.Entry) string{
	"task":    ledger.Task,
	"profile": ledger.Profile,
	"pool":    func(e ledger.Entry) string { return e.Pool },
	byBuild:   ledger.Build,
	"day":     func(e ledger.Entry) string { return e.Time.Local().Format("2006-01-02") },
}

const (
	byGroup = "group" // the one word of --by that costBy does not have: it needs the campaign
	byBuild = "build"
)

func (s *session) costBy(by string) func(ledger.Entry) string {
	if by == byGroup {
		return func(e ledger.Entry) string { return s.groupOf(ledger.Task(e)) }
	}
	return costBy[by]
}

// costNames are the rows of a sum: what the campaign declares as it declares it, then the others, such as tasks
// that are gone, by name. Builds come as they were begun, behind those of which a lost journal does not tell any more:
// names of one second are in no order.
func (s *session) costNames(by string, sums map[string]ledger.Sum, builds []journal.Build) []string {
	var names []string
	rest := maps.Clone(sums)
	take := func(name string) {
		if _, ok := rest[name]; ok {
			names = append(names, name)
			delete(rest, name)
		}
	}
	switch by {
	case "task":
		for _, t := range s.campaign.Tasks {
			take(t.Name)
		}
	case byGroup:
		for _, t := range s.campaign.Tasks {
			take(t.Group)
		}
	case "profile":
		for _, p := range s.campaign.Profiles {
			take(p.Name)
		}
	case byBuild:
		for _, b := range builds {
			take(b.ID)
		}
		return append(slices.Sorted(maps.Keys(rest)), names...)
	}
	return append(names, slices.Sorted(maps.Keys(rest))...)
}

func (a *app) costCommand() *cobra.Command {
	by, decisions := "task", false
	cmd := &cobra.Command{
		Use:   "cost",
		Short: "Say what was spent and what was saved",
		Long: `Adds up what the attempts of this campaign took, in all builds: time, tokens and
money, failed attempts included, and what the results found in the store would
have cost. What a program did not report is unknown, not nothing: a sum with an
unknown part ends in +. It reads the ledger beside the store, which no verb but
a build writes.`,
		Example: `  ufbuild cost
  ufbuild cost --by day
  ufbuild cost --by build --json | jq '.rows[-1]'`,
		RunE: func(*cobra.Command, []string) error {
			if decisions {
				return a.showDecisions()
			}
			if err := oneOf("by", by, append(slices.Sorted(maps.Keys(costBy)), byGroup)...); err != nil {
				return err
			}
			return a.runCost(by)
		},
	}
	cmd.Flags().StringVar(&by, "by", by, "add up by `WHAT`: task, group, profile, pool, build or day")
	cmd.Flags().BoolVar(&decisions, "decisions", false, "list what persons decided instead: who, when and why")
	cmd.MarkFlagsMutuallyExclusive("by", "decisions")
	return cmd
}

type costReport struct {
	SchemaVersion int           `json:"schema_version"`
	By            string        `json:"by"`
	Rows          []web.CostRow `json:"rows"`
	Total         web.CostRow   `json:"total"`

	Budgets []budgetReport `json:"budgets,omitempty"`
}

func (a *app) runCost(by string) error {
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	entries, err := s.accounts()
	if err != nil {
		return err
	}
	var total ledger.Sum
	for i := range entries {
		freeCommands(&entries[i])
		total.Add(entries[i])
	}
	sums := ledger.By(entries, s.costBy(by))
	r := costReport{SchemaVersion: 1, By: by, Rows: []web.CostRow{}, Total: rowOf("total", total)}
	if r.Budgets, err = s.budgets(nil); err != nil {
		return err
	}
	var builds []journal.Build
	if by == byBuild {
		if builds, err = s.view.Builds(); err != nil {
			return err
		}
	}
	for _, name := range s.costNames(by, sums, builds) {
		r.Rows = append(r.Rows, rowOf(name, sums[name]))
	}
	if a.json {
		return a.printJSON(r)
	}
	return a.printCost(r)
}

// freeCommands makes the cost of what no agent ran known: it is nothing.
func freeCommands(e *ledger.Entry) {
	if e.Profile == "" {
		nothing, none := 0.0, int64(0)
		e.Usage.CostUSD, e.Unknown = &nothing, 0
		e.Usage.InputTokens, e.Usage.OutputTokens = &none, &none
	}
}

func rowOf(name string, s ledger.Sum) web.CostRow {
	return web.CostRow{
		Name: name, Attempts: s.Attempts, DurationMS: s.Duration.Milliseconds(), CostUSD: s.CostUSD, CostUnknown: s.Unknown,
		InputTokens: s.Input, OutputTokens: s.Output, TokensUntold: s.Untold, Hits: s.Hits, Elsewhere: s.Elsewhere, SavedMS: s.SavedDuration.Milliseconds(),
		SavedUSD: s.SavedUSD, SavedUnknown: s.SavedUSDUnknown,
	}
}

func (a *app) printCost(r costReport) error {
	var rows [][]string
	for _, row := range append(r.Rows, r.Total) {
		name := row.Name
		if name == "" {
			name = "none"
		}
		rows = append(rows, []string{
			name, strconv.Itoa(row.Attempts), ui.Duration(time.Duration(row.DurationMS) * time.Millisecond), lowerBound(row.CostUSD, row.CostUnknown),
			tokenWords(row), hitWords(row), lowerBound(row.SavedUSD, row.SavedUnknown),
		})
	}
	if err := a.outTerm.Table(a.out, []string{r.By, "attempts", "time", "cost", "tokens", "hits", "saved"}, rows); err != nil {
		return err
	}
	printBudgets(a.out, r.Budgets)
	return nil
}

// tokenWords are the tokens that were reported; nothing where none were, as for commands.
func tokenWords(row web.CostRow) string {
	if row.InputTokens == 0 && row.OutputTokens == 0 {
		return ""
	}
	more := ""
	if row.TokensUntold > 0 { // as of money
		more = "+"
	}
	return fmt.Sprintf("%d%s in, %d%s out", row.InputTokens, more, row.OutputTokens, more)
}

// hitWords counts results that were used again, and those among them that other machines made.
func hitWords(row web.CostRow) string {
	if row.Elsewhere == 0 {
		return strconv.Itoa(row.Hits)
	}
	return fmt.Sprintf("%d, %d of them elsewhere", row.Hits, row.Elsewhere)
}

// lowerBound marks a sum of which a part is unknown.
func lowerBound(usd float64, unknown int) string {
	c := costSum{usd: usd, unknown: unknown > 0}
	return c.String()
}

// atLeast is 1 for usage that is a lower bound, for sums that count unknown parts.
func atLeast(u cache.Usage) int {
	if u.AtLeast {
		return 1
	}
	return 0
}

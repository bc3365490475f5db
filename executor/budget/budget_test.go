package budget_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/lang"
)

func ptr[T any](v T) *T { return &v }

func usage(usd float64, tokens int64) cache.Usage {
	return cache.Usage{CostUSD: &usd, InputTokens: &tokens, OutputTokens: ptr[int64](0)}
}

func TestAccount(t *testing.T) {
	a := budget.New("the budget", lang.Budget{USD: 5}, budget.Spending{USD: 3.9, Unknown: 1})
	one := budget.Estimate{USD: 1}
	require.True(t, a.Fits(one))
	a.Start(1, one)
	require.True(t, a.Fits(budget.Estimate{USD: 0.1}), "exactly what is left")
	require.True(t, a.Fits(budget.Estimate{}), "unknown counts as nothing")
	require.Equal(t, "the budget does not reach: $3.90+ of $5.00, and this is likely to take $1.00", a.Why(one))
	a.Settle(1)
	a.Spend(usage(0.5, 10))
	require.False(t, a.Fits(one))
	require.True(t, a.Fits(budget.Estimate{USD: 0.6}))
	a.Spend(usage(0.6, 10))
	require.Equal(t, "the budget is spent: $5.00+ of $5.00", a.Why(budget.Estimate{}))
}

func TestAccountOfTokens(t *testing.T) {
	a := budget.New("the budget of group.g", lang.Budget{USD: 100, Tokens: 50}, budget.Spending{Tokens: 30})
	require.True(t, a.Fits(budget.Estimate{Tokens: 20}))
	require.Contains(t, a.Why(budget.Estimate{Tokens: 21}), "30 of 50 tokens, and this is likely to take 21 tokens")
	a.Spend(usage(1, 20))
	require.Equal(t, "the budget of group.g is spent: $1.00 of $100.00, 50 of 50 tokens", a.Why(budget.Estimate{}))
}

func TestWhatRunsCounts(t *testing.T) {
	a := budget.New("the budget", lang.Budget{USD: 5}, budget.Spending{USD: 3})
	a.Start(1, budget.Estimate{USD: 0.5})
	a.Start(2, budget.Estimate{})
	a.Use(1, usage(0.25, 1))
	require.True(t, a.Fits(budget.Estimate{USD: 1.5}), "what is likely is set aside, not what was used of it")
	a.Use(2, usage(1.75, 1))
	require.Empty(t, a.Passed(), "$5.00 of $5.00 is not more")
	require.Contains(t, a.Why(budget.Estimate{}), "is spent", "and leaves nothing for another one")
	a.Use(1, usage(0.5, 1))
	require.Equal(t, "the budget is spent: $5.25 of $5.00", a.Passed())
	a.Use(3, usage(9, 1))
	require.Contains(t, a.Passed(), "$5.25", "what was not started does not count")
	a.Settle(1)
	a.Settle(2)
	require.Empty(t, a.Passed())
	require.True(t, a.Fits(budget.Estimate{USD: 2}))
}

func TestFill(t *testing.T) {
	last, seen := usage(2, 10), usage(3, 50)
	require.Equal(t, last, budget.Fill(last, seen), "the last word counts")
	got := budget.Fill(cache.Usage{Session: "s", InputTokens: ptr[int64](7)}, seen)
	require.True(t, got.AtLeast)
	require.InDelta(t, 3, *got.CostUSD, 1e-9)
	require.EqualValues(t, 7, *got.InputTokens)
	require.Equal(t, "s", got.Session)
}

func TestOver(t *testing.T) {
	for name, tt := range map[string]struct {
		ceiling lang.Budget
		used    cache.Usage
		want    string
	}{
		"no ceiling":     {lang.Budget{}, usage(9, 9), ""},
		"at it":          {lang.Budget{USD: 9, Tokens: 9}, usage(9, 9), ""},
		"money":          {lang.Budget{USD: 8}, usage(9, 9), "it cost $9.00, and its budget is $8.00"},
		"tokens":         {lang.Budget{USD: 9, Tokens: 8}, usage(9, 9), "it used 9 tokens, and its budget is 8"},
		"unknown is not": {lang.Budget{USD: 1, Tokens: 1}, cache.Usage{InputTokens: ptr[int64](9)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, over := budget.Over(tt.ceiling, tt.used)
			require.Equal(t, tt.want, got)
			require.Equal(t, tt.want != "", over)
		})
	}
}

func TestPrice(t *testing.T) {
	p := lang.Price{Input: 10, Cached: 1, Output: 100}
	u := cache.Usage{InputTokens: ptr[int64](1_000_000), OutputTokens: ptr[int64](10_000)}
	require.InDelta(t, 11, *budget.Price(p, u), 1e-9)
	u.CachedTokens = ptr[int64](500_000)
	require.InDelta(t, 6.5, *budget.Price(p, u), 1e-9)
	u.OutputTokens = nil
	require.Nil(t, budget.Price(p, u))
	u.AtLeast = true
	require.InDelta(t, 5.5, *budget.Price(p, u), 1e-9, "at least the input was paid")
}

// TestTaskCeilings wants the lower of two ceilings, number by number, and what is left of them.
func TestTaskCeilings(t *testing.T) {
	require.Equal(t, lang.Budget{USD: 1, Tokens: 5}, budget.Tighter(lang.Budget{USD: 1, Tokens: 9}, lang.Budget{USD: 2, Tokens: 5}))
	require.Equal(t, lang.Budget{USD: 2, Tokens: 9}, budget.Tighter(lang.Budget{Tokens: 9}, lang.Budget{USD: 2}))
	cost := 1.5
	a := budget.New("the budget", lang.Budget{USD: 2.5}, budget.Spending{})
	require.InDelta(t, 2.5, a.Left(lang.Budget{}), 1e-9)
	require.InDelta(t, 1.0, a.Left(lang.Budget{USD: 1}), 1e-9)
	a.Spend(cache.Usage{CostUSD: &cost})
	require.InDelta(t, 1.0, a.Left(lang.Budget{}), 1e-9)
	a.Spend(cache.Usage{CostUSD: &cost})
	require.Positive(t, a.Left(lang.Budget{}), "0 would be no ceiling at all")
	require.Zero(t, budget.New("the budget", lang.Budget{Tokens: 3}, budget.Spending{}).Left(lang.Budget{}))
}

package budget

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

// TestTaskCeilings wants the lower of two ceilings, number by number, and what is left of them.
func TestTaskCeilings(t *testing.T) {
	require.Equal(t, lang.Budget{USD: 1, Tokens: 5}, Tighter(lang.Budget{USD: 1, Tokens: 9}, lang.Budget{USD: 2, Tokens: 5}))
	require.Equal(t, lang.Budget{USD: 2, Tokens: 9}, Tighter(lang.Budget{Tokens: 9}, lang.Budget{USD: 2}))
	cost := 1.5
	a := New("the budget", lang.Budget{USD: 2.5}, Spending{})
	require.InDelta(t, 2.5, a.Left(lang.Budget{}), 1e-9)
	require.InDelta(t, 1.0, a.Left(lang.Budget{USD: 1}), 1e-9)
	a.Spend(cache.Usage{CostUSD: &cost})
	require.InDelta(t, 1.0, a.Left(lang.Budget{}), 1e-9)
	a.Spend(cache.Usage{CostUSD: &cost})
	require.Positive(t, a.Left(lang.Budget{}), "0 would be no ceiling at all")
	require.Zero(t, New("the budget", lang.Budget{Tokens: 3}, Spending{}).Left(lang.Budget{}))
}

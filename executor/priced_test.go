package executor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/lang"
)

// What several models used is paid at the price of each, and a model without a price makes the sum a lower bound.
func TestEachModelHasItsPrice(t *testing.T) {
	d := &Decider{Campaign: &lang.Campaign{Prices: map[string]lang.Price{"large": {Input: 10}, "small": {Input: 1}}}}
	of := func(model string, tokens int64) cache.Usage {
		none := int64(0)
		return cache.Usage{Model: model, InputTokens: &tokens, OutputTokens: &none}
	}
	said := 3.0
	for name, tt := range map[string]struct {
		end     agent.End
		usd     float64
		atLeast bool
	}{
		"one":           {agent.End{Usage: of("small", 2e6)}, 2, false},
		"one, unnamed":  {agent.End{Usage: of("", 2e6)}, 20, false},
		"one, unpriced": {agent.End{Usage: of("large-2026", 2e6)}, 20, false},
		"both":          {agent.End{Usage: of("small", 3e6), Parts: []cache.Usage{of("large", 1e6), of("small", 2e6)}}, 12, false},
		"one unnamed":   {agent.End{Usage: of("small", 3e6), Parts: []cache.Usage{of("", 1e6), of("small", 2e6)}}, 12, false},
		"one odd":       {agent.End{Usage: of("odd", 3e6), Parts: []cache.Usage{of("small", 2e6), of("odd", 1e6)}}, 2, true},
		"said":          {agent.End{Usage: cache.Usage{CostUSD: &said}, Parts: []cache.Usage{of("large", 1e6), of("small", 2e6)}}, 3, false},
	} {
		t.Run(name, func(t *testing.T) {
			u := d.pricedAs("large", tt.end)
			require.InDelta(t, tt.usd, *u.CostUSD, 1e-9)
			require.Equal(t, tt.atLeast, u.AtLeast)
			require.Equal(t, tt.end.Usage.InputTokens, u.InputTokens)
		})
	}
	none := agent.End{Usage: of("odd", 3), Parts: []cache.Usage{of("odd", 1), of("strange", 2)}}
	require.Nil(t, d.pricedAs("large", none).CostUSD)
}

// TestUsageIsPricedOnce looks twice at a usage file that did not change: what two models without a price used does not get that of a third.
func TestUsageIsPricedOnce(t *testing.T) {
	b := &Builder{Decider: Decider{Campaign: &lang.Campaign{Prices: map[string]lang.Price{"large": {Input: 10}}}}}
	told := 0
	m := &meter{
		b: b, action: &Action{Agent: AgentChoice{Model: "large"}}, file: filepath.Join(t.TempDir(), "usage.json"), tell: func(cache.Usage) { told++ },
	}
	const said = `{"model":"odd","input_tokens":1000000,"output_tokens":0}{"model":"strange","input_tokens":2000000,"output_tokens":0}`
	require.NoError(t, os.WriteFile(m.file, []byte(said), 0o600))
	for range 2 {
		m.sample()
		require.Equal(t, 1, told)
		require.Nil(t, m.seen.CostUSD)
		require.EqualValues(t, 3_000_000, *m.seen.InputTokens)
	}
}

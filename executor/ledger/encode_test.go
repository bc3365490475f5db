package ledger

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/jsonline/jsonlinetest"
)

func TestEntriesAreSpelledLikeEncodingJSON(t *testing.T) {
	n, cost, rare := int64(7), 1.25, 1e-9
	e := Entry{
		Kind: Ran, Campaign: "/<c>", Build: "b", Time: time.Date(2026, 12, 1, 8, 0, 0, 5, time.UTC), Address: "t/é", Key: cache.KeyOf(nil), Ordinal: 2,
		Outcome: cache.OK, Profile: "p", Model: "m", Pool: "o", Hits: 1, Elsewhere: 2, Duration: 3, Unknown: 4,
		Usage: cache.Usage{InputTokens: &n, CachedTokens: &n, OutputTokens: &n, CostUSD: &cost, Model: "m", Session: "s", AtLeast: true},
		ID:    "i", Word: "retry", Undoes: "u", Who: "w", Why: "y", Also: 5, Closes: []string{"a", ""},
	}
	same := func() {
		t.Helper()
		want, err := json.Marshal(e)
		require.NoError(t, err)
		have, err := e.appendTo(nil)
		require.NoError(t, err)
		require.Equal(t, string(want), string(have))
	}
	jsonlinetest.Each(t, &e, same)
	e.Usage.CostUSD = &rare
	same()
	e.Time = e.Time.AddDate(9000, 0, 0)
	_, err := e.appendTo(nil)
	require.Error(t, err)
}

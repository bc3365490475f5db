package journal

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/jsonline/jsonlinetest"
	"github.com/ufbuild/ufbuild/lang"
)

func TestRecordsAreSpelledLikeEncodingJSON(t *testing.T) {
	k, a := cache.KeyOf(nil), lang.Address{Task: "t", Key: "<x> é", Matrix: "m=1", Looped: true, Loop: 3}
	r := Record{
		Kind: kindEnded, Time: time.Date(2026, 12, 1, 8, 0, 0, 5, time.UTC), Build: "b", Address: a, Key: k, Ordinal: 2, Outcome: "ok", Message: "m\n",
		Reason: "r", Cause: a, ID: "i", Undoes: "u", Who: "w", Why: "y", Targets: []string{"t"}, Nodes: []Node{{a, k, 1, []int{1}}}, Counts: map[string]int{"x": 1},
		Outputs: digest.Of(nil), Denied: true, For: k, Verdict: cache.VerdictKeyOf(nil, nil), Word: Pin, Own: []string{"o"}, Disowned: []Disowned{{"p", []string{"l"}}},
		Complete: true, Closes: []string{"c"},
	}
	same := func() {
		t.Helper()
		want, err := json.Marshal(&r)
		require.NoError(t, err)
		have, err := r.encode()
		require.NoError(t, err)
		require.Equal(t, string(want), string(have))
	}
	jsonlinetest.Each(t, &r, same)
	r.Targets, r.Nodes, r.Counts, r.Own, r.Disowned, r.Closes = nil, nil, nil, nil, nil, nil
	same()
	_, ok := r.encodeFast()
	require.True(t, ok)
}

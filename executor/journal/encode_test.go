package journal

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/jsonline/jsonlinetest"
	"github.com/ufbuild/ufbuild/lang"
)

func TestRecordsAreSpelledLikeEncodingJSON(t *testing.T) {
	k, a := cache.KeyOf(nil), lang.Address{Task: "t", Key: "x", Matrix: "m-1", Looped: true, Loop: 3}
	r := Record{
		Kind: kindEnded, Time: time.Date(2026, 12, 1, 8, 0, 0, 5, time.UTC), Build: "b", Address: a, Key: k, Ordinal: 2, Outcome: "ok", Message: "m\n",
		Reason: "r", Cause: a, ID: "i", Undoes: "u", Who: "w", Why: "y", Targets: []string{"t"}, Nodes: []Node{{a, k, 1, []int{1}}}, Counts: map[string]int{"x": 1},
		Outputs: digest.Of(nil), Denied: true, For: k, Verdict: cache.VerdictKeyOf(nil, nil), Word: Pin, Own: []string{"o"}, Disowned: []Disowned{{"p", []string{"l"}}},
		Complete: true, Closes: []string{"c"}, More: []Choice{{a, k, 1, k, cache.VerdictKeyOf(nil, nil)}},
	}
	same := func() {
		t.Helper()
		want, err := json.Marshal(&r)
		require.NoError(t, err)
		have, err := r.appendTo(nil)
		require.NoError(t, err)
		require.Equal(t, string(want), string(have))
		var slow, fast Record
		if err := json.Unmarshal(want, &slow); err != nil { // an address that is none
			require.Error(t, fast.decode(have, true))
			return
		}
		require.NoError(t, fast.decode(have, true))
		require.Equal(t, slow, fast)
	}
	jsonlinetest.Each(t, &r, same)
	r.Targets, r.Nodes, r.Counts, r.Own, r.Disowned, r.Closes, r.More = nil, nil, nil, nil, nil, nil, nil
	same()
	_, ok := r.appendFast(nil)
	require.True(t, ok)
	started, ended := BuildStarted("w"), BuildEnded(map[string]int{"fresh": 1, "ran": 2})
	started.Targets, ended.Complete, ended.Closes = []string{"é", "t"}, true, []string{"b"}
	for _, r := range []Record{started, BuildStarted("w"), ended, BuildEnded(nil), Selected(lang.Address{Task: "t"}, k, 1, "first <attempt>"), EndedAttempt(lang.Address{Task: "t"}, k, 1, "ok", "é"), SkippedFor(lang.Address{Task: "t"}, lang.Address{Task: "u"}, "m")} {
		r.Build, r.Time = "b", time.Date(2026, 12, 1, 8, 0, 0, 5, time.UTC)
		b, err := r.appendTo(nil)
		require.NoError(t, err)
		var have Record
		require.True(t, have.decodeFast(b), "%s", b)
		require.Equal(t, r, have)
	}
}

// FuzzDecode proves that the fast decoder accepts nothing that encoding/json reads otherwise.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{"kind":"ended","time":"2026-12-01T08:00:00.5Z","build":"b","address":"t/x@m-1#3","key":"` + cache.KeyOf(nil).String() + `","ordinal":1,"outcome":"ok"}`,
		`{"kind":"selected","time":"2026-12-01T08:00:00Z","reason":"<\u00e9>"}`, `{"kind":"skipped","cause":"t","cause":"","Kind":"x"}`,
		`{"kind":"build_started","who":"w","targets":["t","\u00e9"],"targets":[]}`, `{"kind":"build_ended","counts":{"a":1,"a":2,"":-3},"complete":true,"closes":["b"],"counts":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var fast, want Record
		if !fast.decodeFast(b) {
			return
		}
		d := json.NewDecoder(bytes.NewReader(b))
		d.DisallowUnknownFields()
		if err := d.Decode(&want); err != nil {
			t.Fatalf("accepted %q: %v", b, err)
		}
		if !reflect.DeepEqual(want, fast) {
			t.Fatalf("%q\n fast %+v\n json %+v", b, fast, want)
		}
	})
}

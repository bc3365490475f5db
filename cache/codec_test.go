package cache

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/jsonline/jsonlinetest"
)

// samples returns one record of each kind with every field set, which fullness proves.
func samples() []Record {
	k, n, cost, now := KeyOf([]byte("m")), int64(7), 0.125, time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	d := digest.Of([]byte("blob"))
	return []Record{
		StartedRecord(Attempt{Key: k, Ordinal: 1, Address: "task.a[\"x\"]", Campaign: "/c", Build: "b", Manifest: d, Prompt: d, Reason: "<é>\n",
			Feedback: d, Rung: "r", Agent: Agent{Adapter: "a", Model: "m", Pool: "p", Version: "v"}, Owner: Owner{PID: 1, BootID: "b", StartTime: 2}, Workspace: "/w", StartedAt: now,
			From: &From{Remote: "grpc://r", Producer: "p", Origin: "o", Signer: "s"}}),
		CapturedRecord(k, 2, Captured{Exit: -1, Signal: "SIGKILL", StoppedBy: "idle", Outputs: []Output{{Name: "o", Exists: true, Tree: true,
			Digest: d, Mode: 0o755}}, Leftovers: d, LeftoversTruncated: true, Given: d, Log: d, LogDamage: "a tail", Usage: Usage{InputTokens: &n, CachedTokens: &n,
			OutputTokens: &n, CostUSD: &cost, Model: "m", Session: "s", AtLeast: true}, Kept: []Output{{Name: "k"}}, Duration: 3, Problems: []string{"p"}, Sandbox: "s", Enforced: []string{"e"}, Where: "w"}),
		EndedRecord(k, 3, Rejected, "m", now),
		VerdictRecord(k, 4, Verdict{Key: VerdictKeyOf(nil, nil), Pass: true, Inconclusive: true, Messages: []string{"a", ""}, Warnings: []string{"w"}, Round: 2}),
		DiscardRecord(k, 5, Discard{ID: "i", Who: "w", Why: "y", Campaign: "/c", When: now}),
		RestoreRecord(k, 6, Discard{ID: "i"}),
		PlacedRecord(k, 7, Placed{Remote: "r", Action: "a", Handle: "h", At: "w", Turn: 2}),
	}
}

// A new field must be in the samples, or the fast decoder could forget it unseen.
func TestSamplesAreFull(t *testing.T) {
	r := samples()
	for _, part := range []any{*r[0].Start, *r[0].Start.From, r[0].Start.Owner, r[0].Start.Agent, *r[1].Captured, r[1].Captured.Usage, r[1].Captured.Outputs[0],
		*r[2].End, *r[3].Verdict, *r[4].Discard, *r[6].Placed} {
		v := reflect.ValueOf(part)
		for i := range v.NumField() {
			require.False(t, v.Field(i).IsZero(), "%s.%s", v.Type(), v.Type().Field(i).Name)
		}
	}
}

func TestRecordsComeBack(t *testing.T) {
	for _, want := range samples() {
		b, err := want.Encode()
		require.NoError(t, err)
		require.NotContains(t, string(b), "\n")
		require.True(t, strings.HasPrefix(string(b), `{"key":"`+want.Key.String()+`","kind":"`), "stores index by this prefix: %s", b)
		fast, ok := decodeFast(b)
		require.True(t, ok, "%s", b)
		require.Equal(t, want, fast)
		have, err := DecodeRecord(b)
		require.NoError(t, err)
		require.Equal(t, want, have)
	}
}

// Whatever a field holds, the fast encoder writes what encoding/json does: each is left out, and set alone, in a sample of its kind.
func TestFastEncodingIsThatOfEncodingJSON(t *testing.T) {
	same := func(r *Record) {
		t.Helper()
		want, err := r.encodeSlow()
		require.NoError(t, err)
		have, ok := appendFast([]byte("before"), r)
		require.True(t, ok, "%s", want)
		require.Equal(t, "before"+string(want), string(have))
	}
	for _, r := range samples() {
		same(&r)
		var part any
		switch {
		case r.Start != nil:
			part = r.Start
		case r.Captured != nil:
			r.Captured.Kept = r.Captured.Outputs
			part = r.Captured
		case r.End != nil:
			part = r.End
		case r.Verdict != nil:
			part = r.Verdict
		case r.Kind == KindDiscard:
			part = r.Discard
		case r.Placed != nil:
			part = r.Placed
		default:
			continue
		}
		jsonlinetest.Each(t, part, func() { same(&r) })
	}
	rare := 1e-9
	for _, r := range []Record{
		CapturedRecord(KeyOf(nil), 1, Captured{Usage: Usage{CostUSD: &rare}}),
		EndedRecord(KeyOf(nil), 1, OK, "<&>\xff\u2028\n", time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", -3600))),
	} {
		want, err := r.encodeSlow()
		require.NoError(t, err)
		have, err := r.Encode()
		require.NoError(t, err)
		require.Equal(t, string(want), string(have))
	}
	r := EndedRecord(KeyOf(nil), 1, OK, "", time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC))
	_, err := r.Encode()
	require.Error(t, err, "no year of that many digits")
}

func TestDecodeRecord(t *testing.T) {
	k := KeyOf([]byte("m")).String()
	tests := []struct{ name, text, failure string }{
		{"spaces", `{ "key": "` + k + `", "kind": "ended", "n": 1, "end": {"outcome": "ok"} }`, ""},
		{"unknown kind", `{"key":"` + k + `","kind":"new","n":1}`, ""},
		{"unknown field", `{"key":"` + k + `","kind":"ended","n":1,"end":{"outcome":"ok","x":{"y":[]}}}`, ""},
		{"no body", `{"key":"` + k + `","kind":"ended","n":1}`, ""},
		{"null body", `{"key":"` + k + `","kind":"ended","n":1,"end":null}`, ""},
		{"no key", `{"kind":"ended","n":1}`, "missing"},
		{"ordinal 0", `{"key":"` + k + `","kind":"ended","n":0}`, "missing"},
		{"no kind", `{"key":"` + k + `","n":1}`, "missing"},
		{"bad key", `{"key":"k:00","kind":"ended","n":1}`, "hex"},
		{"cut", `{"key":"` + k + `","kind":"end`, "unexpected end"},
		{"two values", `{"key":"` + k + `","kind":"a","n":1}{}`, "after top-level"},
		{"not an object", `[]`, "cannot unmarshal"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := DecodeRecord([]byte(test.text))
			if test.failure != "" {
				require.ErrorContains(t, err, test.failure)
				return
			}
			require.NoError(t, err)
			b, err := r.Encode()
			require.NoError(t, err)
			require.JSONEq(t, test.text, string(b), "kept")
			require.NotPanics(t, func() { Fold(r.Key, []Record{r}) })
		})
	}
}

// FuzzDecode proves that the fast decoder accepts nothing that encoding/json reads otherwise.
func FuzzDecode(f *testing.F) {
	for _, r := range samples() {
		b, err := r.Encode()
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte(`{"key":"","n":-0,"kind":"\ud800","captured":{"exit":01,"usage":{"cost_usd":1.50}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		fast, ok := decodeFast(b)
		_, _ = DecodeRecord(b)
		if !ok {
			return
		}
		var want Record
		if err := json.Unmarshal(b, &want); err != nil {
			t.Fatalf("accepted %q: %v", b, err)
		}
		if !reflect.DeepEqual(want, fast) {
			t.Fatalf("%q\n fast %+v\n json %+v", b, fast, want)
		}
	})
}

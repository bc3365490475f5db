package cache

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/digest"
)

func TestFold(t *testing.T) {
	k, other := KeyOf([]byte("m")), KeyOf([]byte("other"))
	v := VerdictKeyOf([]byte("c"), nil)
	t0, t1 := time.Unix(100, 0), time.Unix(50, 0)
	out := func(n int) Captured {
		c := Captured{Log: digest.Of([]byte{byte(n)})}
		for range n {
			c.Outputs = append(c.Outputs, Output{Name: "o", Exists: true, Digest: digest.Of(nil)})
		}
		return c
	}
	c2 := out(2)
	start := func(n int, build string) Record {
		return StartedRecord(Attempt{Key: k, Ordinal: n, Build: build, StartedAt: t0})
	}
	tests := []struct {
		name    string
		records []Record
		want    []Attempt
	}{
		{"nothing", nil, []Attempt{}},
		{"another key", []Record{EndedRecord(other, 1, OK, "", t0)}, []Attempt{}},
		{"started", []Record{start(1, "b")}, []Attempt{{Key: k, Ordinal: 1, Build: "b", StartedAt: t0, State: Started}}},
		{"an end before its start", []Record{EndedRecord(k, 1, Failed, "m", t1), start(1, "b")},
			[]Attempt{{Key: k, Ordinal: 1, Build: "b", StartedAt: t0, EndedAt: t1, State: Ended, Outcome: Failed, Message: "m"}}},
		{"captured without a start", []Record{CapturedRecord(k, 3, c2)}, []Attempt{{Key: k, Ordinal: 3, State: CapturedState, Captured: &c2}}},
		{"mentioned only", []Record{DiscardRecord(k, 2, Discard{ID: "r"})}, []Attempt{{Key: k, Ordinal: 2, State: Ended, Outcome: Interrupted,
			Message: "the record of its start is lost", Discarded: &Discard{ID: "r"}, Discards: []Discard{{ID: "r"}}}}},
		{"two starts", []Record{start(1, "b"), start(1, "a"), start(1, "c")},
			[]Attempt{{Key: k, Ordinal: 1, Build: "a", StartedAt: t0, State: Started}}},
		{"two captures", []Record{CapturedRecord(k, 1, out(0)), CapturedRecord(k, 1, c2), CapturedRecord(k, 1, out(1))},
			[]Attempt{{Key: k, Ordinal: 1, State: CapturedState, Captured: &c2}}},
		{"a guess that it was interrupted", []Record{EndedRecord(k, 1, Interrupted, "", t0), EndedRecord(k, 1, TimedOut, "", t1)},
			[]Attempt{{Key: k, Ordinal: 1, State: Ended, Outcome: TimedOut, EndedAt: t1}}},
		{"recheck after a rejection", []Record{EndedRecord(k, 1, Rejected, "", t0), EndedRecord(k, 1, OK, "", t1)},
			[]Attempt{{Key: k, Ordinal: 1, State: Ended, Outcome: OK, EndedAt: t1}}},
		{"an outcome of a later version", []Record{EndedRecord(k, 1, "abducted", "", t0), EndedRecord(k, 1, Interrupted, "", t1)},
			[]Attempt{{Key: k, Ordinal: 1, State: Ended, Outcome: "abducted", EndedAt: t0}}},
		{"verdicts", []Record{EndedRecord(k, 1, OK, "", t0),
			VerdictRecord(k, 1, Verdict{Key: v, Inconclusive: true}), VerdictRecord(k, 1, Verdict{Key: v, Pass: true})},
			[]Attempt{{Key: k, Ordinal: 1, State: Ended, Outcome: OK, EndedAt: t0, Verdicts: map[VerdictKey]Verdict{v: {Key: v, Pass: true}}}}},
		{"a verdict and its contrary", []Record{EndedRecord(k, 1, OK, "", t0),
			VerdictRecord(k, 1, Verdict{Key: v}), VerdictRecord(k, 1, Verdict{Key: v, Pass: true})},
			[]Attempt{{Key: k, Ordinal: 1, State: Ended, Outcome: OK, EndedAt: t0, Verdicts: map[VerdictKey]Verdict{v: {Key: v}}}}},
		{"a later round", []Record{EndedRecord(k, 1, OK, "", t0),
			VerdictRecord(k, 1, Verdict{Key: v, Round: 1, Pass: true}), VerdictRecord(k, 1, Verdict{Key: v})},
			[]Attempt{{Key: k, Ordinal: 1, State: Ended, Outcome: OK, EndedAt: t0, Verdicts: map[VerdictKey]Verdict{v: {Key: v, Pass: true, Round: 1}}}}},
		{"placed again", []Record{PlacedRecord(k, 1, Placed{Remote: "r", Handle: "h", Turn: 2}), start(1, "b"), PlacedRecord(k, 1, Placed{Remote: "r", Turn: 1})},
			[]Attempt{{Key: k, Ordinal: 1, Build: "b", StartedAt: t0, State: Started, Placed: &Placed{Remote: "r", Handle: "h", Turn: 2}}}},
		{"restored", []Record{start(1, "b"), RestoreRecord(k, 1, Discard{ID: "r"}), DiscardRecord(k, 1, Discard{ID: "r"})},
			[]Attempt{{Key: k, Ordinal: 1, Build: "b", StartedAt: t0, State: Started}}},
		{"discards", []Record{start(1, "b"), DiscardRecord(k, 1, Discard{ID: "r2"}), DiscardRecord(k, 1, Discard{ID: "r1"}), DiscardRecord(k, 1, Discard{ID: "r2", Who: "x"})},
			[]Attempt{{Key: k, Ordinal: 1, Build: "b", StartedAt: t0, State: Started, Discarded: &Discard{ID: "r2", Who: "x"}, Discards: []Discard{{ID: "r1"}, {ID: "r2", Who: "x"}}}}},
	}
	shuffle := rand.New(rand.NewPCG(3, 4))
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for range 12 {
				require.Equal(t, test.want, Fold(k, test.records))
				require.Equal(t, test.want, Fold(k, append(test.records, test.records...)), "twice is once")
				shuffle.Shuffle(len(test.records), func(i, j int) {
					test.records[i], test.records[j] = test.records[j], test.records[i]
				})
			}
		})
	}
}

func TestCandidates(t *testing.T) {
	got, gone := &Captured{}, &Discard{ID: "r"}
	all := []Attempt{
		{Ordinal: 1, Captured: got}, {Ordinal: 2, Captured: got, Discarded: gone}, {Ordinal: 3}, {Ordinal: 4, Captured: got}, {Ordinal: 5, Captured: got},
	}
	for selected, want := range map[int][]int{
		0: {5, 4, 1}, 1: {1, 5, 4}, 2: {2, 5, 4, 1}, 3: {5, 4, 1}, 4: {4, 5, 1}, 5: {5, 4, 1}, 9: {5, 4, 1},
	} {
		var have []int
		for _, a := range Candidates(all, selected) {
			have = append(have, a.Ordinal)
		}
		require.Equal(t, want, have, "selected %d", selected)
	}
	require.Equal(t, 1, all[0].Ordinal, "the argument is left alone")
	require.Empty(t, Candidates(nil, 1))
	require.Equal(t, 6, NextOrdinal(all))
	require.Equal(t, 1, NextOrdinal(nil))
}

func TestOutcomes(t *testing.T) {
	require.Len(t, outcomes, 13)
	for _, o := range outcomes {
		require.True(t, o.Valid())
	}
	require.False(t, Outcome("").Valid())
	require.False(t, Outcome("success").Valid())
}

func TestBlobs(t *testing.T) {
	d := func(s string) digest.Digest { return digest.Of([]byte(s)) }
	a := Attempt{Manifest: d("m"), Prompt: d("p"), Captured: &Captured{Log: d("l"), Leftovers: d("t"), Outputs: []Output{
		{Exists: true, Digest: d("o")}, {Exists: true, Digest: d("m")}, {}, {Exists: true, Tree: true, Digest: d("u")}}}}
	require.Equal(t, []digest.Digest{d("m"), d("p"), d("l"), d("t"), d("o"), d("u")}, a.Blobs())
	require.Equal(t, []digest.Digest{d("t"), d("u")}, a.Trees())
	require.Empty(t, Attempt{}.Blobs())
	require.Empty(t, Attempt{}.Trees())
}

package cachetest

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// when is some moment; nothing may depend on it.
var when = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// life returns the records of one attempt from start to end, all of its fields set.
func life(k cache.Key, n int) []cache.Record {
	tokens, cost := int64(12345), 0.25
	d := digest.Of(fmt.Appendf(nil, "output %d", n))
	v := cache.VerdictKeyOf([]byte("contract"), []digest.Digest{d})
	return []cache.Record{
		cache.StartedRecord(cache.Attempt{
			Key: k, Ordinal: n, Address: "task.lint", Campaign: "/campaign", Build: "b1",
			Manifest: digest.Of([]byte("manifest")), Prompt: digest.Of([]byte("prompt")), Reason: "first <attempt> & \"more\"\n",
			Feedback: digest.Of([]byte("feedback")), Rung: "large",
			Owner:     cache.Owner{PID: 7, BootID: "boot", StartTime: 99},
			Workspace: "/work/1", StartedAt: when,
		}),
		cache.CapturedRecord(k, n, cache.Captured{
			Exit: 3, Signal: "SIGTERM", StoppedBy: "timeout", LeftoversTruncated: true,
			Outputs: []cache.Output{
				{Name: "report", Exists: true, Digest: d, Mode: 0o644},
				{Name: "tests", Exists: true, Tree: true, Digest: d},
				{Name: "absent"},
			},
			Leftovers: digest.Of([]byte("left")), Given: digest.Of([]byte("given")), Log: digest.Of([]byte("log")), LogDamage: "half of it",
			Usage:    cache.Usage{InputTokens: &tokens, OutputTokens: &tokens, CostUSD: &cost, Model: "m", Session: "s"},
			Duration: 90 * time.Minute, Sandbox: "none", Where: "local",
		}),
		cache.VerdictRecord(k, n, cache.Verdict{Key: v, Pass: true, Messages: []string{"good"}, Warnings: []string{"odd"}}),
		cache.EndedRecord(k, n, cache.OK, "done", when.Add(-time.Hour)), // a clock went back
	}
}

func attemptLife(t *testing.T, h Hooks) {
	s := h.open(t)
	k := cache.KeyOf([]byte("manifest"))
	require.Empty(t, attempts(t, s, k))
	states := []cache.State{cache.Started, cache.CapturedState, cache.CapturedState, cache.Ended}
	for i, r := range life(k, 1) {
		require.NoError(t, s.Append(r))
		all := attempts(t, s, k)
		require.Len(t, all, 1)
		require.Equal(t, states[i], all[0].State)
		require.Equal(t, i >= 1, all[0].Captured != nil)
	}
	require.Equal(t, cache.Fold(k, life(k, 1)), attempts(t, s, k))
	other := cache.KeyOf([]byte("other"))
	require.Empty(t, attempts(t, s, other))
	require.Equal(t, 2, cache.NextOrdinal(attempts(t, s, k)))
	require.NoError(t, s.Append(append(life(k, 2), life(other, 1)...)...))
	require.NoError(t, s.Append())
	require.Equal(t, cache.Fold(k, append(life(k, 1), life(k, 2)...)), attempts(t, s, k))
	require.Equal(t, cache.Fold(other, life(other, 1)), attempts(t, s, other))
}

func anyOrder(t *testing.T, h Hooks) {
	s := h.open(t)
	shuffle := rand.New(rand.NewPCG(1, 2))
	for round := range 20 {
		k := cache.KeyOf(fmt.Appendf(nil, "manifest %d", round))
		var records []cache.Record
		for n := range 4 {
			records = append(records, life(k, n+1)...)
		}
		records = append(records, cache.DiscardRecord(k, 2, cache.Discard{ID: "r1"}), cache.RestoreRecord(k, 2, cache.Discard{ID: "r1"}),
			cache.DiscardRecord(k, 3, cache.Discard{ID: "r2", Who: "me", Why: "bad", Campaign: "/c", When: when}), records[0])
		want := cache.Fold(k, records)
		shuffle.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
		appendAll(t, s, records...)
		require.Equal(t, want, attempts(t, s, k))
		require.Len(t, want, 4)
		require.Nil(t, want[1].Discarded)
		require.Equal(t, "bad", want[2].Discarded.Why)
	}
}

func concurrentAppends(t *testing.T, h Hooks) {
	s := h.open(t)
	shared := cache.KeyOf([]byte("shared"))
	var all sync.WaitGroup
	errs := make(chan error, 8)
	for worker := range 8 {
		all.Go(func() {
			own := cache.KeyOf(fmt.Appendf(nil, "worker %d", worker))
			var failed error
			for _, r := range append(life(own, 1), life(shared, worker+1)...) {
				failed = errors.Join(failed, s.Append(r), s.Sync())
				if _, err := s.Attempts(shared); err != nil {
					failed = errors.Join(failed, err)
				}
			}
			errs <- failed
		})
	}
	all.Wait()
	for range 8 {
		require.NoError(t, <-errs)
	}
	have := attempts(t, s, shared)
	require.Len(t, have, 8)
	for i, a := range have {
		require.Equal(t, cache.Fold(shared, life(shared, i+1))[0], a)
	}
	require.Equal(t, 9, cache.NextOrdinal(have))
}

func discardAndRestore(t *testing.T, h Hooks) {
	s := h.open(t)
	k := cache.KeyOf([]byte("m"))
	appendAll(t, s, append(life(k, 1), life(k, 2)...)...)
	discarded := func() []bool {
		var out []bool
		for _, a := range attempts(t, s, k) {
			out = append(out, a.Discarded != nil)
		}
		return out
	}
	require.Equal(t, []bool{false, false}, discarded())
	appendAll(t, s, cache.DiscardRecord(k, 2, cache.Discard{ID: "r1", Campaign: "/a"}))
	require.Equal(t, []bool{false, true}, discarded())
	appendAll(t, s, cache.DiscardRecord(k, 2, cache.Discard{ID: "r2", Campaign: "/b"}), cache.RestoreRecord(k, 2, cache.Discard{ID: "r1"}))
	require.Equal(t, []bool{false, true}, discarded(), "another campaign's word stands")
	require.Equal(t, "/b", attempts(t, s, k)[1].Discarded.Campaign)
	appendAll(t, s, cache.RestoreRecord(k, 2, cache.Discard{ID: "r2"}), cache.DiscardRecord(k, 1, cache.Discard{ID: "r1"}))
	require.Equal(t, []bool{true, false}, discarded(), "a restore is of its own attempt")
	appendAll(t, s, cache.DiscardRecord(k, 2, cache.Discard{ID: "r3"}))
	require.Empty(t, cache.Candidates(attempts(t, s, k), 0))
	require.Len(t, cache.Candidates(attempts(t, s, k), 1), 1)
}

func verdicts(t *testing.T, h Hooks) {
	s := h.open(t)
	k := cache.KeyOf([]byte("m"))
	old, edited := cache.VerdictKeyOf([]byte("old"), nil), cache.VerdictKeyOf([]byte("edited"), nil)
	appendAll(t, s,
		cache.VerdictRecord(k, 1, cache.Verdict{Key: old, Messages: []string{"no"}}),
		cache.EndedRecord(k, 1, cache.Rejected, "", when),
		cache.VerdictRecord(k, 1, cache.Verdict{Key: edited, Inconclusive: true}),
		cache.VerdictRecord(k, 2, cache.Verdict{Key: old, Pass: true}),
	)
	all := attempts(t, s, k)
	require.False(t, all[0].Verdicts[old].Pass, "the next attempt's verdict is not this one's")
	require.True(t, all[1].Verdicts[old].Pass)
	require.True(t, all[0].Verdicts[edited].Inconclusive)
	appendAll(t, s, cache.VerdictRecord(k, 1, cache.Verdict{Key: edited, Pass: true}))
	require.True(t, attempts(t, s, k)[0].Verdicts[edited].Pass)
	appendAll(t, s, cache.VerdictRecord(k, 1, cache.Verdict{Key: edited, Round: 1}))
	require.False(t, attempts(t, s, k)[0].Verdicts[edited].Pass, "a later round counts")
}

func unknownRecords(t *testing.T, h Hooks) {
	s := h.open(t)
	k := cache.KeyOf([]byte("m"))
	appendAll(t, s, life(k, 1)...)
	want := attempts(t, s, k)
	for _, text := range []string{
		`{"key":"` + k.String() + `","kind":"sealed","n":1,"seal":{"by":"a later version"}}`,
		`{"key":"` + k.String() + `","kind":"restore","n":1,"discard":{"id":"x","mood":"good"},"more":[1,2]}`,
	} {
		r, err := cache.DecodeRecord([]byte(text))
		require.NoError(t, err)
		require.NoError(t, s.Append(r))
		require.Equal(t, want, attempts(t, s, k))
		again, err := r.Encode()
		require.NoError(t, err)
		require.Equal(t, text, string(again), "kept as it was")
	}
	require.NoError(t, s.Append(cache.EndedRecord(k, 2, "abducted", "", when)))
	require.Equal(t, cache.Outcome("abducted"), attempts(t, s, k)[1].Outcome)
}

func brokenRecords(t *testing.T, h Hooks) {
	s := h.open(t)
	k := cache.KeyOf([]byte("m"))
	for _, r := range []cache.Record{
		{}, cache.EndedRecord(cache.Key{}, 1, cache.OK, "", when), cache.EndedRecord(k, 0, cache.OK, "", when), {Key: k, Ordinal: 1},
	} {
		require.Panics(t, func() { _ = s.Append(r) })
	}
}

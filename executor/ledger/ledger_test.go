package ledger_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/ledger"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ptr[T any](v T) *T { return &v }

func ran(address, key string, ordinal int, o cache.Outcome, d time.Duration, cost *float64) ledger.Entry {
	return ledger.Entry{Kind: ledger.Ran, Campaign: "/c", Build: "b1", Time: start, Address: address, Key: cache.KeyOf([]byte(key)),
		Ordinal: ordinal, Outcome: o, Profile: "p", Duration: d, Usage: cache.Usage{CostUSD: cost}}
}

func read(t *testing.T, dir string, f ledger.Filter) []ledger.Entry {
	t.Helper()
	es, lost, err := ledger.Read(dir, f)
	require.NoError(t, err)
	require.Zero(t, lost)
	return es
}

func TestAppendAndRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "led[ger\xff")
	l := ledger.Open(dir)
	require.NoDirExists(t, dir)
	require.Empty(t, read(t, dir, ledger.Filter{}))
	a := ran("a/x#1", "k", 1, cache.OK, time.Second, ptr(0.5))
	require.NoError(t, l.Append(a))
	require.Equal(t, []ledger.Entry{a}, read(t, dir, ledger.Filter{}), "visible before Close")
	require.NoError(t, l.Append(a))
	require.Len(t, read(t, dir, ledger.Filter{}), 1, "an attempt counts once")
	b := ran("b", "k", 2, cache.Failed, 0, nil)
	b.Campaign, b.Build, b.Time = "/d", "b2", start.Add(time.Hour)
	require.NoError(t, l.Append(b))
	require.NoError(t, l.Close())
	for name, tt := range map[string]struct {
		f    ledger.Filter
		want []ledger.Entry
	}{
		"all":      {ledger.Filter{}, []ledger.Entry{a, b}},
		"campaign": {ledger.Filter{Campaign: "/d"}, []ledger.Entry{b}},
		"build":    {ledger.Filter{Build: "b1"}, []ledger.Entry{a}},
		"since":    {ledger.Filter{Since: start.Add(time.Minute)}, []ledger.Entry{b}},
		"until":    {ledger.Filter{Until: start.Add(time.Hour)}, []ledger.Entry{a}},
	} {
		require.Equal(t, tt.want, read(t, dir, tt.f), name)
	}
}

func TestTwoBuildsWriteAtOnceAndLogsAreReused(t *testing.T) {
	dir := t.TempDir()
	for round := range 3 {
		one, two := ledger.Open(dir), ledger.Open(dir)
		require.NoError(t, one.Append(ran("a", fmt.Sprint("one", round), 1, cache.OK, 0, nil)))
		require.NoError(t, two.Append(ran("b", fmt.Sprint("two", round), 1, cache.OK, 0, nil)))
		require.NoError(t, one.Close())
		require.NoError(t, two.Close())
	}
	logs, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, logs, 2)
	require.Len(t, read(t, dir, ledger.Filter{}), 6)
}

// TestTheLineThatKnowsMostCounts: of several lines of an attempt, in whatever order they lie, one counts.
func TestTheLineThatKnowsMostCounts(t *testing.T) {
	unknown, tokens, least, exact := ran("a", "k", 1, cache.Cancelled, 0, nil), ran("a", "k", 1, cache.OK, 0, nil), ran("a", "k", 1, cache.OK, 0, ptr(0.25)), ran("a", "k", 1, cache.OK, 0, ptr(0.5))
	tokens.Usage.OutputTokens, least.Usage.AtLeast = ptr[int64](7), true
	ranks := []ledger.Entry{unknown, tokens, least, exact}
	for i, one := range ranks {
		for j, other := range ranks {
			dir := t.TempDir()
			l := ledger.Open(dir)
			require.NoError(t, l.Append(one))
			require.NoError(t, l.Append(other))
			require.NoError(t, l.Close())
			got := read(t, dir, ledger.Filter{})
			require.Len(t, got, 1)
			require.Equal(t, ranks[max(i, j)].Usage, got[0].Usage)
		}
	}
}

func TestHitsAreSummedByTask(t *testing.T) {
	dir := t.TempDir()
	l := ledger.Open(dir)
	for i := range 100 {
		l.Hit(ran(fmt.Sprintf("lens/k%d#%d", i, i%3), "k", 1, cache.OK, time.Second, ptr(0.25)))
	}
	l.Hit(ran("cmd", "k", 1, cache.OK, time.Minute, nil))
	require.Empty(t, read(t, dir, ledger.Filter{}))
	require.NoError(t, l.Close())
	es := read(t, dir, ledger.Filter{})
	require.Len(t, es, 2)
	require.Equal(t, "cmd", es[0].Address)
	require.Equal(t, 1, es[0].Unknown)
	require.Equal(t, 100, es[1].Hits)
	require.InDelta(t, 25, *es[1].Usage.CostUSD, 1e-9)
	require.Equal(t, 100*time.Second, es[1].Duration)

	sums := ledger.By(es, ledger.Profile)
	require.Equal(t, ledger.Sum{Hits: 101, SavedDuration: 160 * time.Second, SavedUSD: 25, SavedUSDUnknown: 1}, sums["p"])
}

func TestSumSaysWhenItIsALowerBound(t *testing.T) {
	es := []ledger.Entry{ran("a/1", "a", 1, cache.OK, time.Second, ptr(1.0)), ran("a/2", "b", 1, cache.Failed, time.Second, nil), ran("b", "c", 1, cache.OK, 0, ptr(0.0))}
	sums := ledger.By(es, ledger.Task)
	require.Equal(t, ledger.Sum{Attempts: 2, Duration: 2 * time.Second, CostUSD: 1, Unknown: 1, Untold: 2}, sums["a"])
	require.Equal(t, ledger.Sum{Attempts: 1, Untold: 1}, sums["b"])
}

func TestEstimate(t *testing.T) {
	h := ledger.NewHistory([]ledger.Entry{
		ran("a/x", "old", 1, cache.OK, 10*time.Second, ptr(3.0)),
		ran("a/x", "old", 2, cache.OK, 30*time.Second, ptr(1.0)),
		ran("a/x", "older", 1, cache.Partial, 20*time.Second, nil),
		ran("a/x", "old", 3, cache.Failed, time.Hour, ptr(99.0)),
		ran("a/y", "y", 1, cache.OK, 100*time.Second, nil),
	})
	k := func(s string) cache.Key { return cache.KeyOf([]byte(s)) }
	require.Equal(t, ledger.Estimate{Duration: 10 * time.Second, CostUSD: ptr(1.0), N: 2, Basis: ledger.SameKey}, h.Estimate("/c", "renamed", k("old")))
	require.Equal(t, ledger.Estimate{Duration: 20 * time.Second, CostUSD: ptr(1.0), N: 3, Basis: ledger.SameAddress}, h.Estimate("/c", "a/x", k("new")))
	require.Equal(t, ledger.Estimate{Duration: 20 * time.Second, CostUSD: ptr(1.0), N: 4, Basis: ledger.SameTask}, h.Estimate("/c", "a/new#2", k("new")))
	require.Equal(t, ledger.Estimate{Duration: 100 * time.Second, N: 1, Basis: ledger.SameAddress}, h.Estimate("/c", "a/y", k("new")))
	require.Equal(t, ledger.Estimate{}, h.Estimate("/other", "a/x", k("new")))
}

func TestDamageIsPassedOver(t *testing.T) {
	dir := t.TempDir()
	l := ledger.Open(dir)
	for i := range 3 {
		require.NoError(t, l.Append(ran("a", fmt.Sprint(i), 1, cache.OK, 0, nil)))
	}
	require.NoError(t, l.Close())
	path := filepath.Join(dir, "0000.log")
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	b[len(b)/2] ^= 1
	require.NoError(t, os.WriteFile(path, b, 0o600))
	es, lost, err := ledger.Read(dir, ledger.Filter{})
	require.NoError(t, err)
	require.Equal(t, 1, lost)
	require.Len(t, es, 2)
}

func TestAppendSaysWhatIsWrong(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.ErrorContains(t, ledger.Open(file).Append(ran("a", "k", 1, cache.OK, 0, nil)), "write ledger")
	_, _, err := ledger.Read(file, ledger.Filter{})
	require.ErrorContains(t, err, "read ledger", "an account that cannot be read is not an empty one")
}

func BenchmarkAppend(b *testing.B) {
	l := ledger.Open(b.TempDir())
	e := ran("a/x#1", "k", 1, cache.OK, time.Second, ptr(0.5))
	for b.Loop() {
		if err := l.Append(e); err != nil {
			b.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRead10000(b *testing.B) {
	dir := b.TempDir()
	l := ledger.Open(dir)
	for i := range 10_000 {
		if err := l.Append(ran(fmt.Sprint("a/", i), fmt.Sprint(i), 1, cache.OK, time.Second, ptr(0.5))); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if _, _, err := ledger.Read(dir, ledger.Filter{Campaign: "/c"}); err != nil {
			b.Fatal(err)
		}
	}
}

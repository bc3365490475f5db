package journal

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

var (
	addrA = lang.Address{Task: "a"}
	addrB = lang.Address{Task: "b"}
	keyA  = cache.KeyOf([]byte("a"))
	keyB  = cache.KeyOf([]byte("b"))
)

// fold adds up records in their order. The order of records is the only order there is: times in
// them are never looked at.
func fold(records []Record) *View {
	v := newView()
	for i := range records {
		if err := v.apply(&records[i]); err != nil {
			panic("BUG: a view without a checkpoint reads one: " + err.Error())
		}
	}
	return v
}

func TestRetryAndUndoAreInverse(t *testing.T) {
	before := []Record{Selected(addrA, keyA, 1, "first"), Selected(addrB, keyB, 1, "first")}
	nodes := []Node{{Address: addrA, Key: keyA, Selected: 1, Discards: []int{1}}, {Address: addrB, Key: keyB, Selected: 1, Discards: []int{1}}}
	retry := Retried("r1", "ann", "because", []string{"a"}, nodes)

	v := fold(append(before, retry))
	require.Empty(t, maps.Collect(v.EachSelected()))
	require.Equal(t, 1, selected(v.Last(addrA)).Ordinal, "why still knows what was read last")
	r, ok := v.DiscardedBy(Attempt{keyA, 1})
	require.True(t, ok)
	require.Equal(t, "ann", r.Who)
	last, ok := v.LastRetry()
	require.True(t, ok)

	v = fold(append(before, retry, Undone("u1", "bob", last)))
	require.Equal(t, 1, selected(v.Selected(addrA)).Ordinal)
	require.Equal(t, 1, selected(v.Selected(addrB)).Ordinal)
	_, ok = v.DiscardedBy(Attempt{keyA, 1})
	require.False(t, ok)
	_, ok = v.LastRetry()
	require.False(t, ok, "what is undone is not undone again")
}

func TestUndoBringsBackOverNewerAttempts(t *testing.T) {
	v := fold([]Record{
		Selected(addrA, keyA, 1, ""),
		Retried("r1", "ann", "", nil, []Node{{Address: addrA, Key: keyA, Selected: 1, Discards: []int{1}}}),
		Selected(addrA, keyA, 2, "retry"),
		Undone("u1", "ann", Retry{ID: "r1", Nodes: []Node{{Address: addrA, Key: keyA, Selected: 1, Discards: []int{1}}}}),
	})
	require.Equal(t, 1, selected(v.Selected(addrA)).Ordinal)
	attempts, err := v.History(addrA)
	require.NoError(t, err)
	require.Equal(t, []Attempt{{keyA, 1}, {keyA, 2}}, attempts, "each attempt once, oldest first")
}

func TestTimesDoNotCount(t *testing.T) {
	late, early := Selected(addrA, keyA, 1, ""), Selected(addrA, keyA, 2, "")
	late.Time, early.Time = time.Unix(2e9, 0), time.Unix(1e9, 0)
	require.Equal(t, 2, selected(fold([]Record{late, early}).Selected(addrA)).Ordinal)
}

func TestJournalSurvivesDamage(t *testing.T) {
	root := t.TempDir()
	j, err := Open(root)
	require.NoError(t, err)
	require.NoError(t, j.Append(Selected(addrA, keyA, 1, ""), Selected(addrB, keyB, 1, "")))
	require.NoError(t, j.Sync())
	require.NoError(t, j.Close())
	path := filepath.Join(root, Dir, logName)
	b, err := os.ReadFile(path)
	require.NoError(t, err)

	b[12] ^= 1 // in the first record
	require.NoError(t, os.WriteFile(path, append(b, "0badc0de {\"kind\":\"sel"...), 0o644))
	v, damage, err := Read(root)
	require.NoError(t, err)
	require.NotContains(t, maps.Collect(v.EachSelected()), addrA)
	require.Contains(t, maps.Collect(v.EachSelected()), addrB, "what can be proved counts")
	require.NotEmpty(t, damage)

	j, err = Open(root) // cuts the torn line
	require.NoError(t, err)
	require.NoError(t, j.Append(Selected(addrA, keyA, 2, "")))
	require.NoError(t, j.Close())
	v, _, err = Read(root)
	require.NoError(t, err)
	require.Equal(t, 2, selected(v.Selected(addrA)).Ordinal)
}

func TestReadWritesNothing(t *testing.T) {
	root := t.TempDir()
	v, damage, err := Read(root)
	require.NoError(t, err)
	require.Empty(t, damage)
	require.Empty(t, maps.Collect(v.EachSelected()))
	_, held := Held(root)
	require.False(t, held)
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestLockNamesItsHolder(t *testing.T) {
	root := t.TempDir()
	me := Holder{PID: os.Getpid(), Who: "ann", Verb: "build", Build: "b1"}
	l, err := Acquire(root, me)
	require.NoError(t, err)
	h, held := Held(root)
	require.True(t, held)
	require.Equal(t, me, h)
	_, err = Acquire(root, Holder{PID: 43})
	require.ErrorContains(t, err, "ann")
	require.NoError(t, l.Release())
	_, held = Held(root)
	require.False(t, held, "a file that is left behind holds nothing")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l, err = AcquireWait(ctx, root, me, func(Holder) { t.Fatal("nobody holds it") })
	require.NoError(t, err)
	require.NoError(t, l.Release())
}

// TestLockOutlivesItsHolderForAMoment is about a builder that is killed while it starts a program.
func TestLockOutlivesItsHolderForAMoment(t *testing.T) {
	gone := exec.Command("true")
	require.NoError(t, gone.Run())
	for _, c := range []struct {
		name   string
		pid    int
		copied time.Duration // how long the copy of the descriptor stays open
		want   bool
	}{
		{"dead, its child on the way", gone.Process.Pid, copyTime / 2, true},
		{"dead, and another has the lock", gone.Process.Pid, 10 * copyTime, false},
		{"alive", os.Getpid(), copyTime / 2, false},
		{"unknown", 0, copyTime / 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				root := t.TempDir()
				first, err := Acquire(root, Holder{PID: c.pid})
				require.NoError(t, err)
				released := make(chan error)
				go func() {
					<-time.After(c.copied)
					released <- first.Release()
				}()
				second, err := Acquire(root, Holder{PID: os.Getpid()})
				require.NoError(t, <-released)
				if !c.want {
					var held *HeldError
					require.ErrorAs(t, err, &held)
					return
				}
				require.NoError(t, err)
				require.NoError(t, second.Release())
			})
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("00000000 {}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		root := t.TempDir()
		require.NoError(t, os.MkdirAll(filepath.Join(root, Dir), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(root, Dir, logName), b, 0o644))
		_, _, err := Read(root)
		require.NoError(t, err)
	})
}

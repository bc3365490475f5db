package journal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// Every decision is in the history of the addresses it concerns, with who took it back.
func TestDecisions(t *testing.T) {
	a, b := lang.Address{Task: "a"}, lang.Address{Task: "b"}
	k := cache.KeyOf([]byte("k"))
	retry := Retry{ID: "r1", Nodes: []Node{{Address: a, Key: k, Selected: 1, Discards: []int{1}}, {Address: b}}}
	ruling := Ruling{Attempt: Attempt{k, 2}, ID: "p1", Address: a, Word: Pin, Who: "ann", Why: "good"}
	v := Fold([]Record{
		Selected(a, k, 1, ""), Retried("r1", "bob", "thin", nil, retry.Nodes), Undone("u1", "cid", retry), Ruled(ruling), Unruled("u2", "dan", ruling),
		Approved(a, k, 2, digest.Of(nil), Approval{Denied: true, Who: "eve"}),
	})
	require.Equal(t, []Decision{
		{Attempt: Attempt{k, 1}, ID: "r1", Word: "retry", Who: "bob", Why: "thin", Undone: true},
		{Attempt: Attempt{k, 1}, ID: "u1", Word: "undo", Undoes: "r1", Who: "cid"},
		{Attempt: Attempt{k, 2}, ID: "p1", Word: "pin", Who: "ann", Why: "good", Undone: true},
		{Attempt: Attempt{k, 2}, ID: "u2", Word: "undo", Undoes: "p1", Who: "dan"},
		{Attempt: Attempt{k, 2}, Word: "deny", Who: "eve"},
	}, v.Decisions[a])
	require.Equal(t, []string{"retry", "undo"}, []string{v.Decisions[b][0].Word, v.Decisions[b][1].Word})
	require.Empty(t, v.Decisions[b][0].Attempt)
}

func TestRulings(t *testing.T) {
	addr := lang.Address{Task: "a"}
	old, now := cache.KeyOf([]byte("old")), cache.KeyOf([]byte("now"))
	accepted := Ruling{Attempt: Attempt{old, 1}, ID: "r", Address: addr, Word: Accept, For: now, Who: "x", Time: time.Unix(1, 0)}
	pinned := Ruling{Attempt: Attempt{old, 1}, ID: "p", Address: addr, Word: Pin, For: now}
	unpinned := Ruling{Attempt: Attempt{old, 1}, ID: "u", Address: addr, Word: Unpin, For: now}
	records := []Record{Selected(addr, old, 1, ""), Selected(addr, now, 7, ""), Ruled(accepted)}

	v := Fold(records)
	r, ok := v.RulingOf(addr, now)
	require.True(t, ok)
	require.Equal(t, accepted.Attempt, r.Attempt)
	require.Equal(t, accepted.Attempt, v.Selected[addr].Attempt)
	_, ok = v.RulingOf(addr, old)
	require.False(t, ok, "it was for one key")

	v = Fold(append(records, Unruled("undo", "x", accepted)))
	_, ok = v.RulingOf(addr, now)
	require.False(t, ok)
	require.Equal(t, Attempt{now, 7}, v.Selected[addr].Attempt, "as it was")

	retry := Retried("t", "x", "", nil, []Node{{Address: addr, Key: old, Selected: 1, Discards: []int{1}}})
	v = Fold(append(records, retry))
	_, ok = v.RulingOf(addr, now)
	require.False(t, ok, "a retry after it discards the attempt")
	_, ok = v.LastRuling()
	require.False(t, ok, "the retry is taken back first")
	v = Fold(append([]Record{retry}, records...))
	_, ok = v.RulingOf(addr, now)
	require.True(t, ok, "what was retried can be chosen again by name")

	v = Fold(append(records, Ruled(pinned)))
	_, ok = v.PinOf(addr, pinned.Attempt)
	require.True(t, ok)
	v = Fold(append(records, Ruled(pinned), Ruled(unpinned)))
	_, ok = v.PinOf(addr, pinned.Attempt)
	require.False(t, ok)
	_, ok = v.RulingOf(addr, now)
	require.True(t, ok, "it goes on reading what it reads")
}

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
	v := fold([]Record{
		Selected(a, k, 1, ""), Retried("r1", "bob", "thin", nil, retry.Nodes), Undone("u1", "cid", retry), Ruled(ruling), Unruled("u2", "dan", ruling),
		Approved(a, k, 2, digest.Of(nil), Approval{Denied: true, Who: "eve"}),
	})
	require.Equal(t, []Decision{
		{Attempt: Attempt{k, 1}, ID: "r1", Word: "retry", Who: "bob", Why: "thin", Undone: true},
		{Attempt: Attempt{k, 1}, ID: "u1", Word: "undo", Undoes: "r1", Who: "cid"},
		{Attempt: Attempt{k, 2}, ID: "p1", Word: "pin", Who: "ann", Why: "good", Undone: true},
		{Attempt: Attempt{k, 2}, ID: "u2", Word: "undo", Undoes: "p1", Who: "dan"},
		{Attempt: Attempt{k, 2}, Word: "deny", Who: "eve"},
	}, v.decisions[a])
	require.Equal(t, []string{"retry", "undo"}, []string{v.decisions[b][0].Word, v.decisions[b][1].Word})
	require.Empty(t, v.decisions[b][0].Attempt)
}

func TestRulings(t *testing.T) {
	addr := lang.Address{Task: "a"}
	old, now := cache.KeyOf([]byte("old")), cache.KeyOf([]byte("now"))
	accepted := Ruling{Attempt: Attempt{old, 1}, ID: "r", Address: addr, Word: Accept, For: now, Who: "x", Time: time.Unix(1, 0)}
	pinned := Ruling{Attempt: Attempt{old, 1}, ID: "p", Address: addr, Word: Pin, For: now}
	unpinned := Ruling{Attempt: Attempt{old, 1}, ID: "u", Address: addr, Word: Unpin, For: now}
	records := []Record{Selected(addr, old, 1, ""), Selected(addr, now, 7, ""), Ruled(accepted)}

	v := fold(records)
	r, ok := v.RulingOf(addr, now)
	require.True(t, ok)
	require.Equal(t, accepted.Attempt, r.Attempt)
	require.Equal(t, accepted.Attempt, selected(v.Selected(addr)).Attempt)
	_, ok = v.RulingOf(addr, old)
	require.False(t, ok, "it was for one key")

	v = fold(append(records, Unruled("undo", "x", accepted)))
	_, ok = v.RulingOf(addr, now)
	require.False(t, ok)
	require.Equal(t, Attempt{now, 7}, selected(v.Selected(addr)).Attempt, "as it was")

	retry := Retried("t", "x", "", nil, []Node{{Address: addr, Key: old, Selected: 1, Discards: []int{1}}})
	v = fold(append(records, retry))
	_, ok = v.RulingOf(addr, now)
	require.False(t, ok, "a retry after it discards the attempt")
	_, ok = v.LastRuling()
	require.False(t, ok, "the retry is taken back first")
	v = fold(append([]Record{retry}, records...))
	_, ok = v.RulingOf(addr, now)
	require.True(t, ok, "what was retried can be chosen again by name")

	v = fold(append(records, Ruled(pinned)))
	_, ok = v.PinOf(addr, pinned.Attempt)
	require.True(t, ok)
	v = fold(append(records, Ruled(pinned), Ruled(unpinned)))
	_, ok = v.PinOf(addr, pinned.Attempt)
	require.False(t, ok)
	_, ok = v.RulingOf(addr, now)
	require.True(t, ok, "it goes on reading what it reads")

	other := lang.Address{Task: "b"}
	both := Ruled(accepted, Ruling{Attempt: Attempt{old, 3}, Address: other, For: now})
	v = fold(append(records[:2:2], both))
	require.Equal(t, Attempt{old, 1}, selected(v.Selected(addr)).Attempt)
	require.Equal(t, Attempt{old, 3}, selected(v.Selected(other)).Attempt)
	r, ok = v.RulingOf(other, now)
	require.True(t, ok)
	require.Len(t, v.Together(r), 2)
	v = fold(append(records[:2:2], both, Unruled("undo", "x", r)))
	require.Equal(t, Attempt{now, 7}, selected(v.Selected(addr)).Attempt, "all of it is taken back")
	_, ok = v.Selected(other)
	require.False(t, ok)

	edited := cache.KeyOf([]byte("edited"))
	v = fold(append(records, Ruled(pinned), Ruled(unpinned), Selected(addr, edited, 1, "an edit"), Unruled("undo", "x", unpinned)))
	_, ok = v.PinOf(addr, pinned.Attempt)
	require.True(t, ok, "the pin is back")
	require.Equal(t, Attempt{edited, 1}, selected(v.Selected(addr)).Attempt, "and what a build selected meanwhile is read as before")
}

// A word about bytes is taken back like any other decision, in the order of all of them.
func TestApprovalsAreTakenBack(t *testing.T) {
	a, k, bytes := lang.Address{Task: "a"}, cache.KeyOf([]byte("k")), digest.Of([]byte("b"))
	said := func(id string, denied bool) Record {
		return Approved(a, k, 1, bytes, Approval{ID: id, Denied: denied, Who: "ann"})
	}
	records := []Record{Selected(a, k, 1, ""), said("d1", true), said("a1", false)}
	v := fold(records)
	last, ok := v.LastRuling()
	require.True(t, ok)
	require.Equal(t, Approve, last.Word)

	records = append(records, Unruled("u1", "bob", last))
	v = fold(records)
	got, ok := v.ApprovalOf(a, bytes)
	require.True(t, ok)
	require.True(t, got.Denied, "what was said before counts again")
	require.Equal(t, 1, selected(v.Selected(a)).Ordinal, "it selected nothing, so nothing is unselected")
	require.True(t, v.decisions[a][1].Undone)

	last, ok = v.LastRuling()
	require.True(t, ok)
	require.Equal(t, "d1", last.ID)
	v = fold(append(records, Unruled("u2", "bob", last)))
	_, ok = v.ApprovalOf(a, bytes)
	require.False(t, ok)
	_, ok = v.LastRuling()
	require.False(t, ok)
}

// selected is a selection, zero for none.
func selected(s Selection, _ bool) Selection { return s }

package journal

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

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

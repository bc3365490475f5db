package journal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// An order is for one build; for every other one, and when it is damaged, it is none.
func TestOrderIsForOneBuild(t *testing.T) {
	root := t.TempDir()
	l, err := Acquire(root, Holder{PID: 1, Build: "b1", Verb: "build"})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Release()) }()
	_, ok := Given(root, "b1")
	require.False(t, ok)
	require.NoError(t, DropOrder(root), "there is none")
	o := Order{ID: "o1", Build: "b1", Want: WantHold, Who: "ann"}
	require.NoError(t, Give(root, o))
	got, ok := Given(root, "b1")
	require.True(t, ok)
	require.Equal(t, o, got)
	_, ok = Given(root, "b2")
	require.False(t, ok)
	require.NoError(t, os.WriteFile(filepath.Join(root, Dir, orderName), []byte(`{"id": "o1", "bui`), 0o600))
	_, ok = Given(root, "b1")
	require.False(t, ok)
	require.NoError(t, DropOrder(root))
	require.NoFileExists(t, filepath.Join(root, Dir, orderName))
}

// What a holder says is read whole, also when it is shorter than what it said before.
func TestHolderSaysSomethingElse(t *testing.T) {
	root := t.TempDir()
	me := Holder{PID: 7, Build: "b1", Verb: "build", Hold: &Order{ID: "o1", Who: "ann", Why: "a reason of some length"}}
	l, err := Acquire(root, me)
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Release()) }()
	for _, hold := range []*Order{me.Hold, nil, {ID: "o2", Who: "bob"}} {
		me.Hold = hold
		require.NoError(t, l.Say(me))
		require.Equal(t, me, readHolder(filepath.Join(root, Dir, lockName)))
	}
	f, err := os.OpenFile(filepath.Join(root, Dir, lockName), os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	_, err = f.WriteAt([]byte("{\"pid\": 9}\n"), 0) // the instant before it is cut
	require.NoError(t, err)
	require.Equal(t, Holder{PID: 9}, readHolder(f.Name()))
}

package pause_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/pause"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestPausesAreKept(t *testing.T) {
	dir := pause.Dir(filepath.Join(t.TempDir(), "pauses"))
	require.Empty(t, dir.All())
	limited := pause.Pause{Account: pause.Account{Pool: "../a b"}, Until: noon, Reason: "429", Count: 1}
	credit := pause.Pause{Account: pause.Account{Agent: "x"}, Reason: "402", Count: 1}
	require.NoError(t, dir.Save(limited))
	require.NoError(t, dir.Save(credit))
	limited.Count = 2
	left := filepath.Join(string(dir), ".agent-gone.json-1") // by a build that was killed, of an account that nobody pauses any more
	require.NoError(t, os.WriteFile(left, nil, 0o600))
	require.NoError(t, dir.Save(limited))
	require.NoFileExists(t, left)
	require.Equal(t, []pause.Pause{credit, limited}, dir.All())
	require.NoError(t, dir.Drop(credit.Account))
	require.NoError(t, dir.Drop(credit.Account), "nothing is there any more")
	require.Equal(t, []pause.Pause{limited}, dir.All())
}

func TestDamagedPausesDoNotCount(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, pause.Dir(dir).Save(pause.Pause{Account: pause.Account{Pool: "a"}, Until: noon}))
	require.NoError(t, os.Rename(filepath.Join(dir, "pool-a.json"), filepath.Join(dir, "pool-b.json")))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pool-c.json"), []byte(`{"pool":"c"`), 0o600))
	require.Empty(t, pause.Dir(dir).All())
}

func TestPausesHold(t *testing.T) {
	timed := pause.Pause{Account: pause.Account{Pool: "a"}, Until: noon, Reason: "slow down"}
	require.True(t, timed.Holds(noon.Add(-time.Second)))
	require.False(t, timed.Holds(noon))
	require.Equal(t, "pool a paused until 12:00:00 (slow down)", timed.String())
	timed.Since = noon.Add(-time.Hour)
	require.True(t, timed.Holds(noon.Add(-time.Hour-time.Minute)), "a clock that was set right by a minute")
	require.False(t, timed.Holds(noon.Add(-2*time.Hour)), "the clock stepped back to before it began")
	timed.Since = time.Time{}
	require.True(t, timed.Holds(noon.AddDate(0, 0, -31)))
	require.False(t, timed.Holds(noon.AddDate(-10, 0, 0)), "no provider asks for years")
	open := pause.Pause{Account: pause.Account{Agent: "a"}, Reason: "no credit"}
	require.True(t, open.Holds(noon.AddDate(10, 0, 0)))
	require.Equal(t, "agent a paused (no credit)", open.String())
}

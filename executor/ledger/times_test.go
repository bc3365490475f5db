package ledger

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "times")
	times := OpenTimes(path)
	require.Zero(t, times.Of("task.a"))
	require.NoError(t, times.Save(func(string) bool { return true }))
	require.NoFileExists(t, path, "nothing to say")
	times.Note("task.a", 90*time.Minute)
	times.Note(`task.b["x y"]`, 1500*time.Nanosecond)
	times.Note("task.gone", time.Second)
	times.Note("task.none", 0)
	require.NoError(t, times.Save(func(a string) bool { return a != "task.gone" }))
	again := OpenTimes(path)
	require.Equal(t, 90*time.Minute, again.Of("task.a"))
	require.Equal(t, time.Microsecond, again.Of(`task.b["x y"]`))
	require.Zero(t, again.Of("task.gone"))
	require.Zero(t, again.Of("task.none"))
}

func TestDamagedTimesKnowLess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "times")
	for text, want := range map[string]time.Duration{
		"":                                      0,
		"5 task.a\n":                            0,
		timesMagic + "5 task.a":                 5 * time.Microsecond,
		timesMagic + "x task.b\n\n7 task.a\n-1": 7 * time.Microsecond,
		timesMagic + "-7 task.a\n":              0,
		timesMagic + "99999999999999999999 task.a": 0,
	} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		require.Equal(t, want, OpenTimes(path).Of("task.a"), "%q", text)
	}
}

package ledger

import (
	"bytes"
	"fmt"
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

// TestManyTimes changes a few of many, which are searched where they lie, and holds that to what a map says.
func TestManyTimes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "times")
	want := map[string]time.Duration{}
	note := func(times *Times, address string, d time.Duration) {
		times.Note(address, d)
		want[address] = d
	}
	holds := func() *Times {
		times := OpenTimes(path)
		for address, d := range want {
			require.Equal(t, d, times.Of(address), address)
		}
		for _, address := range []string{"", "a", "t5 ", "t50x", "zz"} {
			require.Zero(t, times.Of(address), address)
		}
		return times
	}
	times := OpenTimes(path)
	for i := range 4000 {
		note(times, fmt.Sprintf("t%d", i), time.Duration(i+1)*time.Microsecond)
	}
	require.NoError(t, times.Save(nil))
	times = holds()
	require.NotEmpty(t, times.lines)
	for i, address := range []string{"t0", "t17", "t18", "t3999", "b/x y", "t50y", "zzz"} {
		note(times, address, time.Duration(i+1)*time.Hour)
	}
	require.NoError(t, times.Save(nil))
	times = holds()
	note(times, "t9", time.Minute)
	require.NoError(t, times.Save(func(address string) bool { return address != "t8" }))
	delete(want, "t8")
	times = holds()
	require.Zero(t, times.Of("t8"))
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, len(want)+1, bytes.Count(b, []byte("\n")))
}

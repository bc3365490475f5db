package main

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/stamp"
)

// watching runs a watcher whose builds take a second, and returns what to do to it and when it built.
func watching(t *testing.T, differs func() bool) (change func(string), builds *[]string, stop func()) {
	changes := make(chan string, 1)
	ctx, cancel := context.WithCancel(t.Context())
	var log []string
	running := false
	started := time.Now()
	w := watcher{
		changes: changes, after: time.After, settle: 100 * time.Millisecond, differs: differs, idle: func() {},
		name: func(paths []string) string { return paths[0] },
		build: func(_ context.Context, path string) {
			require.False(t, running, "two builds at once")
			running = true
			log = append(log, time.Since(started).String()+" "+path)
			time.Sleep(time.Second)
			running = false
		},
	}
	done := make(chan struct{})
	go func() { w.run(ctx); close(done) }()
	change = func(path string) {
		select {
		case changes <- path:
		default:
		}
	}
	return change, &log, func() { cancel(); <-done }
}

// TestWatchSettles builds once for a burst of changes, after it, and never two builds at once.
func TestWatchSettles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		change, builds, stop := watching(t, func() bool { return true })
		time.Sleep(2 * time.Second)
		for range 5 {
			change("a")
			time.Sleep(50 * time.Millisecond)
		}
		time.Sleep(500 * time.Millisecond) // the build runs
		change("b")
		time.Sleep(5 * time.Second)
		stop()
		require.Equal(t, []string{"0s ", "2.3s a", "3.4s b"}, *builds)
	})
}

// TestWatchDoesNotStarve builds although something never stops changing.
func TestWatchDoesNotStarve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		change, builds, stop := watching(t, func() bool { return true })
		for range 200 {
			change("log")
			time.Sleep(50 * time.Millisecond)
		}
		stop()
		require.Equal(t, []string{"0s ", "6s log"}, (*builds)[:2])
	})
}

// TestWatchNamesWhatWasRead tells of the file and not of the names that an editor wrote it under.
func TestWatchNamesWhatWasRead(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(root, "new.txt"), nil, 0o644))
	seen, err := stamp.Decode((&stamp.Stamp{Seen: []stamp.Observation{{Path: "src/a.txt"}}}).Encode())
	require.NoError(t, err)
	for _, tc := range []struct {
		seen *stamp.Kept
		told []string
		want string
	}{
		{seen, []string{"src/sed3f", "src/a.txt"}, "src/a.txt"},
		{seen, []string{"4913", "new.txt~", "new.txt"}, "new.txt"},
		{nil, []string{".x.swp", filepath.Join(root, "new.txt")}, filepath.Join(root, "new.txt")},
		{seen, []string{"gone.txt"}, "gone.txt"},
	} {
		require.Equal(t, tc.want, nameOf(root, tc.seen, tc.told))
	}
}

// TestWatchIgnoresWhatNobodyReads builds nothing when everything is as it was.
func TestWatchIgnoresWhatNobodyReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		same := true
		change, builds, stop := watching(t, func() bool { return !same })
		time.Sleep(2 * time.Second)
		change("notes.txt")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Len(t, *builds, 1)
		same = false
		change("input.txt")
		time.Sleep(2 * time.Second)
		stop()
		require.Len(t, *builds, 2)
	})
}

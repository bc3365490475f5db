package remote

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor/remote/workertest"
)

// TestLogsAreLive: where a server streams the log of what runs, it is shown meanwhile, masked, and no byte of it twice; a stream that
// breaks is made up for at the end.
func TestLogsAreLive(t *testing.T) {
	for name, faults := range map[string]remotetest.Faults{"whole": {}, "broken": {Fail: map[string]codes.Code{"Read": codes.Unavailable}, FailTimes: 1}} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, `echo "one $KEY, and more than may be held back in search of it"; read word <$FIFO; echo $word $KEY; echo x >out`)
			fifo := filepath.Join(t.TempDir(), "fifo")
			require.NoError(t, unix.Mkfifo(fifo, 0o600))
			tr.w.Live, tr.w.Env = true, []string{"KEY=hunter2-the-secret"}
			tr.inv.Env = append(tr.inv.Env, "FIFO="+fifo, "KEY=hunter2-the-secret")
			tr.inv.ByName, tr.inv.Mask = []string{"KEY"}, []string{"hunter2-the-secret"}
			tr.server.Misbehave(faults)
			if name == "broken" { // nothing is live then
				tr.w.Bend = func(int, *workertest.Behaviour) {
					go func() { _ = os.WriteFile(fifo, []byte("two\n"), 0) }()
				}
			}
			var mu sync.Mutex
			var once sync.Once
			var shown strings.Builder
			c, err := tr.runner.Run(t.Context(), tr.inv, func(p []byte) {
				mu.Lock()
				defer mu.Unlock()
				shown.Write(p)
				if name == "whole" && strings.HasPrefix(shown.String(), "one") { // the program waits for that
					once.Do(func() { go func() { _ = os.WriteFile(fifo, []byte("two\n"), 0) }() })
				}
			})
			require.NoError(t, err)
			log, err := cache.ReadAll(tr.store, c.Log, 1<<20)
			require.NoError(t, err)
			require.Equal(t, string(log), shown.String())
			require.Regexp(t, `^one .*\ntwo .*\n$`, shown.String())
			require.NotContains(t, shown.String(), "hunter2")
		})
	}
}

// TestIdleTimeoutAtAServer: a program that prints nothing for so long is stopped over there, what it left is kept, and one that prints is
// none the worse for being watched.
func TestIdleTimeoutAtAServer(t *testing.T) {
	for name, test := range map[string]struct {
		script    string
		stoppedBy string
		exit      int
		log       string
	}{
		"prints now and then":        {"for i in 1 2 3 4 5 6; do echo $i; sleep 0.2; done; echo x >out; exit 7", "", 7, "1\n2\n3\n4\n5\n6\n"},
		"falls silent":               {"echo x >out; echo one >&2; sleep 60", "idle", 130, "one\n"},
		"does not heed the signal":   {"trap '' INT; echo x >out; echo one; while :; do sleep 1; done", "idle", 137, "one\nKilled\n"}, // says the shell
		"leaves one behind":          {"echo x >out; sleep 5 & echo one", "", 0, "one\n"},
		"is quick":                   {"echo x >out", "", 0, ""},
		"ends what it was told to":   {"trap 'echo bye; exit 3' INT; echo x >out; while :; do sleep 0.1; done", "idle", 3, "bye\n"},
		"is at the end of its time":  {"echo x >out; while :; do echo .; sleep 0.3; done", "timeout", 130, ""},
		"reads its standard input":   {"cat; echo x >out", "", 0, "asked\n"},
		"is not there to be started": {"", "", 127, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, test.script)
			tr.inv.IdleTimeout, tr.inv.Grace, tr.inv.Stdin = 700*time.Millisecond, time.Second, []byte("asked\n")
			if test.stoppedBy == "timeout" {
				tr.inv.Timeout = 1500 * time.Millisecond
			}
			if test.exit == 127 {
				tr.inv.Argv = []string{"no-such-program"}
			}
			begun := time.Now()
			c, err := tr.run()
			require.NoError(t, err)
			require.Less(t, time.Since(begun), 30*time.Second)
			log, err := cache.ReadAll(tr.store, c.Log, 1<<20)
			require.NoError(t, err)
			require.Equal(t, test.stoppedBy, c.StoppedBy, string(log))
			require.Equal(t, test.exit, c.Exit, string(log))
			if test.log != "" {
				require.Equal(t, test.log, string(log))
			}
			require.Equal(t, test.exit != 127, c.Outputs[0].Exists)
		})
	}
}

package remote

import (
	"os"
	"path/filepath"
	"regexp"
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
// none the worse for being watched. How long is long enough for a program to begin and to print again is a matter of the machine: what does
// not come out as it should gets twice the time, and has to before long.
func TestIdleTimeoutAtAServer(t *testing.T) {
	type ending struct {
		stoppedBy string
		exit      int
		log       string
		kept      bool // what it left
	}
	for name, test := range map[string]struct {
		script string
		want   ending
	}{
		"prints now and then":        {"for i in 1 2 3 4 5 6; do echo $i; sleep GAP; done; echo x >out; exit 7", ending{"", 7, "1\n2\n3\n4\n5\n6\n", true}},
		"falls silent":               {"echo x >out; echo one >&2; sleep 60", ending{"idle", 130, "one\n", true}},
		"does not heed the signal":   {"trap '' INT; echo x >out; echo one; while :; do sleep 1; done", ending{"idle", 137, "one\nKilled\n", true}}, // says the shell
		"leaves one behind":          {"echo x >out; sleep 5 & echo one", ending{"", 0, "one\n", true}},
		"is quick":                   {"echo x >out", ending{"", 0, "", true}},
		"ends what it was told to":   {"trap 'echo bye; exit 3' INT; echo x >out; while :; do sleep 0.1; done", ending{"idle", 3, "bye\n", true}},
		"is at the end of its time":  {"echo x >out; while :; do echo .; sleep GAP; done", ending{"timeout", 130, ".\n", true}},
		"reads its standard input":   {"cat; echo x >out", ending{"", 0, "asked\n", true}},
		"is not there to be started": {"", ending{exit: 127}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := func(idle time.Duration) ending {
				tr := newTrial(t, strings.ReplaceAll(test.script, "GAP", decimal(idle.Seconds()*2/7)))
				tr.inv.IdleTimeout, tr.inv.Grace, tr.inv.Stdin = idle, time.Second, []byte("asked\n")
				if test.want.stoppedBy == "timeout" {
					tr.inv.Timeout = 2 * idle
				}
				if test.want.exit == 127 {
					tr.inv.Argv = []string{"no-such-program"}
				}
				c, err := tr.run()
				require.NoError(t, err)
				log, err := cache.ReadAll(tr.store, c.Log, 1<<20)
				require.NoError(t, err)
				said := string(log)
				switch {
				case test.want.exit == 127:
					said = ""
				case test.want.stoppedBy == "timeout": // as often as it came to it
					said = regexp.MustCompile(`^(\.\n)+$`).ReplaceAllString(said, ".\n")
				}
				return ending{c.StoppedBy, c.Exit, said, c.Outputs[0].Exists}
			}
			idle := 700 * time.Millisecond
			got := run(idle)
			for ; got != test.want && idle < 10*time.Second; got = run(idle) {
				t.Logf("within %v: %+v", idle, got)
				idle *= 2
			}
			require.Equal(t, test.want, got)
		})
	}
}

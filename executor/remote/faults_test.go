package remote

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/remote/workertest"
	"github.com/ufbuild/ufbuild/lang"
)

// trial is one attempt at a server that misbehaves.
type trial struct {
	w       *workertest.Worker
	server  *remotetest.Server
	store   cache.Store
	runner  *Runner
	inv     *executor.Invocation
	placed  []cache.Placed
	notices []string
}

func newTrial(t *testing.T, script string) *trial {
	w := workertest.Start(t, remotetest.Options{})
	server := w.Server
	store := mem.New(t.TempDir())
	tr := &trial{w: w, server: server, store: store}
	tr.runner = &Runner{
		Name: "farm", Courier: &Courier{Client: dial(t, server.URL()), CAS: store}, After: func(d time.Duration) <-chan time.Time { return time.After(d / 50) },
		Notice: func(_, text string) { tr.notices = append(tr.notices, text) },
	}
	tr.inv = &executor.Invocation{
		Address: lang.Address{Task: "t"}, Ordinal: 1, Build: "b1", Root: t.TempDir(), Dir: t.TempDir() + "/a", Mode: lang.ModeInputs, Timeout: time.Minute,
		Argv: []string{"sh", "-c", script}, Env: []string{"PATH=/usr/bin:/bin"}, Remote: "farm", Paid: true,
		Outputs: []executor.OutputSpec{{Name: "o", Path: "out"}},
		Place:   func(p cache.Placed) error { tr.placed = append(tr.placed, p); return nil },
	}
	return tr
}

func (tr *trial) run() (cache.Captured, error) {
	return tr.runner.Run(context.Background(), tr.inv, nil)
}

func TestExecuteGoesOnOverBrokenStreams(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.Bend = func(_ int, b *workertest.Behaviour) { b.BreakFirst = true }
	c, err := tr.run()
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 1, tr.w.Asked(), "it is waited for, not asked for again")
	require.Equal(t, 1, tr.w.Executed())
	require.Len(t, tr.placed, 2)
	require.Empty(t, tr.placed[0].Handle, "recorded before it was asked for")
	require.Equal(t, "operations/1", tr.placed[1].Handle)
	require.Contains(t, c.Where, "farm, worker w1")
}

// TestStreamThatFallsSilentIsAskedForAnew: a server that answers nothing any more, and a stream that nobody ends, are not waited for
// without end; nor is one given up that answers, however often its streams break.
func TestStreamThatFallsSilentIsAskedForAnew(t *testing.T) {
	begin := func(bend func(int, *workertest.Behaviour)) *trial {
		tr := newTrial(t, "sleep 0.3; echo x > out")
		c, err := remote.Dial(t.Context(), tr.server.URL(), remote.Options{Version: "test", Tries: 2, Silence: 50 * time.Millisecond})
		require.NoError(t, err)
		t.Cleanup(func() { _ = c.Close() })
		tr.runner.Courier.Client = func(context.Context) (*remote.Client, error) { return c, nil }
		tr.w.Bend = bend
		return tr
	}
	tr := begin(func(_ int, b *workertest.Behaviour) { b.Mute = true })
	got, err := tr.run()
	require.NoError(t, err)
	require.True(t, got.Outputs[0].Exists)
	require.Equal(t, 1, tr.w.Executed())
	require.Positive(t, tr.w.Waited())

	tr = begin(func(_ int, b *workertest.Behaviour) { b.Hang, b.NoResult = true, true })
	_, err = tr.run()
	var lost *executor.Lost
	require.ErrorAs(t, err, &lost)
	require.ErrorContains(t, err, "the server says nothing")
	require.Equal(t, 1, tr.w.Asked(), "whether it began is not known")
}

// TestServerThatAnswersIsNotGivenUp: a stream that breaks again and again is taken up as long as the server says how far it is.
func TestServerThatAnswersIsNotGivenUp(t *testing.T) {
	tr := newTrial(t, "read line <$FIFO; echo x > out")
	fifo := filepath.Join(t.TempDir(), "fifo")
	require.NoError(t, unix.Mkfifo(fifo, 0o600))
	tr.inv.Env = append(tr.inv.Env, "FIFO="+fifo)
	tr.w.Bend = func(_ int, b *workertest.Behaviour) {
		b.BreakFirst = true
		b.Breaks = func(n int) {
			if n == 120 { // more than would be borne of one that says nothing
				require.NoError(t, os.WriteFile(fifo, []byte("go on\n"), 0))
			}
		}
	}
	c, err := tr.run()
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 1, tr.w.Asked())
}

// TestServerThatIsAwayIsGivenUp: who waits is told at once, and after a while the attempt is left open for a later build.
func TestServerThatIsAwayIsGivenUp(t *testing.T) {
	tr := newTrial(t, "sleep 60; echo x > out")
	var waited time.Duration
	tr.runner.After = func(d time.Duration) <-chan time.Time {
		waited += d
		now := make(chan time.Time, 1)
		now <- time.Now()
		return now
	}
	tr.w.Bend = func(_ int, b *workertest.Behaviour) {
		b.BreakFirst = true
		b.Breaks = func(int) { go tr.w.Crash(true) }
	}
	_, err := tr.run()
	var open *executor.Elsewhere
	require.ErrorAs(t, err, &open)
	require.ErrorContains(t, err, "wait for farm, which has not answered for 10m")
	require.InDelta(t, patience.Seconds(), waited.Seconds(), 2*lastWait.Seconds())
	require.NotEmpty(t, tr.notices)
	require.Contains(t, tr.notices[0], "waits for farm, which is asked again: ")
	require.Equal(t, 1, tr.w.Asked())
}

func TestForgottenOperationIsFoundInTheActionCache(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.Bend = func(_ int, b *workertest.Behaviour) { b.Forget = true }
	c, err := tr.run()
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 1, tr.w.Executed())
}

func TestLostAttemptsAreNotExecutedAgain(t *testing.T) {
	internal := codes.Internal
	for name, bend := range map[string]func(int, *workertest.Behaviour){
		"forgotten, and no result":         func(_ int, b *workertest.Behaviour) { b.Forget, b.NoResult = true, true },
		"nothing heard, and no result":     func(_ int, b *workertest.Behaviour) { b.Silent, b.NoResult = true, true },
		"the server says it failed inside": func(_ int, b *workertest.Behaviour) { b.Status = &internal },
		"the result names blobs that are gone": func(_ int, b *workertest.Behaviour) {
			b.Result = func(r *repb.ActionResult) {
				r.OutputDirectories[0].TreeDigest.Hash = r.OutputDirectories[0].TreeDigest.Hash[1:] + "0"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "sleep 0.2; echo x > out")
			tr.w.Bend = bend
			_, err := tr.run()
			var lost *executor.Lost
			require.ErrorAs(t, err, &lost)
			require.LessOrEqual(t, tr.w.Executed(), 1)
			require.Equal(t, 1, tr.w.Asked())
		})
	}
}

func TestRefusedAttemptsNeverRan(t *testing.T) {
	for _, code := range []codes.Code{codes.InvalidArgument, codes.PermissionDenied, codes.Unimplemented} {
		tr := newTrial(t, "echo x > out")
		tr.w.Bend = func(_ int, b *workertest.Behaviour) { b.Refuse = code }
		_, err := tr.run()
		var idle *executor.NotStarted
		require.ErrorAs(t, err, &idle, code.String())
		require.ErrorContains(t, err, "hint:")
		require.Zero(t, tr.w.Executed())
	}
}

func TestBusyServerIsAskedAgain(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.Bend = func(n int, b *workertest.Behaviour) {
		if n < 3 {
			b.Refuse = codes.ResourceExhausted
		}
	}
	c, err := tr.run()
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 3, tr.w.Asked())
}

func TestMissingInputsAreSentOnceMore(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.Bend = func(n int, b *workertest.Behaviour) {
		if n == 1 {
			tr.server.Forget(nil)
		}
	}
	c, err := tr.run()
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 2, tr.w.Asked())

	tr = newTrial(t, "echo x > out")
	tr.w.Bend = func(n int, b *workertest.Behaviour) { tr.server.Forget(nil) }
	_, err = tr.run()
	var idle *executor.NotStarted
	require.ErrorAs(t, err, &idle, "a server that keeps nothing is given up")
	require.Equal(t, 2, tr.w.Asked())
}

func TestServerThatBeginsAnewIsTold(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.Bend = func(_ int, b *workertest.Behaviour) { b.Twice = true }
	c, err := tr.run()
	require.NoError(t, err)
	require.Contains(t, c.Where, "begun 2 times")
	require.Len(t, tr.notices, 1)
	require.Contains(t, tr.notices[0], "paid twice")
}

func TestResultOfSomethingElseIsRefused(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.Bend = func(_ int, b *workertest.Behaviour) {
		b.Result = func(r *repb.ActionResult) { r.OutputFiles = nil }
	}
	_, err := tr.run()
	var lost *executor.Lost
	require.ErrorAs(t, err, &lost)
	require.ErrorContains(t, err, "another attempt")

	tr = newTrial(t, "echo x > out; exit 7") // a script that was killed could note nothing
	tr.w.Bend = func(_ int, b *workertest.Behaviour) {
		b.Result = func(r *repb.ActionResult) { r.OutputFiles, r.ExitCode = nil, 137 }
	}
	c, err := tr.run()
	require.NoError(t, err)
	require.Equal(t, 137, c.Exit)
	require.Equal(t, "SIGKILL", c.Signal)
	require.True(t, c.Outputs[0].Exists)
}

func TestDamagedResultIsLost(t *testing.T) {
	tr := newTrial(t, "echo what was paid for > out")
	tr.w.Bend = func(_ int, b *workertest.Behaviour) {
		b.Result = func(*repb.ActionResult) {
			tr.server.Corrupt(func(b []byte) bool { return string(b) == "what was paid for\n" })
		}
	}
	_, err := tr.run()
	var lost *executor.Lost
	require.ErrorAs(t, err, &lost)
	require.Equal(t, 1, tr.w.Executed())
}

// TestDamagedLogIsNotTheEndOfAnAttempt: what was printed is lost, and said to be, and what was made is taken.
func TestDamagedLogIsNotTheEndOfAnAttempt(t *testing.T) {
	for name, spoil := range map[string]func(*trial, func([]byte) bool){
		"damaged": func(tr *trial, which func([]byte) bool) { tr.server.Corrupt(which) },
		"gone":    func(tr *trial, which func([]byte) bool) { tr.server.Forget(func(b []byte) bool { return !which(b) }) },
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "echo printed; echo what was paid for > out; exit 3")
			tr.w.Bend = func(_ int, b *workertest.Behaviour) {
				b.Result = func(*repb.ActionResult) { spoil(tr, func(b []byte) bool { return string(b) == "printed\n" }) }
			}
			c, err := tr.run()
			require.NoError(t, err)
			require.Equal(t, 3, c.Exit)
			require.True(t, c.Outputs[0].Exists)
			require.Empty(t, c.Problems, "the outputs are as good as ever")
			require.Contains(t, c.LogDamage, "damaged or gone at the remote: ")
			log, err := cache.ReadAll(tr.store, c.Log, -1)
			require.NoError(t, err)
			require.Contains(t, string(log), "\nufbuild: the log of this attempt is "+c.LogDamage+"\n")
			require.Equal(t, 1, tr.w.Executed())
		})
	}
}

func TestServersDeadlineIsATimeout(t *testing.T) {
	tr := newTrial(t, "echo x > out; exit 5")
	tr.w.Bend = func(_ int, b *workertest.Behaviour) { b.Deadline = true }
	c, err := tr.run()
	require.NoError(t, err)
	require.Equal(t, "timeout", c.StoppedBy)
	require.True(t, c.Outputs[0].Exists, "what it left is taken all the same")
}

func TestGuardsBeforeAnythingIsSent(t *testing.T) {
	for name, spoil := range map[string]func(*trial){
		"no timeout":       func(tr *trial) { tr.inv.Timeout = 0 },
		"longer than kept": func(tr *trial) { tr.runner.Courier.MaxTimeout = time.Second },
		"limits":           func(tr *trial) { tr.inv.NoNetwork = true },
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "echo x > out")
			spoil(tr)
			blobs := tr.server.Blobs()
			_, err := tr.run()
			var idle *executor.NotStarted
			require.ErrorAs(t, err, &idle)
			require.Equal(t, blobs, tr.server.Blobs())
			require.Zero(t, tr.w.Asked())
		})
	}
}

func TestNoMoreTimeIsAskedForThanIsGranted(t *testing.T) {
	for _, timeout := range []time.Duration{time.Minute, 59 * time.Minute, time.Hour} {
		tr := newTrial(t, "echo x > out")
		tr.w.MaxTimeout, tr.runner.Courier.MaxTimeout, tr.inv.Timeout = time.Hour, time.Hour, timeout
		c, err := tr.run()
		require.NoError(t, err, "a task with a timeout of %s", timeout)
		require.True(t, c.Outputs[0].Exists)
	}
}

func TestTaskThatWasCutShortIsTold(t *testing.T) {
	tr := newTrial(t, "echo x > out; exit 5")
	tr.w.Bend = func(_ int, b *workertest.Behaviour) { b.Deadline = true }
	tr.runner.Courier.MaxTimeout = time.Minute
	_, err := tr.run()
	require.NoError(t, err)
	require.Equal(t, []string{`was stopped after 57s of its 1m0s: remote "farm" grants 1m0s (max_timeout) for all of it, and what it left has to be kept`}, tr.notices)
}

func TestAttemptOfADeadBuildIsWaitedFor(t *testing.T) {
	tr := newTrial(t, "sleep 0.3; echo x > out")
	tr.w.Bend = func(_ int, b *workertest.Behaviour) { b.Stubborn = true } // who dies cancels nothing
	ctx, cancel := context.WithCancel(context.Background())
	died := errors.New("the build dies")
	tr.inv.Place = func(p cache.Placed) error {
		tr.placed = append(tr.placed, p)
		if p.Handle != "" {
			cancel()
			return died
		}
		return nil
	}
	_, _ = tr.runner.Run(ctx, tr.inv, nil)
	require.Len(t, tr.placed, 2)

	again := *tr.inv
	again.Build, again.Dir, again.Place, again.Placed = "b2", t.TempDir()+"/a", nil, &tr.placed[1]
	c, err := tr.runner.Run(context.Background(), &again, nil)
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 1, tr.w.Executed())

	unnamed := tr.placed[0]
	again.Dir, again.Placed = t.TempDir()+"/a", &unnamed
	c, err = tr.runner.Run(context.Background(), &again, nil)
	require.NoError(t, err, "without the operation's name its result is found")
	require.True(t, c.Outputs[0].Exists)

	unnamed.Action = tr.w.Server.URL()[len("grpc://"):] // no digest at all
	again.Dir = t.TempDir() + "/a"
	_, err = tr.runner.Run(context.Background(), &again, nil)
	var open *executor.Elsewhere
	require.ErrorAs(t, err, &open, "it stays open")
}

func TestSecretsAreInNoMessage(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.inv.Env = append(tr.inv.Env, "TOKEN=hunter2-the-secret", "KEY=passed-hunter3", "PLAIN=seen")
	tr.inv.ByName = []string{"KEY", "TOKEN"}
	tr.inv.Mask = []string{"hunter2-the-secret", "passed-hunter3"}
	c, err := tr.run()
	require.NoError(t, err)
	require.NotZero(t, c.Exit, "a machine that has no such variable does not start the program")
	require.False(t, c.Outputs[0].Exists)
	require.Len(t, c.Problems, 1)
	require.Contains(t, c.Problems[0], "variable TOKEN is not set on this machine")
	heard := string(tr.server.Heard())
	require.Contains(t, heard, "seen")
	require.NotContains(t, heard, "hunter2")
	require.NotContains(t, heard, "hunter3")
}

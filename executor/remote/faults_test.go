package remote

import (
	"context"
	"errors"
	"testing"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/lang"
)

// trial is one attempt at a server that misbehaves.
type trial struct {
	w       *worker
	server  *remotetest.Server
	store   cache.Store
	runner  *Runner
	inv     *executor.Invocation
	placed  []cache.Placed
	notices []string
}

func newTrial(t *testing.T, script string) *trial {
	w, server := startWorker(t, remotetest.Options{})
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
	tr.w.bend = func(_ int, b *behaviour) { b.breakFirst = true }
	c, err := tr.run()
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 1, tr.w.calls(), "it is waited for, not asked for again")
	require.Equal(t, 1, tr.w.did())
	require.Len(t, tr.placed, 2)
	require.Empty(t, tr.placed[0].Handle, "recorded before it was asked for")
	require.Equal(t, "operations/1", tr.placed[1].Handle)
	require.Contains(t, c.Where, "farm, worker w1")
}

func TestForgottenOperationIsFoundInTheActionCache(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.bend = func(_ int, b *behaviour) { b.forget = true }
	c, err := tr.run()
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 1, tr.w.did())
}

func TestLostAttemptsAreNotExecutedAgain(t *testing.T) {
	internal := codes.Internal
	for name, bend := range map[string]func(int, *behaviour){
		"forgotten, and no result":         func(_ int, b *behaviour) { b.forget, b.noResult = true, true },
		"nothing heard, and no result":     func(_ int, b *behaviour) { b.silent, b.noResult = true, true },
		"the server says it failed inside": func(_ int, b *behaviour) { b.status = &internal },
		"the result names blobs that are gone": func(_ int, b *behaviour) {
			b.result = func(r *repb.ActionResult) {
				r.OutputDirectories[0].TreeDigest.Hash = r.OutputDirectories[0].TreeDigest.Hash[1:] + "0"
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			tr := newTrial(t, "sleep 0.2; echo x > out")
			tr.w.bend = bend
			_, err := tr.run()
			var lost *executor.Lost
			require.ErrorAs(t, err, &lost)
			require.LessOrEqual(t, tr.w.did(), 1)
			require.Equal(t, 1, tr.w.calls())
		})
	}
}

func TestRefusedAttemptsNeverRan(t *testing.T) {
	for _, code := range []codes.Code{codes.InvalidArgument, codes.PermissionDenied, codes.Unimplemented} {
		tr := newTrial(t, "echo x > out")
		tr.w.bend = func(_ int, b *behaviour) { b.refuse = code }
		_, err := tr.run()
		var idle *executor.NotStarted
		require.ErrorAs(t, err, &idle, code.String())
		require.ErrorContains(t, err, "hint:")
		require.Zero(t, tr.w.did())
	}
}

func TestBusyServerIsAskedAgain(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.bend = func(n int, b *behaviour) {
		if n < 3 {
			b.refuse = codes.ResourceExhausted
		}
	}
	c, err := tr.run()
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 3, tr.w.calls())
}

func TestMissingInputsAreSentOnceMore(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.bend = func(n int, b *behaviour) {
		if n == 1 {
			tr.server.Forget(nil)
		}
	}
	c, err := tr.run()
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 2, tr.w.calls())

	tr = newTrial(t, "echo x > out")
	tr.w.bend = func(n int, b *behaviour) { tr.server.Forget(nil) }
	_, err = tr.run()
	var idle *executor.NotStarted
	require.ErrorAs(t, err, &idle, "a server that keeps nothing is given up")
	require.Equal(t, 2, tr.w.calls())
}

func TestServerThatBeginsAnewIsTold(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.bend = func(_ int, b *behaviour) { b.twice = true }
	c, err := tr.run()
	require.NoError(t, err)
	require.Contains(t, c.Where, "begun 2 times")
	require.Len(t, tr.notices, 1)
	require.Contains(t, tr.notices[0], "paid twice")
}

func TestResultOfSomethingElseIsRefused(t *testing.T) {
	tr := newTrial(t, "echo x > out")
	tr.w.bend = func(_ int, b *behaviour) {
		b.result = func(r *repb.ActionResult) { r.OutputFiles = nil }
	}
	_, err := tr.run()
	var lost *executor.Lost
	require.ErrorAs(t, err, &lost)
	require.ErrorContains(t, err, "another attempt")

	tr = newTrial(t, "echo x > out; exit 7") // a script that was killed could note nothing
	tr.w.bend = func(_ int, b *behaviour) {
		b.result = func(r *repb.ActionResult) { r.OutputFiles, r.ExitCode = nil, 137 }
	}
	c, err := tr.run()
	require.NoError(t, err)
	require.Equal(t, 137, c.Exit)
	require.Equal(t, "SIGKILL", c.Signal)
	require.True(t, c.Outputs[0].Exists)
}

func TestDamagedResultIsLost(t *testing.T) {
	tr := newTrial(t, "echo what was paid for > out")
	tr.w.bend = func(_ int, b *behaviour) {
		b.result = func(*repb.ActionResult) {
			tr.server.Corrupt(func(b []byte) bool { return string(b) == "what was paid for\n" })
		}
	}
	_, err := tr.run()
	var lost *executor.Lost
	require.ErrorAs(t, err, &lost)
	require.Equal(t, 1, tr.w.did())
}

func TestServersDeadlineIsATimeout(t *testing.T) {
	tr := newTrial(t, "echo x > out; exit 5")
	tr.w.bend = func(_ int, b *behaviour) { b.deadline = true }
	c, err := tr.run()
	require.NoError(t, err)
	require.Equal(t, "timeout", c.StoppedBy)
	require.True(t, c.Outputs[0].Exists, "what it left is taken all the same")
}

func TestGuardsBeforeAnythingIsSent(t *testing.T) {
	for name, spoil := range map[string]func(*trial){
		"no timeout":       func(tr *trial) { tr.inv.Timeout = 0 },
		"longer than kept": func(tr *trial) { tr.runner.MaxTimeout = time.Second },
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
			require.Zero(t, tr.w.calls())
		})
	}
}

func TestAttemptOfADeadBuildIsWaitedFor(t *testing.T) {
	tr := newTrial(t, "sleep 0.3; echo x > out")
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
	require.Equal(t, 1, tr.w.did())

	unnamed := tr.placed[0]
	again.Dir, again.Placed = t.TempDir()+"/a", &unnamed
	c, err = tr.runner.Run(context.Background(), &again, nil)
	require.NoError(t, err, "without the operation's name its result is found")
	require.True(t, c.Outputs[0].Exists)

	unnamed.Action = tr.w.server.URL()[len("grpc://"):] // no digest at all
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

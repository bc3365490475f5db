package remote

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/submit"
	"github.com/ufbuild/ufbuild/lang"
)

// jobTrial is one attempt at an engine that misbehaves.
type jobTrial struct {
	t       *testing.T
	server  *remotetest.Server
	dir     string // of the engine
	o       submit.Options
	inv     *executor.Invocation
	placed  []cache.Placed
	notices []string
}

func newJobTrial(t *testing.T, script string) *jobTrial {
	server := remotetest.Start(t, remotetest.Options{})
	store := mem.New(t.TempDir())
	self, err := os.Executable()
	require.NoError(t, err)
	tr := &jobTrial{t: t, server: server, dir: t.TempDir()}
	tr.o = submit.Options{
		Remote: "jobs", Engine: shellEngine(tr.dir), Program: self, Address: server.URL(), Courier: &Courier{Client: dial(t, server.URL()), CAS: store, Served: true},
		Logs: filepath.Join(tr.dir, "logs"), Environ: []string{"PATH=/usr/bin:/bin", "TMPDIR=" + t.TempDir()}, Poll: time.Second, After: quick,
		Notice: func(_, text string) { tr.notices = append(tr.notices, text) },
	}
	tr.inv = &executor.Invocation{
		Address: lang.Address{Task: "t"}, Ordinal: 1, Build: "b1", Root: t.TempDir(), Mode: lang.ModeInputs, Timeout: time.Minute, Grace: time.Second,
		Argv: []string{"sh", "-c", "echo run >>" + tr.dir + "/runs; " + script}, Env: []string{"PATH=/usr/bin:/bin"}, Remote: "jobs", Paid: true,
		Outputs: []executor.OutputSpec{{Name: "o", Path: "out"}},
		Place:   func(p cache.Placed) error { tr.placed = append(tr.placed, p); return nil },
	}
	return tr
}

func (tr *jobTrial) run(ctx context.Context, r *submit.Runner) (cache.Captured, error) {
	tr.inv.Dir = filepath.Join(tr.t.TempDir(), "a")
	return r.Run(ctx, tr.inv, nil)
}

// lines counts the lines of a file of the engine.
func (tr *jobTrial) lines(name string) int {
	b, err := os.ReadFile(filepath.Join(tr.dir, name))
	if err != nil {
		return 0
	}
	return strings.Count(string(b), "\n")
}

func TestJobOfADeadBuildIsWaitedFor(t *testing.T) {
	tr := newJobTrial(t, "echo x > out")
	tr.inv.Argv[2] += "; until [ -e " + tr.dir + "/go ]; do sleep 0.01; done"
	first := submit.New(tr.o)
	go func() {
		for tr.lines("runs") == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		first.KillAll() // as good as dead: it waits no more
	}()
	_, err := tr.run(context.Background(), first)
	var open *executor.Elsewhere
	require.ErrorAs(t, err, &open)
	require.Len(t, tr.placed, 1)
	require.True(t, strings.HasPrefix(tr.placed[0].Handle, "uf-t-"))

	require.NoError(t, os.WriteFile(filepath.Join(tr.dir, "go"), nil, 0o600))
	tr.inv.Build, tr.inv.Placed = "b2", &tr.placed[0]
	c, err := tr.run(context.Background(), submit.New(tr.o))
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 1, tr.lines("handed-in"))
	require.Equal(t, 1, tr.lines("runs"))
	require.Contains(t, c.Where, "jobs, job "+tr.placed[0].Handle+", on node1")

	require.NoError(t, os.Remove(filepath.Join(tr.dir, tr.placed[0].Handle+".pid")), "the engine forgets it")
	c, err = tr.run(context.Background(), submit.New(tr.o))
	require.NoError(t, err, "its result is in the store")
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 1, tr.lines("runs"))
}

func TestJobThatDiesIsLost(t *testing.T) {
	tr := newJobTrial(t, "kill -9 $PPID")
	_, err := tr.run(context.Background(), submit.New(tr.o))
	var lost *executor.Lost
	require.ErrorAs(t, err, &lost)
	require.ErrorContains(t, err, "left no result")
	tr.inv.Placed = &tr.placed[0]
	_, err = tr.run(context.Background(), submit.New(tr.o))
	require.ErrorAs(t, err, &lost)
	require.Equal(t, 1, tr.lines("runs"), "what began is not begun again")
}

func TestEngineThatRunsAJobTwiceRunsTheTaskOnce(t *testing.T) {
	tr := newJobTrial(t, "echo x > out")
	tr.o.Engine.Submit[2] = "cd " + tr.dir + `; echo "$0" >>handed-in; ({command}; {command}; echo >>twice) >{log} 2>>errors & echo $! >"$0".pid`
	c, err := tr.run(context.Background(), submit.New(tr.o))
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Eventually(t, func() bool { // the second one has come and gone
		said, err := os.ReadFile(filepath.Join(tr.dir, "errors"))
		return err == nil && strings.Contains(string(said), ErrBegun.Error()) || tr.lines("runs") > 1 || tr.lines("twice") > 0
	}, 30*time.Second, 10*time.Millisecond)
	require.Equal(t, 1, tr.lines("runs"))
}

func TestEngineThatCannotBeAskedIsAskedAgain(t *testing.T) {
	tr := newJobTrial(t, "sleep 0.3; echo x > out")
	tr.o.Engine.State = []string{"/bin/sh", "-c", "echo the controller is down >&2; exit 1"}
	c, err := tr.run(context.Background(), submit.New(tr.o))
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists, "the result is looked for all the same")
	require.Len(t, tr.notices, 1, "said once")
	require.Contains(t, tr.notices[0], "the controller is down")
}

func TestJobThatIsRefusedNeverRan(t *testing.T) {
	tr := newJobTrial(t, "echo x > out")
	tr.o.Engine.Submit = []string{"/bin/sh", "-c", "echo no such partition >&2; exit 1"}
	_, err := tr.run(context.Background(), submit.New(tr.o))
	var idle *executor.NotStarted
	require.ErrorAs(t, err, &idle)
	require.ErrorContains(t, err, "no such partition")

	tr = newJobTrial(t, "echo x > out")
	tr.o.Engine.Submit[2] += "; exit 1" // it was taken, and the answer got lost
	c, err := tr.run(context.Background(), submit.New(tr.o))
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
}

// A job that was called refused, and that the engine runs later all the same, does not run beside the next attempt.
func TestJobThatComesLateDoesNotRun(t *testing.T) {
	tr := newJobTrial(t, "echo x > out")
	tr.o.Engine.Submit[2] = "cd " + tr.dir + `; (while [ ! -e go ]; do sleep 0.01; done; {command}; echo >>late) >>errors 2>&1 & echo timed out >&2; exit 1`
	tr.o.Engine.State = []string{"/bin/true"}
	_, err := tr.run(context.Background(), submit.New(tr.o))
	var idle *executor.NotStarted
	require.ErrorAs(t, err, &idle)
	require.NoError(t, os.WriteFile(filepath.Join(tr.dir, "go"), nil, 0o600))
	require.Eventually(t, func() bool { return tr.lines("late") == 1 }, time.Minute, 5*time.Millisecond)
	require.Zero(t, tr.lines("runs"))
	said, err := os.ReadFile(filepath.Join(tr.dir, "errors"))
	require.NoError(t, err)
	require.Contains(t, string(said), ErrBegun.Error())
}

func TestStoreThatIsAwayIsWaitedFor(t *testing.T) {
	tr := newJobTrial(t, "echo x > out")
	tr.inv.Argv[2] += "; until [ -e " + tr.dir + "/back ]; do sleep 0.01; done"
	go func() {
		for tr.lines("runs") == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		tr.server.Kill()
		time.Sleep(100 * time.Millisecond)
		tr.server.Restart()
		_ = os.WriteFile(filepath.Join(tr.dir, "back"), nil, 0o600)
	}()
	c, err := tr.run(context.Background(), submit.New(tr.o))
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 1, tr.lines("runs"))
}

// A result that was paid for is not given up because the store is away when its job ends.
func TestStoreThatIsAwayWhenAJobEndsIsWaitedFor(t *testing.T) {
	tr := newJobTrial(t, "echo x > out")
	tr.inv.Argv[2] += "; while [ ! -e " + tr.dir + "/away ]; do sleep 0.01; done"
	go func() {
		for tr.lines("runs") == 0 {
			time.Sleep(5 * time.Millisecond)
		}
		tr.server.Kill()
		_ = os.WriteFile(filepath.Join(tr.dir, "away"), nil, 0o600)
		time.Sleep(2500 * time.Millisecond) // longer than a call is repeated
		tr.server.Restart()
	}()
	c, err := tr.run(context.Background(), submit.New(tr.o))
	require.NoError(t, err)
	require.True(t, c.Outputs[0].Exists)
	require.Equal(t, 1, tr.lines("runs"))
}

func TestResultThatNoStoreTakesStaysWithTheJob(t *testing.T) {
	s := &Served{After: func(time.Duration) <-chan time.Time { c := make(chan time.Time); close(c); return c }}
	tries := 0
	err := s.insist(context.Background(), "/scratch", func(context.Context) error { tries++; return os.ErrDeadlineExceeded })
	var lost *NotKept
	require.ErrorAs(t, err, &lost)
	require.Equal(t, "/scratch", lost.Dir)
	require.Equal(t, 25, tries, "1+2+4+8+16 seconds, and every 30 until ten minutes are over")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	tries = 0
	err = s.insist(ctx, "/scratch", func(ctx context.Context) error { tries++; require.NoError(t, ctx.Err()); return os.ErrDeadlineExceeded })
	require.ErrorAs(t, err, &lost)
	require.Equal(t, 6, tries, "an engine that ended the job kills it soon")
}

func TestSecretInWhatAJobLeftIsNotSent(t *testing.T) {
	tr := newJobTrial(t, `printf 'a %s b' "$TOKEN" > out; mkdir d; echo "$TOKEN" > d/left; chmod 400 d/left`)
	tr.inv.Env = append(tr.inv.Env, "TOKEN=hunter2-the-secret")
	tr.inv.ByName, tr.inv.Mask = []string{"TOKEN"}, []string{"hunter2-the-secret"}
	tr.inv.Outputs = append(tr.inv.Outputs, executor.OutputSpec{Name: "t", Tree: []string{"d/**"}})
	c, err := tr.run(context.Background(), submit.New(tr.o))
	require.NoError(t, err)
	require.Contains(t, c.Problems, `output "o": out holds a secret value at byte 2; it is stored masked`)
	require.Contains(t, c.Problems, `output "t": d/left holds a secret value at byte 0; it is stored masked`)
	out, err := cache.ReadAll(tr.o.Courier.(*Courier).CAS, c.Outputs[0].Digest, -1)
	require.NoError(t, err)
	require.Equal(t, "a *** b", string(out))
	require.NotContains(t, string(tr.server.Heard()), "hunter2-the-secret", "it is masked before files are sent")
}

func TestSecretsReachAJobByItsEngineAlone(t *testing.T) {
	tr := newJobTrial(t, `echo "$TOKEN" | cut -c1-7; echo "$TOKEN"; echo x > out`)
	tr.inv.Env = append(tr.inv.Env, "TOKEN=hunter2-the-secret")
	tr.inv.ByName, tr.inv.Mask = []string{"TOKEN"}, []string{"hunter2-the-secret"}
	c, err := tr.run(context.Background(), submit.New(tr.o))
	require.NoError(t, err)
	require.Zero(t, c.Exit, "%v", c.Problems)
	log, err := cache.ReadAll(tr.o.Courier.(*Courier).CAS, c.Log, -1)
	require.NoError(t, err)
	require.Equal(t, "hunter2\n***\n", string(log))
	require.NotContains(t, string(tr.server.Heard()), "hunter2-the-secret", "it is masked before the log is sent")
}

// What a task closed to its own user is read all the same, and keeps the mode it had.
func TestFilesThatATaskClosedAreOpenedToBeSent(t *testing.T) {
	dir := t.TempDir()
	closed := filepath.Join(dir, "d")
	require.NoError(t, os.Mkdir(closed, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(closed, "f"), []byte("x"), 0o600))
	require.NoError(t, os.Chmod(filepath.Join(closed, "f"), 0))
	require.NoError(t, os.Chmod(closed, 0))
	index, err := indexOf(dir)
	require.NoError(t, err)
	require.Equal(t, "f\x00d/f\x000\x00", string(index))
	info, err := os.Stat(filepath.Join(closed, "f"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o400), info.Mode().Perm())
}

func TestNoLongerJobIsHandedInThanIsGranted(t *testing.T) {
	for timeout, want := range map[time.Duration]string{time.Hour: "76 4502", 119 * time.Minute: "120 7200", 2 * time.Hour: "120 7200"} {
		tr := newJobTrial(t, "echo x > out")
		tr.o.Engine.Submit = append(tr.o.Engine.Submit, "{minutes} {seconds}")
		tr.o.Engine.Submit[2] += `; echo "$1" >limits`
		tr.o.MaxTimeout, tr.inv.Timeout = 2*time.Hour, timeout
		c, err := tr.run(context.Background(), submit.New(tr.o))
		require.NoError(t, err)
		require.True(t, c.Outputs[0].Exists)
		b, err := os.ReadFile(filepath.Join(tr.dir, "limits"))
		require.NoError(t, err)
		require.Equal(t, want, strings.TrimSpace(string(b)), "a task with a timeout of %s", timeout)
	}
}

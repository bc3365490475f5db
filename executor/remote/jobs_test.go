package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/local"
	"github.com/ufbuild/ufbuild/executor/runnertest"
	"github.com/ufbuild/ufbuild/executor/submit"
	"github.com/ufbuild/ufbuild/executor/surroundings"
)

// TestMain is exec-action when this program is started as a job: PROGRAM exec-action DIGEST --remote ADDRESS.
func TestMain(m *testing.M) {
	local.WatchdogMain()
	if len(os.Args) == 5 && os.Args[1] == "exec-action" {
		if err := execAction(os.Args[2], os.Args[4]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	surroundings.Settle()
	os.Exit(m.Run())
}

func execAction(action, address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	client, err := remote.Dial(context.WithoutCancel(ctx), address, remote.Options{})
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "job")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	store := mem.New(dir)
	runner := local.New(store, local.Options{})
	d, err := ParseDigest(action)
	if err != nil {
		return err
	}
	s := Served{
		Client: client, Runner: runner, CAS: store, Dir: dir, Environ: os.LookupEnv, Host: "node1", Now: time.Now, After: quick,
		Output: func(p []byte) { _, _ = os.Stdout.Write(p) },
	}
	return errors.Join(s.Serve(ctx, d), runner.Close())
}

// shellEngine is an engine of three shell commands: jobs are processes with a file each in dir.
func shellEngine(dir string) submit.Engine {
	at := func(script string) []string { return []string{"/bin/sh", "-c", "cd " + dir + "\n" + script, "{name}"} }
	return submit.Engine{
		Submit: at(`echo "$0" >>handed-in; setsid {command} >{log} 2>>errors & echo $! >"$0".pid`),
		State:  at(`[ -e "$0".pid ] || exit 0; if kill -0 $(cat "$0".pid) 2>/dev/null && [ -d /proc/$(cat "$0".pid)/fd/ ] && ! grep -q '^State:.Z' /proc/$(cat "$0".pid)/status; then echo RUNNING; else echo COMPLETED; fi`),
		Cancel: at(`kill -TERM $(cat "$0".pid) 2>/dev/null; :`),
	}
}

func jobRunner(t *testing.T, url string, store cache.Store) (*submit.Runner, string) {
	dir := t.TempDir()
	self, err := os.Executable()
	require.NoError(t, err)
	return submit.New(submit.Options{
		Remote: "jobs", Engine: shellEngine(dir), Program: self, Address: url, Courier: &Courier{Client: dial(t, url), CAS: store, Served: true},
		Logs: filepath.Join(dir, "logs"), Environ: []string{"PATH=/usr/bin:/bin", "TMPDIR=" + t.TempDir()}, Poll: time.Second, After: quick,
	}), dir
}

// quick makes waits a tenth as long, so that the suite takes a few seconds.
func quick(d time.Duration) <-chan time.Time { return time.After(d / 10) }

func TestJobsKeepTheSuite(t *testing.T) {
	runnertest.TestElsewhere(t, func(t *testing.T) (executor.Runner, cache.Store) {
		server := remotetest.Start(t, remotetest.Options{}) // of its own: attempts of the suite have equal names
		store := mem.New(t.TempDir())
		r, _ := jobRunner(t, server.URL(), store)
		return r, store
	}, map[string]string{"attempts do not kill each other": "each job is a process of its own, with a runner of its own"})
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache/disk"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/executor/local"
	executorremote "github.com/ufbuild/ufbuild/executor/remote"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

func (a *app) execActionCommand() *cobra.Command {
	var f remoteFlags
	var scratch string
	cmd := &cobra.Command{
		Use:   "exec-action DIGEST --remote URL",
		Short: "Execute one attempt for a build elsewhere",
		Long: `What a job of Slurm, Kubernetes or Nomad runs. A build on another machine has put an
attempt into the store at URL; this fetches it, runs it here, and puts what came of it
into the same store, where the build waits for it. You need not call it yourself.

An attempt that has a result already, or that was begun before, is not run again: then
nothing is done. Values of secrets and passed variables are not sent: they are taken from
the environment here, by name. It exits with 0 whenever the build learns what happened,
whether the task failed or not.`,
		Example: `  ufbuild exec-action 4fd2…/312 --remote grpc://cache.example:9092`,
		Args:    cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if f.address == "" {
				return usageErrorf("exec-action: --remote is missing: the store that the attempt is in")
			}
			return a.execAction(args[0], scratch, &f)
		},
	}
	f.bind(cmd)
	cmd.Flags().StringVar(&scratch, "scratch", "", "run it below `DIR` instead of $TMPDIR")
	return cmd
}

func (a *app) execAction(digest, scratch string, f *remoteFlags) error {
	action, err := executorremote.ParseDigest(digest)
	if err != nil {
		return usageErrorf("exec-action: %w", err)
	}
	// Engines end a job with SIGTERM first. A shell that started us in the background may have had SIGINT ignored.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	o, err := f.options("exec-action")
	if err != nil {
		return err
	}
	client, err := remote.Dial(context.WithoutCancel(ctx), f.address, o)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }() // all answers were waited for
	dir, err := effect.MkdirTemp(scratch, "ufbuild-")
	if err != nil {
		return fmt.Errorf("make scratch directory: %w", err)
	}
	keep := false
	defer func() {
		if !keep {
			a.warn(workspace.Remove(dir))
		}
	}()
	store, err := disk.Open(dir+"/store", disk.Options{})
	if err != nil {
		return err
	}
	runner := local.New(store, local.Options{Watchdog: true})
	host, err := os.Hostname()
	if err != nil {
		host = "an unnamed machine"
	}
	s := executorremote.Served{
		Client: client, Runner: runner, CAS: store, Dir: dir, Environ: a.lookupenv, Host: host, Now: time.Now, After: time.After,
		Output: func(p []byte) { _, _ = a.out.Write(p) }, // who reads along may stop
	}
	err = errors.Join(s.Serve(ctx, action), runner.Close(), store.Close())
	var lost *executorremote.NotKept
	keep = errors.As(err, &lost)
	if errors.Is(err, executorremote.ErrBegun) {
		fmt.Fprintf(a.err, "%s: %v, so it is not run here\n", digest, err)
		return nil
	}
	return err
}

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/event"
)

func (a *app) logCommand() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "log [TARGET[@N]…]",
		Short: "Print what an attempt printed",
		Long: `Prints standard output and error of an attempt: the running one, else the newest
one, or attempt N of "ufbuild show TARGET --history". Logs of failed, rejected and
interrupted attempts are kept like any other.

With -f it goes on until the attempt ends. With -f and several targets, or none for
all, it follows whatever runs until the build ends, each line with its task.`,
		Example: `  ufbuild log triage
  ufbuild log triage -f      # follow it while it runs
  ufbuild log -f             # follow everything that runs
  ufbuild log 'triage@2'`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := a.bytesOnly("log prints"); err != nil {
				return err
			}
			switch {
			case len(args) == 1:
				return a.runLog(args[0], follow)
			case follow:
				return a.followAll(args)
			}
			return usageErrorf("log needs one target, or -f to follow several\nhint: ufbuild status lists the tasks")
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the attempt ends")
	// Declared again without its letter, which follow has here as in tail and kubectl.
	cmd.Flags().StringVar(&a.file, "file", "", "use this campaign `FILE`; its directory is the root")
	return cmd
}

func (a *app) runLog(target string, follow bool) error {
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	name, n := s.splitNumber(target)
	if n == 0 {
		ids, err := s.selectTargets([]string{name})
		if err != nil {
			return err
		}
		if len(ids) == 1 {
			addr := s.graph.Node(ids[0]).Address
			if live, err := s.runningOf(addr); err == nil && len(live) > 0 {
				return a.liveLog(filepath.Join(live[0].Dir, "log"), follow, func() bool {
					live, err := s.runningOf(addr)
					return err == nil && len(live) > 0
				})
			}
			gens, err := s.generations(addr)
			if err != nil {
				return err
			}
			if len(gens) > 0 {
				target = fmt.Sprintf("%s@%d", addr, len(gens)) // the newest, not the selected one
			}
		}
	}
	c, err := s.choose(target)
	if err != nil {
		return err
	}
	if c.have && c.gen.Attempt.Captured == nil {
		if file := s.logFile(&c.gen.Attempt); file != "" {
			return a.liveLog(file, false, func() bool { return false })
		}
	}
	if c.have && !isHere(&c.gen.Attempt) {
		return s.notHere(c)
	}
	if !c.have || c.gen.Attempt.Captured == nil {
		return usageErrorf("%s has no log yet\nhint: `ufbuild log -f %s` waits for it", c.address, quoteTarget(c.address))
	}
	if damage := c.gen.Attempt.Captured.LogDamage; damage != "" && c.gen.Attempt.Captured.Log.Size == 0 {
		fmt.Fprintf(a.err, "the log of attempt %d of %s is lost: %s\n", c.gen.N, c.address, event.Plain(damage))
		return nil
	}
	if c.gen.Attempt.Captured.Log.Size == 0 { // also zero: no log at all
		fmt.Fprintf(a.err, "attempt %d of %s printed nothing\n", c.gen.N, c.address)
		return nil
	}
	w := a.logWriter()
	log := c.gen.Attempt.Captured.Log
	return errors.Join(s.lost("the log", c, log, s.copyBlob(w, log)), w.Close())
}

// followEvery is how often a followed log is looked at; a reader does not notice the wait.
const followEvery = 200 * time.Millisecond

// liveLog prints the log of a running attempt. Followed, it ends when the attempt does, also where the
// attempt has printed nothing yet.
func (a *app) liveLog(path string, follow bool, runs func() bool) error {
	f, err := os.Open(path)
	for errors.Is(err, fs.ErrNotExist) && follow && runs() {
		if err := a.nap(); err != nil {
			return err
		}
		f, err = os.Open(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // nothing printed
	}
	if err != nil {
		return fmt.Errorf("read log: %w", err)
	}
	defer func() { _ = f.Close() }()
	w := a.logWriter()
	defer func() { _ = w.Close() }()
	for {
		ended := !follow || !runs() // asked before reading, so that the end is not missed
		if _, err := io.Copy(w, f); err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if ended {
			return nil
		}
		if err := a.nap(); err != nil {
			return err
		}
	}
}

// nap waits until a followed log is looked at again.
func (a *app) nap() error {
	select {
	case <-a.context().Done():
		return exit(a.signalCode())
	case <-time.After(followEvery):
		return nil
	}
}

// logLimit bounds a log that is shown again among others; a longer one is for "ufbuild log".
const logLimit = 4 << 20

// selectedLog is the log of the attempt that an address reads; nil when it is not there.
func (s *session) selectedLog(address string) []byte {
	c, err := s.choose(address)
	if err != nil || !c.have || c.gen.Attempt.Captured == nil || c.gen.Attempt.Captured.Log.Size == 0 {
		return nil
	}
	log, err := cache.ReadAll(s.store, c.gen.Attempt.Captured.Log, logLimit)
	if err != nil {
		return nil
	}
	return log
}

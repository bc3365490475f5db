package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// orderFlags are the flags of pause, resume and cancel.
type orderFlags struct {
	why  string
	wait bool
	kill bool
}

func (a *app) orderCommand(want journal.Want, short, long, example string) *cobra.Command {
	var f orderFlags
	cmd := &cobra.Command{
		Use: string(want), Short: short, Long: long, Example: example,
		RunE: func(*cobra.Command, []string) error {
			if f.kill {
				want = journal.WantKill
			}
			return a.runOrder(want, f)
		},
	}
	cmd.Flags().StringVar(&f.why, "why", "", "the reason, `TEXT`, shown by status")
	if want == journal.WantStop {
		cmd.Flags().BoolVar(&f.wait, "wait", false, "wait until the build has ended")
		cmd.Flags().BoolVar(&f.kill, "kill", false, "give running tasks no time to end")
	}
	return cmd
}

func (a *app) pauseCommand() *cobra.Command {
	return a.orderCommand(journal.WantHold, "Let the running build start nothing new",
		`What runs goes on and is kept as usual; nothing new starts until resume. The build
stays, and "ufbuild status" says who paused it and why. A pause ends with its build:
the next one starts as always.`,
		`  ufbuild pause --why "the provider is slow today"
  ufbuild status
  ufbuild resume`)
}

func (a *app) resumeCommand() *cobra.Command {
	return a.orderCommand(journal.WantGo, "Let a paused build go on",
		`Takes back a pause of the running build.`,
		`  ufbuild resume`)
}

func (a *app) cancelCommand() *cobra.Command {
	return a.orderCommand(journal.WantStop, "Stop the running build",
		`Does what the first Ctrl-C does: nothing new starts, running tasks get SIGINT and
their grace period, what they left is kept, and the build ends with exit code 130.
--kill does what the second one does. The next build goes on from there.`,
		`  ufbuild cancel
  ufbuild cancel --kill --wait`)
}

// orderReport is the answer in JSON.
type orderReport struct {
	SchemaVersion int    `json:"schema_version"`
	Build         string `json:"build"`
	PID           int    `json:"pid"`
	Order         string `json:"order"`
	Ended         bool   `json:"ended"` // the build has ended
}

// hearWithin bounds the wait for a build to hear an order; one that still loads its campaign may take some seconds.
const hearWithin = 15 * time.Second

func (a *app) runOrder(want journal.Want, f orderFlags) error {
	o, _, err := a.options()
	if err != nil {
		return err
	}
	root, _, err := lang.Locate(o) // a campaign that an edit broke has a build to be stopped all the same
	if err != nil {
		return usageErrorf("%w", err)
	}
	h, ended, err := a.give(root, want, f.why)
	if err != nil {
		return err
	}
	if f.wait && !ended {
		if ended, err = a.awaitEnd(root, h.Build); err != nil {
			return err
		}
	}
	if a.json {
		return a.printJSON(orderReport{SchemaVersion: 1, Build: h.Build, PID: h.PID, Order: string(want), Ended: ended})
	}
	_, err = fmt.Fprintf(a.out, "`ufbuild %s` of %s (process %d) %s\n", h.Verb, h.Who, h.PID, orderedWords(want, ended))
	return err
}

func orderedWords(want journal.Want, ended bool) string {
	switch {
	case ended:
		return "has ended"
	case want == journal.WantHold:
		return "starts nothing new until `ufbuild resume`"
	case want == journal.WantGo:
		return "goes on"
	}
	return "is stopping"
}

// give gives an order to the build that runs, and returns when it was heard. A build that ends meanwhile is what cancel
// wants.
func (a *app) give(root string, want journal.Want, why string) (to journal.Holder, ended bool, err error) {
	order := journal.Order{ID: newID(time.Now()), Want: want, Who: a.who(), Why: why}
	for begun := time.Now(); ; {
		h, held := journal.Held(root)
		switch {
		case order.Build != "" && (!held || h.Build != order.Build):
			if left, ok := journal.Given(root, order.Build); !ok || left.ID != order.ID {
				return to, true, nil // it heard, and ended since
			}
			a.warn(journal.DropOrder(root))
			if want == journal.WantStop || want == journal.WantKill {
				return to, true, nil
			}
			return to, true, usageErrorf("the build has ended\nhint: `ufbuild status` says how")
		case !held:
			return h, false, usageErrorf("no build runs here\nhint: go to the directory of its campaign, or name it with -C DIR")
		case order.Build != "" && h.Heard == order.ID:
			return h, false, nil
		case order.Build == "" && h.Obeys:
			to, order.Build, order.Time = h, h.Build, time.Now()
			if err := journal.Give(root, order); err != nil {
				return h, false, err
			}
		case time.Since(begun) > hearWithin:
			if order.Build != "" {
				a.warn(journal.DropOrder(root))
			}
			return h, false, fmt.Errorf("tell the build: `ufbuild %s` (process %d) does not answer\nhint: press Ctrl-C where it runs, or kill -INT %d", h.Verb, h.PID, h.PID)
		}
		if !a.rest(hearEvery / 4) {
			return h, false, exit(a.signalCode())
		}
	}
}

// awaitEnd waits until a build is gone.
func (a *app) awaitEnd(root, build string) (bool, error) {
	for {
		if h, held := journal.Held(root); !held || h.Build != build {
			return true, nil
		}
		if !a.rest(hearEvery / 4) {
			return false, exit(a.signalCode())
		}
	}
}

// rest waits; false means that a signal came.
func (a *app) rest(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-a.context().Done():
		return false
	}
}

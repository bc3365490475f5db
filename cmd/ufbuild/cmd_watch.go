package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/executor/stamp"
	"github.com/ufbuild/ufbuild/lang"
)

// unpaidWords is why watch leaves a stale prompt alone.
const unpaidWords = "a prompt costs money, and watch starts one only with --paid"

func (a *app) watchCommand() *cobra.Command {
	var f buildFlags
	var paid bool
	var settle time.Duration
	cmd := &cobra.Command{
		Use:   "watch [TARGET…]",
		Short: "Build again whenever a file changes",
		Long: `Builds the targets, then waits for changes below the campaign's root and builds again:
edited, new, deleted and renamed files, campaign files and prompts included. One build
ends before the next begins; what changes meanwhile is built next. A campaign that is
broken is reported, and built once it is mended.

Commands run. Prompts do not, since they cost money: stale ones are named and left to
"ufbuild build", unless --paid is given.`,
		Example: `  ufbuild watch
  ufbuild watch report
  ufbuild watch --paid --budget 5   # prompts too, up to five dollars`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE: func(_ *cobra.Command, targets []string) error {
			if err := f.check(); err != nil {
				return err
			}
			if settle < 0 {
				return usageErrorf("--settle %s: a time is not negative", settle)
			}
			if !paid {
				f.unpaid = unpaidWords
			}
			return a.runWatch(f, targets, settle)
		},
	}
	f.bind(cmd)
	cmd.Flags().BoolVar(&paid, "paid", false, "start prompts too")
	cmd.Flags().DurationVar(&settle, "settle", 100*time.Millisecond, "build when nothing has changed for this `TIME`")
	return cmd
}

// runWatch builds until a signal comes. Builds of a watch wait for those of others.
func (a *app) runWatch(f buildFlags, targets []string, settle time.Duration) error {
	o, _, err := a.options()
	if err != nil {
		return err
	}
	root, files, err := lang.Locate(o)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return usageErrorf("there is no campaign.hcl in this directory or above it\nhint: start one with: ufbuild init")
	}
	n, err := newNotifier(root)
	if err != nil {
		return err
	}
	defer n.close()
	for _, v := range a.vars {
		if v.file {
			_ = n.w.Add(filepath.Dir(v.text)) // a file that is not there is said by the build
		}
	}
	f.wait = true
	ctx := a.context()
	w := watcher{after: time.After, settle: settle, changes: n.changes}
	var seen *stamp.Kept // nil when the answer rests on more than stat can tell
	f.ended = func(s *session) {
		n.leaveOut(s.campaign.Out)
		seen = s.seen()
		n.follow(seen)
	}
	w.differs = func() bool { return seen == nil || !stamp.Holds(seen, root) }
	w.build = func(ctx context.Context, because string) {
		if because != "" {
			fmt.Fprintf(a.err, "\n%s changed\n", because)
		}
		seen = nil
		err := a.runBuild("watch", f, func(s *session) (selection, error) { return s.selectOnly(targets, pick{}) })
		exitCode(err, a.err, a.errTerm.Style()) // says what is wrong; the next build may be better
	}
	w.name = func(paths []string) string { return nameOf(root, seen, paths) }
	w.idle = func() { fmt.Fprintf(a.err, "watching %s\n", filepath.Clean(root)) }
	w.run(ctx)
	return exit(a.signalCode())
}

// seen is what the answer of a build rests on; nil when it rests on more than stat can tell.
func (s *session) seen() *stamp.Kept {
	if !s.observeCampaign() {
		return nil
	}
	return s.observed()
}

// observed is what was looked at so far; nil when there was more than stat can tell.
func (s *session) observed() *stamp.Kept {
	seen, ok := s.files.Observed()
	if !ok {
		return nil
	}
	kept, err := stamp.Decode((&stamp.Stamp{Seen: seen}).Encode())
	if err != nil {
		panic("BUG: decode what was just encoded: " + err.Error())
	}
	return kept
}

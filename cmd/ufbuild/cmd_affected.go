package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

func (a *app) affectedCommand() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "affected --since REV",
		Short: "Say which tasks a change makes stale",
		Long: `Compares the campaign with what it was at a git revision and lists the instances that
the change touches: those whose prompt, command, settings, inputs or references differ,
new ones, and all that their content can reach. It needs no store and runs nothing, so
it tells a pull request what a build of it would cost.

A dependent runs only if what it reads comes out differently, and a task whose contract
changed only if what is stored for it fails that now. Comments, layout, labels, policies
and new names for tasks make nothing stale and are not listed.`,
		Example: "  ufbuild affected --since main\n  ufbuild affected --since HEAD~1 --json | jq '.nodes[].address'",
		RunE: func(*cobra.Command, []string) error {
			if since == "" {
				return usageErrorf("affected needs a revision\nhint: `ufbuild affected --since HEAD` is about what is not committed, --since main about all of a branch")
			}
			return a.affected(since)
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "compare with the git revision `REV`")
	return cmd
}

func (a *app) affected(since string) error {
	now, err := a.loadSound(false)
	if err != nil {
		return err
	}
	now.readLock()
	rev, err := a.checkOut(now.campaign.Root, since)
	if err != nil {
		return err
	}
	defer rev.remove()
	then, err := a.loadAt(rev, now)
	if err != nil {
		return err
	}
	root := now.campaign.Root
	before, after := newSide(then, a.ownFiles(then.campaign, root)), newSide(now, a.ownFiles(now.campaign, root))
	touched, gone := compare(before, after, rev)
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "since": since, "nodes": append([]affectedNode{}, touched...), "gone": gone})
	}
	return a.printAffected(touched, gone)
}

// loadAt reads the campaign of a revision. One that was not there, or was broken, is empty: all is new.
func (a *app) loadAt(rev *revision, now *loaded) (*loaded, error) {
	o, ds, err := a.options()
	if err != nil {
		return nil, err
	}
	o.Dir = rev.dir
	if o.File != "" {
		o.File = filepath.Join(rev.dir, filepath.Base(o.File))
	}
	root, files, err := lang.Locate(o)
	if err != nil || len(files) == 0 || !sameDir(root, rev.dir) {
		fmt.Fprintln(a.err, "warning: every task is new, since the revision has no campaign here")
		return emptyLoad(rev.dir), nil
	}
	l := a.loadWith(o, ds)
	l.readLock()
	broken := l.problems
	for i := range broken {
		if broken[i].Severity == lang.Error && broken[i].Code != "UF8005" {
			fmt.Fprintf(a.err, "warning: every task is new, since the campaign of the revision is broken: %s\n", broken[i].Summary)
			return emptyLoad(rev.dir), nil
		}
	}
	return l, nil
}

// emptyLoad is a campaign without anything in it.
func emptyLoad(dir string) *loaded {
	c := &lang.Campaign{Root: dir, Out: "out"}
	g, _ := graph.Build(c)
	return &loaded{campaign: c, graph: g}
}

func sameDir(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// has reports whether the revision has a file.
func (r *revision) has(path string) bool {
	_, err := os.Lstat(filepath.Join(r.dir, filepath.FromSlash(path)))
	return err == nil
}

// maxReasons bounds what one line says; --json has all.
const maxReasons = 3

func (a *app) printAffected(touched []affectedNode, gone []string) error {
	if len(touched) == 0 && len(gone) == 0 {
		fmt.Fprintln(a.err, "no task is affected")
		return nil
	}
	words := map[string]string{"changed": "stale", "new": "new", "judged": "may run", "dependent": "may run"}
	rows := [][]string{}
	for _, n := range touched {
		rs := n.Reasons
		if len(rs) > maxReasons {
			rs = append(append([]string{}, rs[:maxReasons]...), fmt.Sprintf("and %d more", len(n.Reasons)-maxReasons))
		}
		text := strings.Join(rs, ", ")
		if n.Kind == "dependent" {
			text = "reads " + text
		}
		rows = append(rows, []string{words[n.Kind], n.Address, text})
	}
	for _, g := range gone {
		rows = append(rows, []string{"gone", g, ""})
	}
	return a.outTerm.Table(a.out, nil, rows)
}

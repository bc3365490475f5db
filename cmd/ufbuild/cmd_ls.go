package main

import (
	"fmt"
	"path"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
)

func (a *app) lsCommand() *cobra.Command {
	var untracked bool
	cmd := &cobra.Command{
		Use:   "ls [TARGET…]",
		Short: "List outputs: where they lie, how large, of which attempt",
		Long: `Lists the outputs of the attempts that tasks read now, as they are reached from here
(in --json from the campaign's root). With --untracked it lists what these attempts
left beside their outputs; such files are kept in the store and put nowhere.`,
		Example: `  ufbuild ls
  ufbuild ls group.review
  ufbuild ls --untracked triage`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE:              func(_ *cobra.Command, targets []string) error { return a.runLs(targets, untracked) },
	}
	cmd.Flags().BoolVar(&untracked, "untracked", false, "list leftovers instead of outputs")
	return cmd
}

type lsEntry struct {
	Address string `json:"address"`
	N       int    `json:"n"` // of the attempt, in the history of the address
	Output  string `json:"output,omitempty"`
	Path    string `json:"path"`
	Digest  string `json:"digest,omitempty"`
	Size    int64  `json:"size"`
	Tree    bool   `json:"tree,omitempty"`
}

func (a *app) runLs(targets []string, untracked bool) error {
	s, err := a.openSession(reading)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	ids, err := s.selectOrAll(targets)
	if err != nil {
		return err
	}
	entries := []lsEntry{}
	for _, id := range ids {
		addr := s.graph.Node(id).Address
		gens, err := executor.History(s.store, s.view, addr)
		if err != nil {
			return err
		}
		for _, g := range gens {
			if !g.Selected || g.Attempt.Captured == nil {
				continue
			}
			found, err := s.listed(addr.String(), g, untracked)
			if err != nil {
				return err
			}
			entries = append(entries, found...)
		}
	}
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "entries": entries})
	}
	rows, here := make([][]string, len(entries)), fromHere(s.campaign.Root)
	for i, e := range entries {
		rows[i] = []string{joinSlash(here, e.Path), ui.Bytes(e.Size), fmt.Sprintf("@%d", e.N)}
		if untracked { // their paths do not say whose they are
			rows[i][0], rows[i][2] = e.Path, e.Address+rows[i][2]
		}
	}
	return a.outTerm.Table(a.out, nil, rows)
}

// listed are the outputs or leftovers of one attempt.
func (s *session) listed(addr string, g executor.Generation, untracked bool) ([]lsEntry, error) {
	c := g.Attempt.Captured
	if untracked {
		if c.Leftovers.IsZero() {
			return nil, nil
		}
		return s.treeEntries(lsEntry{Address: addr, N: g.N}, "", c.Leftovers)
	}
	var out []lsEntry
	place := path.Join(s.campaign.Out, addr)
	for _, o := range c.Outputs {
		e := lsEntry{Address: addr, N: g.N, Output: o.Name, Path: path.Join(place, s.outputPath(addr, o.Name)), Digest: o.Digest.String(), Size: o.Digest.Size, Tree: o.Tree}
		if !o.Exists {
			continue
		}
		if !o.Tree {
			out = append(out, e)
			continue
		}
		files, err := s.treeEntries(e, place, o.Digest)
		if err != nil {
			return nil, err
		}
		out = append(out, files...)
	}
	return out, nil
}

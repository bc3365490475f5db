package main

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/lang"
)

type cleanFlags struct {
	dead       bool
	out        bool
	workspaces bool
	yes        bool
}

func (a *app) cleanCommand() *cobra.Command {
	var f cleanFlags
	cmd := &cobra.Command{
		Use:   "clean",
		Short: "Remove what can be made again without paying",
		Long: `Lists and then removes outputs of tasks that are gone from the campaign (--dead), all
outputs put under out/ (--out), or directories of attempts that were kept or left
behind, by any campaign that shares the store (--workspaces). What a task reads as an
input stays. The store is never touched, so nothing has to run again: the next build
puts outputs back.`,
		Example: `  ufbuild clean --dead
  ufbuild clean --out --yes
  ufbuild clean --workspaces`,
		RunE: func(*cobra.Command, []string) error {
			if !f.dead && !f.out && !f.workspaces {
				return usageErrorf("say what to clean: --dead, --out or --workspaces")
			}
			return a.runClean(f)
		},
	}
	fs := cmd.Flags()
	fs.BoolVar(&f.dead, "dead", false, "outputs of tasks that are gone")
	fs.BoolVar(&f.out, "out", false, "everything that was put under out/")
	fs.BoolVar(&f.workspaces, "workspaces", false, "directories of attempts that do not run, of all campaigns of the store")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	return cmd
}

func (a *app) runClean(f cleanFlags) error {
	s, err := a.openSession(writing)
	if err != nil {
		return err
	}
	defer func() { _ = s.close() }()
	if err := s.hold(newID(time.Now()), "clean", false); err != nil {
		return err
	}
	outputs, err := s.outputsToClean(f)
	if err != nil {
		return err
	}
	var work []string
	if f.workspaces {
		if work, err = executor.IdleWork(s.store); err != nil {
			return err
		}
	}
	if err := a.listClean(s.campaign.Root, append(append([]string{}, outputs...), work...)); err != nil || len(outputs)+len(work) == 0 {
		return err
	}
	if err := a.confirm("remove these?", f.yes); err != nil {
		return err
	}
	return errors.Join(executor.RemoveIdleWork(work, workspace.Remove), s.placer.Clean(outputs))
}

// listClean says what is about to be removed.
func (a *app) listClean(root string, paths []string) error {
	if a.json {
		return a.printJSON(map[string]any{"schema_version": 1, "paths": paths})
	}
	if len(paths) == 0 {
		fmt.Fprintln(a.out, "nothing to clean")
	}
	here := fromHere(root)
	for _, p := range paths {
		fmt.Fprintln(a.out, joinSlash(here, p))
	}
	return nil
}

// outputsToClean lists instance directories below the output directory.
func (s *session) outputsToClean(f cleanFlags) ([]string, error) {
	if !f.dead && !f.out {
		return nil, nil
	}
	var live []lang.Address
	if !f.out {
		for _, n := range s.graph.Nodes() {
			if _, expanded := s.graph.Expansion(n.ID); !expanded { // of an expanded task its instances count
				live = append(live, n.Address)
			}
		}
	}
	dead, err := s.placer.Dead(live)
	if err != nil {
		return nil, err
	}
	return s.withoutInputs(dead)
}

// withoutInputs leaves out what a task of the campaign reads by now as a file of the project.
func (s *session) withoutInputs(paths []string) ([]string, error) {
	if len(paths) == 0 {
		return paths, nil
	}
	read := map[string]bool{}
	for _, n := range s.graph.Nodes() {
		if n.Instance == nil {
			continue
		}
		for _, in := range n.Instance.Inputs {
			files, err := s.files.Glob(in.Globs, in.Exclude)
			if err != nil {
				return nil, fmt.Errorf("clean: input %s of %s: %w", in.Name, n.Address, err)
			}
			for _, f := range files {
				read[f.Path] = true
			}
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return read[p] }), nil
}

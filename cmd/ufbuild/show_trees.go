package main

import (
	"fmt"
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
)

// treesReport is what `show --tree --json` prints.
type treesReport struct {
	SchemaVersion int          `json:"schema_version"`
	Trees         []treeReport `json:"trees"`
}

type treeReport struct {
	Output    string     `json:"output"`
	Digest    string     `json:"digest"`
	Inherited bool       `json:"inherited"` // it was started from other trees or files of the project
	Files     []treeFile `json:"files"`
}

type treeFile struct {
	Path   string `json:"path"`
	Kind   string `json:"kind,omitempty"`
	Mode   string `json:"mode,omitempty"`
	Size   int64  `json:"size"`
	Digest string `json:"digest,omitempty"`
	Target string `json:"target,omitempty"`
	Change string `json:"change,omitempty"` // added, changed or deleted, against what was inherited
}

// showTrees lists the tree outputs of an attempt.
func (a *app) showTrees(s *session, c chosen) error {
	at := &c.gen.Attempt
	if at.Captured == nil {
		return s.nothingCaptured(c)
	}
	start, err := s.startFiles(at)
	if err != nil && !cache.IsMissing(err) && !cache.IsCorrupt(err) {
		return err
	}
	r := treesReport{SchemaVersion: 1, Trees: []treeReport{}}
	for _, o := range at.Captured.Outputs {
		if !o.Tree || !o.Exists {
			continue
		}
		t, err := cache.ReadTree(s.store, o.Digest)
		if err != nil {
			return fmt.Errorf("read output %s: %w", o.Name, err)
		}
		r.Trees = append(r.Trees, treeReport{
			Output: o.Name, Digest: o.Digest.String(), Inherited: start != nil, Files: treeFiles(t, start),
		})
	}
	switch {
	case a.json:
		return a.printJSON(r)
	case len(r.Trees) == 0:
		return usageErrorf("this attempt has no tree\nhint: \"ufbuild show --output NAME\" prints a file")
	}
	return a.printTrees(r)
}

// treeFiles lists a tree and behind it what was deleted. Without the files it was started from, what was
// added counts as changed.
func treeFiles(t cache.Tree, start map[string]cache.Entry) []treeFile {
	var files []treeFile
	for _, e := range t.Entries {
		f := treeFile{Path: e.Path, Kind: string(e.Kind), Mode: fmt.Sprintf("%04o", e.Mode), Size: e.Digest.Size, Target: e.Target}
		if e.Kind == cache.File {
			f.Digest = e.Digest.String()
		}
		if _, changed := slices.BinarySearch(t.Changed, e.Path); changed {
			f.Change = "changed"
			if _, before := start[e.Path]; start != nil && !before {
				f.Change = "added"
			}
		}
		files = append(files, f)
	}
	for _, p := range t.Deleted {
		files = append(files, treeFile{Path: p, Change: "deleted"})
	}
	return files
}

func (a *app) printTrees(r treesReport) error {
	for _, t := range r.Trees {
		fmt.Fprintf(a.out, "%s  %s\n", t.Output, t.Digest)
		var rows [][]string
		for _, f := range t.Files {
			what := ui.Bytes(f.Size)
			if f.Kind != string(cache.File) {
				what = f.Kind
			}
			rows = append(rows, []string{"  " + f.Mode, what, f.Change, gitName(f.Path) + arrow(f.Target)})
		}
		if err := a.outTerm.Table(a.out, nil, rows); err != nil {
			return err
		}
	}
	return nil
}

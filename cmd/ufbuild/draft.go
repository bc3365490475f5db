package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/lang"
)

// hereWorkspace is the workspace of a running attempt, with the contracts of its outputs.
type hereWorkspace struct {
	dir    string
	bundle contract.Bundle
}

// workspaceHere finds the workspace that the working directory is in, nil for none. A campaign that is
// nearer, or asked for by flag, is meant instead.
func (a *app) workspaceHere() *hereWorkspace {
	if a.dir != "" || a.file != "" {
		return nil
	}
	dir, err := os.Getwd()
	for err == nil {
		text, readErr := os.ReadFile(filepath.Join(dir, filepath.FromSlash(contract.BundlePath)))
		if readErr == nil {
			b, err := contract.ReadBundle(text)
			if err != nil {
				return nil // the campaign may still be there
			}
			return &hereWorkspace{dir, b}
		}
		if _, statErr := os.Stat(filepath.Join(dir, "campaign.hcl")); statErr == nil || dir == filepath.Dir(dir) {
			return nil
		}
		dir = filepath.Dir(dir)
	}
	return nil
}

// output is the output of the task that a draft is meant for: the one at its path, else the first with that
// contract; -1 for none.
func (w *hereWorkspace) output(name, file string) int {
	abs, err := filepath.Abs(file)
	if err != nil {
		return -1
	}
	has := func(o lang.Output) bool { return o.Contract != nil && o.Contract.Name == name }
	at := slices.IndexFunc(w.bundle.Outputs, func(o lang.Output) bool {
		return has(o) && o.Path != "" && filepath.Join(w.dir, filepath.FromSlash(o.Path)) == abs
	})
	if at < 0 {
		at = slices.IndexFunc(w.bundle.Outputs, has)
	}
	return at
}

// judgeInWorkspace judges a draft as the build will judge the output, as far as the workspace holds what
// that takes.
func (a *app) judgeInWorkspace(w *hereWorkspace, i int, file string) (cache.Verdict, error) {
	subjects := make([]contract.Subject, len(w.bundle.Outputs))
	for k, o := range w.bundle.Outputs {
		at := filepath.Join(w.dir, filepath.FromSlash(o.Path))
		if k == i {
			at = file
		}
		s, err := draftOf(o, at)
		switch {
		case err == nil:
		case k != i && errors.Is(err, fs.ErrNotExist): // not written yet
			s = contract.Subject{Output: o}
		default:
			return cache.Verdict{}, err
		}
		subjects[k] = s
	}
	files := source.Open(filepath.Join(w.dir, filepath.FromSlash(contract.BundleFiles)), "")
	p := contract.Process{Files: executor.ContractFiles{Files: files}, Path: a.getenv("PATH"), Lay: w.layInputs}
	return contract.JudgeOutput(a.context(), subjects, i, p.Validate, w.documents()...)
}

// documents are what rules compare with, as it lies in the workspace.
func (w *hereWorkspace) documents() []contract.Document {
	docs := make([]contract.Document, 0, len(w.bundle.Compared))
	for _, c := range w.bundle.Compared {
		d := contract.Document{Name: c.Name, State: c.State, Why: c.Why, Lines: c.Lines}
		if c.State == contract.There {
			b, err := os.ReadFile(filepath.Join(w.dir, filepath.FromSlash(c.Path)))
			if err != nil {
				d.State, d.Why = contract.Gone, err.Error()
			}
			d.Digest = digest.Of(b)
			d.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
		}
		docs = append(docs, d)
	}
	return docs
}

// layInputs lays what the workspace holds for a validate command, which may compare with inputs.
func (w *hereWorkspace) layInputs(dir string) error {
	files := source.Open(w.dir, "")
	found, err := files.Glob([]string{"**"}, []string{".git/**", ".uf/contract/**", ".uf/prompt.md", ".uf/usage.json"})
	if err != nil {
		return err
	}
	_, err = workspace.Lay(dir, nil, workspace.Spec{Root: w.dir, Sources: found})
	return err
}

// draftOf reads a draft of an output: a file, or for a tree the files below a directory that its globs match.
func draftOf(o lang.Output, at string) (contract.Subject, error) {
	s := contract.Subject{Output: o, Captured: cache.Output{Name: o.Name, Exists: true, Tree: o.Path == "", Mode: 0o644}}
	if s.Captured.Tree {
		return draftTree(s, at)
	}
	b, err := os.ReadFile(at)
	if err != nil {
		return s, usageErrorf("read draft: %w", err)
	}
	s.Captured.Digest = digest.Of(b)
	s.Open = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b)), nil }
	return s, nil
}

func draftTree(s contract.Subject, root string) (contract.Subject, error) {
	if st, err := os.Stat(root); err != nil || !st.IsDir() {
		return s, usageErrorf("read draft: %s is no directory, and contract %q is about a tree", root, contractName(s.Output))
	}
	var tree cache.Tree
	blobs := map[digest.Digest]string{}
	for _, g := range s.Output.Tree {
		names, err := doublestar.Glob(os.DirFS(root), g, doublestar.WithFilesOnly(), doublestar.WithNoFollow())
		if err != nil {
			return s, fmt.Errorf("read draft: %w", err)
		}
		for _, name := range names {
			if slices.ContainsFunc(tree.Entries, func(e cache.Entry) bool { return e.Path == name }) || strings.HasPrefix(name, workspace.Reserved+"/") {
				continue
			}
			file := filepath.Join(root, filepath.FromSlash(name))
			b, err := os.ReadFile(file)
			if err != nil {
				return s, fmt.Errorf("read draft: %w", err)
			}
			d := digest.Of(b)
			blobs[d] = file
			tree.Entries = append(tree.Entries, cache.Entry{Path: name, Kind: cache.File, Mode: 0o644, Digest: d})
		}
	}
	s.Tree = func() (cache.Tree, error) { return tree, nil }
	s.Blob = func(d digest.Digest) (io.ReadCloser, error) { return os.Open(blobs[d]) }
	return s, nil
}

func contractName(o lang.Output) string {
	if o.Contract == nil {
		return o.Name
	}
	return o.Contract.Name
}

package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// fileSet is one side of a comparison: the files of an attempt, or what it started from.
type fileSet struct {
	label string
	files map[string]cache.Entry
}

// picked says which outputs are compared.
type picked struct {
	name  string // "" for all
	trees bool   // trees alone
}

func (p picked) has(o cache.Output) bool {
	return (p.name == "" || o.Name == p.name) && (o.Tree || !p.trees)
}

// capturedFiles are the files of an attempt's outputs by their paths in the workspace.
func (s *session) capturedFiles(c chosen, pick picked) (fileSet, error) {
	out := fileSet{label: c.label(), files: map[string]cache.Entry{}}
	at := c.gen.Attempt
	if !c.have || at.Captured == nil {
		return out, usageErrorf("nothing was captured of %s\nhint: `ufbuild show %s --history` lists its attempts", out.label, quoteTarget(c.address))
	}
	paths := s.declaredPaths(&at)
	known := pick.name == ""
	for _, o := range at.Captured.Outputs {
		known = known || o.Name == pick.name
		if !pick.has(o) || !o.Exists {
			continue
		}
		if !o.Tree {
			p := paths[o.Name]
			out.files[p] = cache.Entry{Path: p, Kind: cache.File, Mode: o.Mode, Digest: o.Digest}
			continue
		}
		t, err := cache.ReadTree(s.store, o.Digest)
		if err != nil {
			return out, fmt.Errorf("read output %s of %s: %w", o.Name, out.label, err)
		}
		addEntries(out.files, t.Entries)
	}
	if !known {
		return out, usageErrorf("%s has no output %q", out.label, pick.name)
	}
	return out, nil
}

// inheritedFiles are the files that the trees of an attempt were started from, as far as the globs of
// its outputs match them: what it did not capture and did not delete was never its own to change.
func (s *session) inheritedFiles(c chosen, pick picked) (fileSet, error) {
	at := c.gen.Attempt
	out := fileSet{label: "what " + c.label() + " inherited", files: map[string]cache.Entry{}}
	start, err := s.startTree(&at)
	if err != nil {
		return out, err
	}
	if start == nil {
		return out, usageErrorf("%s inherits no tree\nhint: compare two attempts: `ufbuild diff %s@1 %s@2`", c.address, c.address, c.address)
	}
	mine := map[string]bool{}
	for _, o := range at.Captured.Outputs {
		if !pick.has(o) || !o.Exists {
			continue
		}
		t, err := cache.ReadTree(s.store, o.Digest)
		if err != nil {
			return out, fmt.Errorf("read output %s of %s: %w", o.Name, c.label(), err)
		}
		for _, e := range t.Entries {
			mine[e.Path] = true
		}
		for _, p := range t.Deleted {
			mine[p] = true
		}
	}
	addEntries(out.files, slices.DeleteFunc(start.Entries, func(e cache.Entry) bool { return !mine[e.Path] }))
	return out, nil
}

// addEntries adds what is not a directory: a comparison of files knows none.
func addEntries(files map[string]cache.Entry, entries []cache.Entry) {
	for _, e := range entries {
		if e.Kind != cache.Dir {
			files[e.Path] = e
		}
	}
}

// startTree is the tree that an attempt's workspace was started from; nil for none.
func (s *session) startTree(at *cache.Attempt) (*cache.Tree, error) {
	manifest, err := s.blob(at.Manifest)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	for line := range strings.Lines(string(manifest)) {
		text, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "start ")
		if !ok {
			continue // the lines of a prompt are indented, so none of them reads like this one
		}
		d, err := digest.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		t, err := cache.ReadTree(s.store, d)
		if err != nil {
			return nil, fmt.Errorf("read inherited tree: %w", err)
		}
		return &t, nil
	}
	return nil, nil
}

// declaredPaths are the paths of an attempt's file outputs as they were declared when it ran, and as they
// are declared now where its manifest is gone.
func (s *session) declaredPaths(at *cache.Attempt) map[string]string {
	paths := map[string]string{}
	for _, o := range at.Captured.Outputs {
		paths[o.Name] = s.outputPath(at.Address, o.Name)
	}
	manifest, err := s.blob(at.Manifest)
	if err != nil {
		return paths
	}
	for line := range strings.Lines(string(manifest)) {
		if name, p, ok := pathLine(strings.TrimSuffix(line, "\n")); ok {
			paths[name] = p
		}
	}
	return paths
}

// pathLine reads a manifest's line about a file output: output "name" path "where".
func pathLine(line string) (name, p string, ok bool) {
	rest, ok := strings.CutPrefix(line, "output ")
	if !ok {
		return "", "", false
	}
	quoted, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return "", "", false
	}
	where, ok := strings.CutPrefix(rest[len(quoted):], " path ")
	if !ok {
		return "", "", false
	}
	name, errName := strconv.Unquote(quoted)
	p, errPath := strconv.Unquote(where)
	return name, p, errName == nil && errPath == nil
}

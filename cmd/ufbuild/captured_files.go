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
		return out, s.nothingCaptured(c)
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
		return out, usageErrorf("%s has no output %q\nhint: `ufbuild ls %s` lists them", out.label, pick.name, quoteTarget(c.address))
	}
	return out, nil
}

// inheritedFiles are the files that the trees of an attempt were started from, inherited ones and those of
// the project, as far as the globs of its outputs match them: what it did not capture and did not delete
// was never its own to change.
func (s *session) inheritedFiles(c chosen, pick picked) (fileSet, error) {
	at := c.gen.Attempt
	out := fileSet{label: "what " + c.label() + " was given", files: map[string]cache.Entry{}}
	start, err := s.startFiles(&at)
	if err != nil {
		return out, err
	}
	if start == nil {
		return out, usageErrorf("%s inherits no tree, and its trees match no file of the project\nhint: without --inherited two of its attempts are compared; `ufbuild show %s --history` lists them", c.address, quoteTarget(c.address))
	}
	inputs, err := s.inputPaths(&at)
	if err != nil {
		return out, err
	}
	for _, o := range at.Captured.Outputs {
		if !pick.has(o) {
			continue
		}
		t, err := cache.ReadTree(s.store, o.Digest)
		if err != nil {
			return out, fmt.Errorf("read output %s of %s: %w", o.Name, c.label(), err)
		}
		touched := map[string]bool{}
		for _, p := range slices.Concat(t.Changed, t.Deleted) {
			touched[p] = true
			e, given := start[p]
			switch {
			case given:
				addEntries(out.files, []cache.Entry{e})
			case inputs[p]:
				return out, fmt.Errorf("compare %s: the project's file was edited while %s ran, so nobody has what the task was given\nhint: --output leaves out the tree it is in; ufbuild show %s --tree lists what changed", p, c.label(), c.label())
			}
		}
		addEntries(out.files, slices.DeleteFunc(t.Entries, func(e cache.Entry) bool { return touched[e.Path] }))
	}
	return out, nil
}

// startFiles are the files that an attempt was given and could change, by path: all that was inherited, and those
// of the project that it did change. It is nil when there were none.
func (s *session) startFiles(at *cache.Attempt) (map[string]cache.Entry, error) {
	start, err := s.startTree(at)
	if err != nil || start == nil && at.Captured.Given.IsZero() {
		return nil, err
	}
	files := map[string]cache.Entry{}
	if start != nil {
		addEntries(files, start.Entries)
	}
	if given := at.Captured.Given; !given.IsZero() {
		t, err := cache.ReadTree(s.store, given)
		if err != nil {
			return nil, fmt.Errorf("read what was given: %w", err)
		}
		addEntries(files, t.Entries)
	}
	return files, nil
}

// inputPaths are the paths of the project's files that an attempt was given.
func (s *session) inputPaths(at *cache.Attempt) (map[string]bool, error) {
	manifest, err := s.blob(at.Manifest)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	paths := map[string]bool{}
	for line := range strings.Lines(string(manifest)) {
		rest, ok := strings.CutPrefix(line, "input ")
		if !ok {
			continue
		}
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			continue
		}
		if p, err := strconv.Unquote(quoted); err == nil {
			paths[p] = true
		}
	}
	return paths, nil
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

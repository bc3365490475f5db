package main

import (
	"fmt"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

// leftoversOf reads the list of what an attempt left beside its outputs; empty where it left nothing.
func (s *session) leftoversOf(c chosen) (cache.Tree, error) {
	at := &c.gen.Attempt
	if at.Captured == nil || at.Captured.Leftovers.IsZero() {
		return cache.Tree{}, nil
	}
	b, err := s.blob(at.Captured.Leftovers)
	if err != nil {
		return cache.Tree{}, s.lost("the list of leftovers", c, at.Captured.Leftovers, err)
	}
	return cache.DecodeTree(b)
}

func (a *app) showLeftovers(s *session, c chosen) error {
	t, err := s.leftoversOf(c)
	if err != nil {
		return err
	}
	if c.leftMore() {
		fmt.Fprintln(a.err, "warning: it left more than is kept")
	} else if len(t.Entries) == 0 {
		fmt.Fprintf(a.out, "%s left nothing beside its outputs\n", c.label())
	}
	return printEntries(a.out, t)
}

// leftMore reports whether there was more beside the outputs of an attempt than is kept, which may be nothing: one file can be too large.
func (c chosen) leftMore() bool {
	captured := c.gen.Attempt.Captured
	return captured != nil && captured.LeftoversTruncated
}

// showLeftover prints one of the files that an attempt left beside its outputs.
func (a *app) showLeftover(s *session, c chosen, path string) error {
	t, err := s.leftoversOf(c)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range t.Entries {
		switch {
		case e.Kind == cache.File && e.Path == path:
			return s.lost(path, c, e.Digest, a.printBlob(s, e.Digest))
		case e.Kind == cache.File:
			names = append(names, e.Path)
		}
	}
	hint := fmt.Sprintf("`ufbuild show %s --leftovers` lists what it left", quoteAttempt(c.address, c.gen.N))
	if meant := lang.Suggest(path, names); meant != "" {
		hint = fmt.Sprintf("did you mean %q?", event.Plain(meant))
	}
	if c.leftMore() {
		return usageErrorf("no file %q is kept of what %s left beside its outputs, which was more than is kept\nhint: %s", path, c.label(), hint)
	}
	return usageErrorf("%s left no file %q beside its outputs\nhint: %s", c.label(), path, hint)
}

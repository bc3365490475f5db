package main

import (
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// coneSides finds what a task and all that depends on it left while the task read one attempt, and while it read another.
func (s *session) coneSides(args []string) (older, newer fileSet, err error) {
	second, err := s.choose(args[len(args)-1])
	if err != nil {
		return older, newer, err
	}
	first, err := s.firstSide(args, second)
	if err != nil {
		return older, newer, err
	}
	if first.address != second.address {
		return older, newer, usageErrorf("--cone compares two attempts of one task, not %s with %s", first.address, second.address)
	}
	id, _ := s.graph.Find(second.address)
	cone := map[lang.Address]bool{}
	tasks := map[string]bool{}
	for _, n := range s.graph.Cone(id) {
		cone[s.graph.Node(n).Address] = true
		tasks[s.graph.Node(n).Task.Name] = true
	}
	delete(tasks, second.address.Task) // siblings of the task itself are not in its cone
	in := func(a lang.Address) bool {
		if _, there := s.graph.Find(a); there {
			return cone[a]
		}
		return tasks[a.Task] // an instance that came up then and does not now
	}
	if older, err = s.filesWhile(first, in); err != nil {
		return older, newer, err
	}
	newer, err = s.filesWhile(second, in)
	return older, newer, err
}

// filesWhile are the files that the addresses in a set had when a task read an attempt last.
func (s *session) filesWhile(c chosen, in func(lang.Address) bool) (fileSet, error) {
	at := journal.Attempt{Key: c.gen.Attempt.Key, Ordinal: c.gen.Attempt.Ordinal}
	view, err := s.view, error(nil)
	reads := func(v *journal.View, _ *journal.Record) bool {
		selected, _ := v.Selected(c.address)
		return selected.Attempt == at
	}
	if !reads(view, nil) {
		view, err = journal.ReadUntil(s.campaign.Root, reads)
	}
	if err == nil && view == nil {
		err = usageErrorf("%s was never read by anything, so nothing was made from it\nhint: leave --cone out to compare the attempt itself", c.label())
	}
	if err != nil {
		return fileSet{}, err
	}
	return s.filesOfView(c.label(), view, in)
}

// buildSides finds what the whole campaign read at the end of two builds; false when args are not builds.
func (s *session) buildSides(args []string) (older, newer fileSet, ok bool, err error) {
	builds, err := s.view.Builds()
	if err != nil {
		return older, newer, false, err
	}
	known := func(id string) bool {
		return slices.ContainsFunc(builds, func(b journal.Build) bool { return b.ID == id })
	}
	if len(args) != 2 || !known(args[0]) || !known(args[1]) {
		return older, newer, false, nil
	}
	side := func(id string) (fileSet, error) {
		view, err := journal.ReadUntil(s.campaign.Root, func(_ *journal.View, r *journal.Record) bool { return r.Build == id })
		if err != nil {
			return fileSet{}, err
		}
		return s.filesOfView(id, view, func(lang.Address) bool { return true })
	}
	if older, err = side(args[0]); err == nil {
		newer, err = side(args[1])
	}
	return older, newer, true, err
}

// filesOfView are the files of the attempts that the addresses in a set read, below the names of the addresses.
func (s *session) filesOfView(label string, view *journal.View, in func(lang.Address) bool) (fileSet, error) {
	out := fileSet{label: label, files: map[string]cache.Entry{}}
	for a := range view.EachSelected() {
		if !in(a) {
			continue
		}
		gens, err := executor.History(s.store, view, a)
		if err != nil {
			return out, err
		}
		for _, g := range gens {
			if !g.Selected || g.Attempt.Captured == nil {
				continue
			}
			files, err := s.capturedFiles(chosen{address: a, gen: g, have: true}, picked{})
			if err != nil {
				return out, err
			}
			for p, e := range files.files {
				e.Path = a.String() + "/" + p
				out.files[e.Path] = e
			}
		}
	}
	return out, nil
}

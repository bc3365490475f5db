package executor

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// base is one tree that a workspace starts from.
type base struct {
	from lang.Address
	tree cache.Tree
	own  bool // it records no changes, having been started from nothing: all of it is its own work
}

// addStart works out the tree that the workspace starts from. What it comes to is in the manifest, not
// where it came from, so bases may be renamed and reordered as far as the merge says the same.
func (a *Action) addStart(inst *lang.Instance, deps *dependencies) error {
	var bases []base
	for _, in := range a.Inflows {
		if !in.Inherit || in.Absent {
			continue
		}
		t, err := cache.ReadTree(deps.cas, in.Digest)
		if err != nil {
			return err
		}
		bases = append(bases, base{from: in.From, tree: t, own: !deps.results.of(in.From).inherited})
	}
	if len(bases) == 0 {
		return nil
	}
	merged, err := mergeTrees(bases, inst.Workspace.Prefer, inst.Workspace.Deletions == "any")
	if err != nil {
		return err
	}
	if a.StartTree, err = merged.Encode(); err != nil {
		return fmt.Errorf("merge inherited trees: %w", err)
	}
	a.Start = digest.Of(a.StartTree)
	return nil
}

// mergeTrees is the merge rule for a workspace that inherits from several tasks: the union of their
// files. A path that one base deleted is absent only if no other base still carries it; with
// deletionsAny one base's deletion wins over copies that the others did not touch. Of two different
// contents, the one that its base left as inherited yields to the one that was changed. Two changed
// ones are an error that names both bases, unless prefer names one of them.
func mergeTrees(bases []base, prefer []lang.Address, deletionsAny bool) (cache.Tree, error) {
	m := merger{bases: bases, prefer: prefer, deletionsAny: deletionsAny, kept: map[string]carrier{}}
	paths := map[string]bool{}
	for _, p := range bases {
		for _, e := range p.tree.Entries {
			paths[e.Path] = true
		}
	}
	var clashes []string
	for path := range paths {
		c, keep, clash := m.path(path)
		switch {
		case clash != "":
			clashes = append(clashes, clash)
		case keep:
			m.kept[path] = c
		}
	}
	clashes = append(clashes, m.nested()...)
	if len(clashes) > 0 {
		slices.Sort(clashes)
		return cache.Tree{}, fmt.Errorf("merge inherited trees: %s\nhint: name one of them in workspace.prefer", strings.Join(clashes, "\n"))
	}
	var out cache.Tree
	for _, c := range m.kept {
		out.Entries = append(out.Entries, c.entry)
	}
	slices.SortFunc(out.Entries, func(a, b cache.Entry) int { return strings.Compare(a.Path, b.Path) })
	return out, nil
}

type merger struct {
	bases        []base
	prefer       []lang.Address
	deletionsAny bool
	kept         map[string]carrier // by path
}

// carrier is one base's version of a path.
type carrier struct {
	from    lang.Address
	entry   cache.Entry
	changed bool
}

func (m *merger) path(path string) (c carrier, keep bool, clash string) {
	carriers, deleted := m.carriers(path)
	changed := slices.ContainsFunc(carriers, func(c carrier) bool { return c.changed })
	if deleted && m.deletionsAny && !changed {
		return c, false, ""
	}
	versions := distinct(carriers)
	if len(versions) > 1 {
		if own := distinct(slices.DeleteFunc(slices.Clone(carriers), func(c carrier) bool { return !c.changed })); len(own) > 0 {
			versions = own
		}
	}
	if len(versions) == 1 {
		versions[0].changed = changed // the same bytes, changed by one and left by another, are a change
		return versions[0], true, ""
	}
	for _, a := range m.prefer {
		for _, c := range carriers {
			if c.from == a {
				return c, true, ""
			}
		}
	}
	return c, false, fmt.Sprintf("%s is one thing in %s and another in %s", path, versions[0].from, versions[1].from)
}

// nested settles what cannot lie in one tree: a file or link of one base where another has a directory of files. It
// goes by the rule for two contents: what was left as inherited yields to what was changed, and prefer says which of
// two changes stays.
func (m *merger) nested() (clashes []string) {
	below := map[string][]string{} // paths by the file or link that they lie below
	for path := range m.kept {
		for i := range path {
			if path[i] != '/' {
				continue
			}
			if top, ok := m.kept[path[:i]]; ok && top.entry.Kind != cache.Dir {
				below[path[:i]] = append(below[path[:i]], path)
			}
		}
	}
	for _, top := range slices.Sorted(maps.Keys(below)) {
		// What lies further up may have settled it.
		left := slices.DeleteFunc(below[top], func(p string) bool { _, ok := m.kept[p]; return !ok })
		if _, ok := m.kept[top]; !ok || len(left) == 0 {
			continue
		}
		slices.Sort(left)
		if clash := m.above(top, left); clash != "" {
			clashes = append(clashes, clash)
		}
	}
	return clashes
}

// above settles one file or link and the paths below it.
func (m *merger) above(top string, below []string) (clash string) {
	leaf := m.kept[top]
	changed := slices.IndexFunc(below, func(p string) bool { return m.kept[p].changed })
	switch {
	case !leaf.changed && changed >= 0:
		delete(m.kept, top)
		return ""
	case leaf.changed && changed < 0:
		m.drop(below)
		return ""
	}
	for _, a := range m.prefer {
		if leaf.from == a {
			m.drop(below)
			return ""
		}
		if slices.ContainsFunc(below, func(p string) bool { return m.kept[p].from == a }) {
			delete(m.kept, top)
			return ""
		}
	}
	return fmt.Sprintf("%s is a file in %s and a directory in %s", top, leaf.from, m.kept[below[max(changed, 0)]].from)
}

func (m *merger) drop(paths []string) {
	for _, p := range paths {
		delete(m.kept, p)
	}
}

// carriers are the versions of a path, in order of the bases; deleted says that a base deleted it.
func (m *merger) carriers(path string) (carriers []carrier, deleted bool) {
	for _, p := range m.bases {
		i, ok := slices.BinarySearchFunc(p.tree.Entries, path, func(e cache.Entry, path string) int { return strings.Compare(e.Path, path) })
		if ok {
			carriers = append(carriers, carrier{p.from, p.tree.Entries[i], p.own || among(p.tree.Changed, path)})
			continue
		}
		deleted = deleted || among(p.tree.Deleted, path)
	}
	return carriers, deleted
}

// among reports whether a path is in a list of a stored tree, which is sorted.
func among(sorted []string, path string) bool {
	_, ok := slices.BinarySearch(sorted, path)
	return ok
}

// distinct keeps the first carrier of each content.
func distinct(carriers []carrier) []carrier {
	var out []carrier
	for _, c := range carriers {
		if !slices.ContainsFunc(out, func(o carrier) bool { return o.entry == c.entry }) {
			out = append(out, c)
		}
	}
	return out
}

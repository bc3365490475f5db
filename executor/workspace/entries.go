package workspace

import (
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
)

// entries are paths with what lay there, sorted, each once. Most attempts have one or none, for which a map would take more than all
// that it spares.
type entries []cache.Entry

// sorted makes entries of a list, of which the last of equal paths counts.
func (l entries) sorted() entries {
	slices.SortStableFunc(l, func(a, b cache.Entry) int { return strings.Compare(a.Path, b.Path) })
	kept := l[:0]
	for i, e := range l {
		if i+1 == len(l) || l[i+1].Path != e.Path {
			kept = append(kept, e)
		}
	}
	return kept
}

// at finds what lay at a path; nil for nothing.
func (l entries) at(p string) *cache.Entry {
	i, ok := slices.BinarySearchFunc(l, p, func(e cache.Entry, p string) int { return strings.Compare(e.Path, p) })
	if !ok {
		return nil
	}
	return &l[i]
}

package cache

import (
	"cmp"
	"slices"
)

// Candidates returns the attempts that may make a node fresh, in the order in which they are to be tried: the selected
// one first, even where another campaign discarded it, then the others that are not discarded, newest ordinal first.
// Attempts without captured bytes are left out. A selected ordinal of 0 means that none is. The result is new; attempts
// is not changed.
func Candidates(attempts []Attempt, selected int) []Attempt {
	var out []Attempt
	for _, a := range attempts {
		if a.Captured != nil && (a.Ordinal == selected || a.Discarded == nil) {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, func(a, b Attempt) int {
		if first := b2i(b.Ordinal == selected) - b2i(a.Ordinal == selected); first != 0 {
			return first
		}
		return cmp.Compare(b.Ordinal, a.Ordinal)
	})
	return out
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

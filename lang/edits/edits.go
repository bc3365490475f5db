// Package edits compares two sequences: lines of a file, words of a line, lines of a manifest.
//
// The comparison is exact and shortest up to [Most] differences. Beyond that the part between the common ends is
// shown as wholly replaced, which is still true and bounds time and memory.
package edits

import "slices"

// Most is the number of differences up to which the shortest script is looked for. Memory grows with its square:
// at 2,000 it is 32 MB.
const Most = 2000

// Op says what becomes of an element.
type Op byte

// The operations, as unified diffs mark them.
const (
	Kept    Op = ' '
	Removed Op = '-' // it stands in the first sequence alone
	Added   Op = '+' // it stands in the second one alone
)

// Edit is one element of either sequence.
type Edit[T any] struct {
	Op   Op
	Item T
}

// Between returns what turns a into b: what is kept and removed makes a, what is kept and added makes b. Where
// elements are replaced, those that are removed come first.
func Between[T comparable](a, b []T) []Edit[T] {
	var head, tail []Edit[T]
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, Edit[T]{Kept, a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, Edit[T]{Kept, a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	slices.Reverse(tail)
	return slices.Concat(head, middle(a, b), tail)
}

// middle is Myers' greedy algorithm. frontiers[d][k+d] is how far along a the best path with d edits
// on diagonal k gets.
func middle[T comparable](a, b []T) []Edit[T] {
	var frontiers [][]int
	for d := 0; d <= min(len(a)+len(b), Most); d++ {
		frontier := make([]int, 2*d+1)
		for k := -d; k <= d; k += 2 {
			x := 0
			if d > 0 {
				x, _ = step(frontiers[d-1], d, k)
			}
			for x < len(a) && x-k < len(b) && x-k >= 0 && a[x] == b[x-k] {
				x++
			}
			frontier[k+d] = x
			if x >= len(a) && x-k >= len(b) {
				return backtrack(a, b, append(frontiers, frontier))
			}
		}
		frontiers = append(frontiers, frontier)
	}
	return replaced(a, b)
}

// step returns where on a the path to diagonal k with d edits starts, and the diagonal it comes from.
func step(last []int, d, k int) (x, from int) {
	at := func(k int) int { return last[k+d-1] }
	if k == -d || (k != d && at(k-1) < at(k+1)) {
		return at(k + 1), k + 1 // an element of b is added
	}
	return at(k-1) + 1, k - 1 // an element of a is removed
}

// backtrack reads the script off the frontiers, from the end.
func backtrack[T comparable](a, b []T, frontiers [][]int) []Edit[T] {
	var reversed []Edit[T]
	x, y := len(a), len(b)
	for d := len(frontiers) - 1; d > 0; d-- {
		start, from := step(frontiers[d-1], d, x-y)
		for x > start {
			x, y = x-1, y-1
			reversed = append(reversed, Edit[T]{Kept, a[x]})
		}
		if from > x-y {
			y--
			reversed = append(reversed, Edit[T]{Added, b[y]})
		} else {
			x--
			reversed = append(reversed, Edit[T]{Removed, a[x]})
		}
	}
	for x > 0 {
		x--
		reversed = append(reversed, Edit[T]{Kept, a[x]})
	}
	slices.Reverse(reversed)
	return reversed
}

// replaced removes all of a and adds all of b.
func replaced[T comparable](a, b []T) []Edit[T] {
	var out []Edit[T]
	for _, item := range a {
		out = append(out, Edit[T]{Removed, item})
	}
	for _, item := range b {
		out = append(out, Edit[T]{Added, item})
	}
	return out
}

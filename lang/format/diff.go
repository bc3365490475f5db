package format

import (
	"bytes"
	"fmt"
	"strings"
)

const (
	diffContext = 3 // unchanged lines around a change, as in every unified diff

	// maxEdits bounds the work: beyond it the middle is shown as wholly replaced, which is still true.
	maxEdits = 2000
)

// Diff returns the change from a to b as a unified diff with the paths a/name and b/name, "" when
// they are equal.
func Diff(name string, a, b []byte) string {
	if bytes.Equal(a, b) {
		return ""
	}
	return fmt.Sprintf("--- a/%s\n+++ b/%s\n", name, name) + Hunks(a, b)
}

// Hunks returns the change from a to b as the hunks of a unified diff, without the lines that name
// the files; "" when they are equal.
func Hunks(a, b []byte) string {
	var out strings.Builder
	for _, h := range hunks(edits(diffLines(a), diffLines(b))) {
		h.write(&out)
	}
	return out.String()
}

// diffLines cuts text into lines that keep their line ends.
func diffLines(b []byte) []string {
	lines := strings.SplitAfter(string(b), "\n")
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// edit is one line of a diff: ' ' kept, '-' removed or '+' added.
type edit struct {
	op   byte
	line string
}

// edits turns a into b: common ends first, then a shortest script for what is between them.
func edits(a, b []string) []edit {
	var head, tail []edit
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		head = append(head, edit{' ', a[0]})
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		tail = append(tail, edit{' ', a[len(a)-1]})
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	out := append(head, middle(a, b)...)
	for i := len(tail) - 1; i >= 0; i-- {
		out = append(out, tail[i])
	}
	return out
}

// middle is Myers' greedy algorithm. frontiers[d][k+d] is how far along a the best path with d edits
// on diagonal k gets.
func middle(a, b []string) []edit {
	var frontiers [][]int
	for d := 0; d <= min(len(a)+len(b), maxEdits); d++ {
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
		return at(k + 1), k + 1 // a line of b is added
	}
	return at(k-1) + 1, k - 1 // a line of a is removed
}

// backtrack reads the script off the frontiers, from the end.
func backtrack(a, b []string, frontiers [][]int) []edit {
	var reversed []edit
	x, y := len(a), len(b)
	for d := len(frontiers) - 1; d > 0; d-- {
		start, from := step(frontiers[d-1], d, x-y)
		for x > start {
			x, y = x-1, y-1
			reversed = append(reversed, edit{' ', a[x]})
		}
		if from > x-y {
			y--
			reversed = append(reversed, edit{'+', b[y]})
		} else {
			x--
			reversed = append(reversed, edit{'-', a[x]})
		}
	}
	for x > 0 {
		x--
		reversed = append(reversed, edit{' ', a[x]})
	}
	out := make([]edit, 0, len(reversed))
	for i := len(reversed) - 1; i >= 0; i-- {
		out = append(out, reversed[i])
	}
	return out
}

// replaced removes all of a and adds all of b.
func replaced(a, b []string) []edit {
	var out []edit
	for _, l := range a {
		out = append(out, edit{'-', l})
	}
	for _, l := range b {
		out = append(out, edit{'+', l})
	}
	return out
}

// hunk is a run of changes with their context. The lines are counted from 1.
type hunk struct {
	edits        []edit
	fromA, fromB int
}

// hunks cuts the edits into runs whose contexts do not touch.
func hunks(es []edit) []hunk {
	var out []hunk
	lineA, lineB := 1, 1
	last := -1 // index of the last change in the open hunk
	for i, e := range es {
		if e.op != ' ' {
			start := max(0, i-diffContext)
			if last >= 0 && start <= last+diffContext+1 {
				h := &out[len(out)-1]
				h.edits = append(h.edits, es[last+1:i+1]...)
			} else {
				closeHunk(out, es, last)
				out = append(out, hunk{append([]edit(nil), es[start:i+1]...), lineA - (i - start), lineB - (i - start)})
			}
			last = i
		}
		if e.op != '+' {
			lineA++
		}
		if e.op != '-' {
			lineB++
		}
	}
	closeHunk(out, es, last)
	return out
}

// closeHunk adds the context after the last change.
func closeHunk(hs []hunk, es []edit, last int) {
	if last < 0 {
		return
	}
	h := &hs[len(hs)-1]
	h.edits = append(h.edits, es[last+1:min(len(es), last+1+diffContext)]...)
}

// write prints the hunk with its header.
func (h hunk) write(out *strings.Builder) {
	countA, countB := 0, 0
	for _, e := range h.edits {
		if e.op != '+' {
			countA++
		}
		if e.op != '-' {
			countB++
		}
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(h.fromA, countA), span(h.fromB, countB))
	for _, e := range h.edits {
		out.WriteByte(e.op)
		out.WriteString(e.line)
		if !strings.HasSuffix(e.line, "\n") {
			out.WriteString("\n\\ No newline at end of file\n")
		}
	}
}

// span prints a line number and a count as unified diffs do; an empty one names the line before.
func span(from, count int) string {
	switch count {
	case 0:
		return fmt.Sprintf("%d,0", from-1)
	case 1:
		return fmt.Sprint(from)
	}
	return fmt.Sprintf("%d,%d", from, count)
}

package format

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/lang/edits"
)

const diffContext = 3 // unchanged lines around a change, as in every unified diff

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
	for _, h := range hunks(edits.Between(diffLines(a), diffLines(b))) {
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

// hunk is a run of changes with their context. The lines are counted from 1.
type hunk struct {
	lines        []edits.Edit[string]
	fromA, fromB int
}

// hunks cuts the edits into runs whose contexts do not touch.
func hunks(es []edits.Edit[string]) []hunk {
	var out []hunk
	lineA, lineB := 1, 1
	last := -1 // index of the last change in the open hunk
	for i, e := range es {
		if e.Op != edits.Kept {
			start := max(0, i-diffContext)
			if last >= 0 && start <= last+diffContext+1 {
				h := &out[len(out)-1]
				h.lines = append(h.lines, es[last+1:i+1]...)
			} else {
				closeHunk(out, es, last)
				out = append(out, hunk{slices.Clone(es[start : i+1]), lineA - (i - start), lineB - (i - start)})
			}
			last = i
		}
		if e.Op != edits.Added {
			lineA++
		}
		if e.Op != edits.Removed {
			lineB++
		}
	}
	closeHunk(out, es, last)
	return out
}

// closeHunk adds the context after the last change.
func closeHunk(hs []hunk, es []edits.Edit[string], last int) {
	if last < 0 {
		return
	}
	h := &hs[len(hs)-1]
	h.lines = append(h.lines, es[last+1:min(len(es), last+1+diffContext)]...)
}

// write prints the hunk with its header.
func (h hunk) write(out *strings.Builder) {
	countA, countB := 0, 0
	for _, e := range h.lines {
		if e.Op != edits.Added {
			countA++
		}
		if e.Op != edits.Removed {
			countB++
		}
	}
	fmt.Fprintf(out, "@@ -%s +%s @@\n", span(h.fromA, countA), span(h.fromB, countB))
	for _, e := range h.lines {
		out.WriteByte(byte(e.Op))
		out.WriteString(e.Item)
		if !strings.HasSuffix(e.Item, "\n") {
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

package executor

import (
	"strconv"
	"strings"
)

// Op says what happened to a line.
type Op string

// The operations.
const (
	Added    Op = "added"
	Removed  Op = "removed"
	Replaced Op = "replaced"
)

// Change is one difference between two manifests. Old is set for removed and replaced lines, New for
// added and replaced ones.
type Change struct {
	Op      Op     `json:"op"`
	Section string `json:"section"` // first word of the line; of the block for a line of text
	Old     string `json:"old,omitempty"`
	New     string `json:"new,omitempty"`
	Text    bool   `json:"text,omitempty"`   // Old and New are lines of a text, such as the prompt
	Inflow  string `json:"inflow,omitempty"` // of a section such as in1: what it stands for, where that is known
}

func firstQuoted(line string) string {
	_, rest, ok := strings.Cut(line, " ")
	if !ok {
		return line
	}
	q, err := strconv.QuotedPrefix(rest)
	if err != nil {
		return rest
	}
	s, err := strconv.Unquote(q)
	if err != nil {
		return q
	}
	return s
}

// DiffManifests returns what differs between two manifests, in the order of the newer one. inflows are those of the
// newer one, to say what its numbers stand for.
func DiffManifests(older, newer []byte, inflows []Inflow) []Change {
	a, b := manifestLines(older), manifestLines(newer)
	a, b = trimCommon(a, b)
	return nameInflows(pairUp(diffLines(a, b)), inflows)
}

type manifestLine struct {
	section string
	text    bool
	line    string
}

// manifestLines splits a manifest and tells the lines of text blocks from its own.
func manifestLines(m []byte) []manifestLine {
	var out []manifestLine
	section := ""
	for line := range strings.SplitSeq(strings.TrimSuffix(string(m), "\n"), "\n") {
		if rest, ok := strings.CutPrefix(line, blockIndent); ok {
			out = append(out, manifestLine{section, true, rest})
			continue
		}
		section, _, _ = strings.Cut(line, " ")
		out = append(out, manifestLine{section, false, line})
	}
	return out
}

// trimCommon drops the equal lines at both ends, which is most of two manifests.
func trimCommon(a, b []manifestLine) ([]manifestLine, []manifestLine) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return a, b
}

type edit struct {
	old, new *manifestLine
}

// maxTable bounds the memory of the comparison; larger differences are shown as all removed and all
// added.
const maxTable = 4 << 20

// diffLines returns the edits of a longest common subsequence.
func diffLines(a, b []manifestLine) []edit {
	if len(a)*len(b) > maxTable {
		return replaceAll(a, b)
	}
	t := commonTable(a, b)
	var out []edit
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		switch {
		case a[i] == b[j]:
			out = append(out, edit{})
			i, j = i+1, j+1
		case t[i+1][j] >= t[i][j+1]:
			out = append(out, edit{old: &a[i]})
			i++
		default:
			out = append(out, edit{new: &b[j]})
			j++
		}
	}
	return append(out, replaceAll(a[i:], b[j:])...)
}

// commonTable[i][j] is the length of the longest common subsequence of a[i:] and b[j:].
func commonTable(a, b []manifestLine) [][]int32 {
	t := make([][]int32, len(a)+1)
	for i := range t {
		t[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				t[i][j] = t[i+1][j+1] + 1
			} else {
				t[i][j] = max(t[i+1][j], t[i][j+1])
			}
		}
	}
	return t
}

func replaceAll(a, b []manifestLine) []edit {
	var out []edit
	for i := range a {
		out = append(out, edit{old: &a[i]})
	}
	for i := range b {
		out = append(out, edit{new: &b[i]})
	}
	return out
}

// pairUp joins removed and added lines of one place and one section into replacements.
func pairUp(edits []edit) []Change {
	var out []Change
	var removed, added []*manifestLine
	flush := func() {
		out = append(out, pairHunk(removed, added)...)
		removed, added = nil, nil
	}
	for _, e := range edits {
		switch {
		case e.old != nil:
			removed = append(removed, e.old)
		case e.new != nil:
			added = append(added, e.new)
		default:
			flush()
		}
	}
	flush()
	return out
}

func pairHunk(removed, added []*manifestLine) []Change {
	var out []Change
	used := make([]bool, len(added))
	for _, r := range removed {
		c := Change{Op: Removed, Section: r.section, Old: r.line, Text: r.text}
		for i, a := range added {
			if !used[i] && sameSubject(r, a) {
				c.Op, c.New, used[i] = Replaced, a.line, true
				break
			}
		}
		out = append(out, c)
	}
	for i, a := range added {
		if !used[i] {
			out = append(out, Change{Op: Added, Section: a.section, New: a.line, Text: a.text})
		}
	}
	return out
}

// sameSubject reports whether an added line replaces a removed one: the same section, and for inputs
// and variables the same name.
func sameSubject(a, b *manifestLine) bool {
	if a.section != b.section || a.text != b.text {
		return false
	}
	if a.text || (a.section != "input" && a.section != "env" && a.section != "output") {
		return true
	}
	return firstQuoted(a.line) == firstQuoted(b.line)
}

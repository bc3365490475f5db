package executor

import (
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/lang/edits"
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
	return nameInflows(pairUp(edits.Between(manifestLines(older), manifestLines(newer))), inflows)
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

// pairUp joins removed and added lines of one place and one section into replacements.
func pairUp(script []edits.Edit[manifestLine]) []Change {
	var out []Change
	var removed, added []manifestLine
	flush := func() {
		out = append(out, pairHunk(removed, added)...)
		removed, added = nil, nil
	}
	for _, e := range script {
		switch e.Op {
		case edits.Removed:
			removed = append(removed, e.Item)
		case edits.Added:
			added = append(added, e.Item)
		default:
			flush()
		}
	}
	flush()
	return out
}

func pairHunk(removed, added []manifestLine) []Change {
	var out []Change
	used := make([]bool, len(added))
	left := map[manifestLine][]int{} // places in added by subject, in order: a directory of ten thousand inputs may be renamed
	for i, a := range added {
		s := a.subject()
		left[s] = append(left[s], i)
	}
	for _, r := range removed {
		c := Change{Op: Removed, Section: r.section, Old: r.line, Text: r.text}
		if s := r.subject(); len(left[s]) > 0 {
			i := left[s][0]
			c.Op, c.New, used[i], left[s] = Replaced, added[i].line, true, left[s][1:]
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

// subject is equal for a removed line and an added one that replaces it: the same section, and for inputs, variables and outputs
// the same name.
func (l manifestLine) subject() manifestLine {
	of := manifestLine{section: l.section, text: l.text}
	if !l.text && (l.section == "input" || l.section == "env" || l.section == "output") {
		of.line = firstQuoted(l.line)
	}
	return of
}

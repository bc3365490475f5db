package ui

import (
	"strings"
	"unicode"

	"github.com/ufbuild/ufbuild/lang/edits"
)

// WordDiff returns one line in which the words that differ between two lines stand as [-old-] and
// {+new+}, the form of `git diff --word-diff`.
func WordDiff(s Style, older, newer string) string {
	var out, removed, added strings.Builder
	flush := func() {
		if removed.Len() > 0 {
			out.WriteString(s.Bad("[-" + removed.String() + "-]"))
		}
		if added.Len() > 0 {
			out.WriteString(s.Good("{+" + added.String() + "+}"))
		}
		removed.Reset()
		added.Reset()
	}
	for _, e := range edits.Between(words(older), words(newer)) {
		switch e.Op {
		case edits.Removed:
			removed.WriteString(e.Item)
		case edits.Added:
			added.WriteString(e.Item)
		default:
			flush()
			out.WriteString(e.Item)
		}
	}
	flush()
	return out.String()
}

// words splits a line into words and the blanks between them.
func words(line string) []string {
	var out []string
	start, blank := 0, false
	for i, r := range line {
		if b := unicode.IsSpace(r); b != blank && i > start {
			out = append(out, line[start:i])
			start, blank = i, b
		} else if i == start {
			blank = b
		}
	}
	if start < len(line) {
		out = append(out, line[start:])
	}
	return out
}

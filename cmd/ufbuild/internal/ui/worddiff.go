package ui

import (
	"strings"
	"unicode"
)

// WordDiff returns one line in which the words that differ between two lines stand as [-old-] and
// {+new+}, the form of `git diff --word-diff`.
func WordDiff(s Style, older, newer string) string {
	a, b := words(older), words(newer)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out strings.Builder
	out.WriteString(strings.Join(a[:head], ""))
	for _, h := range diffWords(a[head:len(a)-tail], b[head:len(b)-tail]) {
		if h.old != "" {
			out.WriteString(s.Bad("[-" + h.old + "-]"))
		}
		if h.new != "" {
			out.WriteString(s.Good("{+" + h.new + "+}"))
		}
		out.WriteString(h.same)
	}
	out.WriteString(strings.Join(a[len(a)-tail:], ""))
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

// hunk is a replacement followed by what both lines share.
type hunk struct{ old, new, same string }

// maxWordTable bounds the memory of a comparison; longer lines are shown as replaced whole.
const maxWordTable = 1 << 20

func diffWords(a, b []string) []hunk {
	if len(a)*len(b) > maxWordTable {
		return []hunk{{old: strings.Join(a, ""), new: strings.Join(b, "")}}
	}
	t := commonWords(a, b)
	var out []hunk
	var h hunk
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			h.same += a[i]
			i, j = i+1, j+1
			continue
		case h.same != "":
			out = append(out, h)
			h = hunk{}
		}
		if j >= len(b) || (i < len(a) && t[i+1][j] >= t[i][j+1]) {
			h.old += a[i]
			i++
		} else {
			h.new += b[j]
			j++
		}
	}
	return append(out, h)
}

func commonWords(a, b []string) [][]int {
	t := make([][]int, len(a)+1)
	for i := range t {
		t[i] = make([]int, len(b)+1)
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

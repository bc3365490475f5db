package live

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"

	"github.com/ufbuild/ufbuild/executor/event"
)

// plain makes a line of a task's output harmless and fit for a row: tabs are blanks, no blanks around it.
func plain(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(event.Plain(s), "\t", " "))
}

// columns is how many cells of a terminal a text takes. It holds no control characters.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += cells(r)
	}
	return n
}

func cells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut shortens a text to some columns; what is left out is marked by "…".
func cut(s string, w int) string {
	if columns(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	n := 0
	for i, r := range s {
		if n += cells(r); n > w-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// fill makes a text exactly so wide.
func fill(s string, w int) string {
	s = cut(s, w)
	return s + strings.Repeat(" ", max(w-columns(s), 0))
}

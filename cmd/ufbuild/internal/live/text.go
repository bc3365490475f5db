package live

import (
	"strings"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

// plain makes a line of a task's output harmless and fit for a row: tabs are blanks, no blanks around it.
func plain(s string) string {
	return strings.TrimSpace(strings.ReplaceAll(event.Plain(s), "\t", " "))
}

// cut shortens a text to some columns; what is left out is marked by "…".
func cut(s string, w int) string {
	if ui.Columns(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	n := 0
	for i, r := range s {
		if n += lang.Cells(r); n > w-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// fill makes a text exactly so wide.
func fill(s string, w int) string {
	s = cut(s, w)
	return s + strings.Repeat(" ", max(w-ui.Columns(s), 0))
}

package ui

import (
	"io"
	"os"
	"strconv"

	"golang.org/x/term"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/bare"
)

// Terminal is what is known of a writer.
type Terminal struct {
	IsTTY bool
	Color bool
	Width int // columns; 0 when it is not a terminal
}

// Detect looks at a writer and at NO_COLOR, CLICOLOR_FORCE and TERM, in this order of strength, and of a
// terminal at COLUMNS, which is stronger than its size.
func Detect(w io.Writer, getenv func(string) string) Terminal {
	var t Terminal
	if f, ok := w.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		t.IsTTY = true
		t.Width, _, _ = term.GetSize(int(f.Fd()))
		if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
			t.Width = n
		}
	}
	t.Color = bare.Colors(t.IsTTY, getenv)
	return t
}

// Style wraps text in colours, or leaves it alone. The zero Style leaves it alone.
type Style struct{ on bool }

// Style returns the colours of a terminal.
func (t Terminal) Style() Style { return Style{t.Color} }

func (s Style) paint(code, text string) string {
	if !s.on || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// Bold is for headings and names.
func (s Style) Bold(text string) string { return s.paint("1", text) }

// Dim is for what may be overlooked.
func (s Style) Dim(text string) string { return s.paint("2", text) }

// Good is for success.
func (s Style) Good(text string) string { return s.paint("32", text) }

// Bad is for failures.
func (s Style) Bad(text string) string { return s.paint("1;31", text) }

// Warn is for what needs a look.
func (s Style) Warn(text string) string { return s.paint("33", text) }

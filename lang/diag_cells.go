package lang

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v15/textseg"
	"golang.org/x/text/width"
)

const (
	tabStop = 4 // HCL files are indented by two; a tab should stand out, not run away

	// lineReach bounds how much of a line is looked at before and after the place to show, so that
	// minified JSON of a megabyte costs no more than a short line.
	lineReach = 2048
)

// cell is one user-perceived character as it is shown.
type cell struct {
	text       string // what is printed
	width      int    // terminal columns
	start, end int    // bytes in the line
}

// lineCells cuts the part of a line around the byte offset focus into cells. Control characters and
// what is not UTF-8 come out harmless.
func lineCells(line []byte, focus int) []cell {
	from := snapRune(line, max(0, focus-lineReach))
	to := snapRune(line, min(len(line), focus+lineReach))
	var cells []cell
	column := 0
	for at := from; at < to; {
		n, cluster, err := textseg.ScanGraphemeClusters(line[at:to], true)
		if err != nil || n == 0 {
			break
		}
		c := cell{start: at, end: at + n}
		if n == 1 && cluster[0] == '\t' {
			c.width = tabStop - column%tabStop
			c.text = strings.Repeat(" ", c.width)
		} else {
			c.text, c.width = showCluster(cluster)
		}
		column += c.width
		cells = append(cells, c)
		at += n
	}
	return cells
}

// snapRune moves an offset back to the start of a character.
func snapRune(b []byte, at int) int {
	for back := 0; back < utf8.UTFMax && at > 0 && at < len(b) && !utf8.RuneStart(b[at]); back++ {
		at--
	}
	return at
}

// showCluster returns what to print for a grapheme cluster and how wide it is.
func showCluster(b []byte) (string, int) {
	var out strings.Builder
	wide := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		b = b[size:]
		r = showRune(r)
		out.WriteRune(r)
		wide = max(wide, Cells(r))
		if r == 0xFE0F { // asks for the emoji form of the character before it
			wide = 2
		}
	}
	return out.String(), wide
}

// showRune replaces characters that would act on a terminal or hide in a text by visible ones.
func showRune(r rune) rune {
	switch {
	case r < 0x20:
		return 0x2400 + r // the symbols for control characters
	case r == 0x7F:
		return 0x2421
	case r < 0xA0 && r > 0x7F, bidiControl(r), r == 0x2028, r == 0x2029:
		return utf8.RuneError
	}
	return r
}

// bidiControl reports whether r can make text look as if it were in another order.
func bidiControl(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 || r == 0x200E || r == 0x200F || r == 0x061C
}

// Cells returns how many cells of a terminal r takes on its own, 0 to 2. It may be called from any goroutine.
func Cells(r rune) int {
	if r < 0x7F {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// plainText makes a message safe to print: control characters but newline become visible.
func plainText(s string) string {
	clean := true
	for _, r := range s {
		if r != '\n' && r != '\t' && showRune(r) != r {
			clean = false
			break
		}
	}
	if clean {
		return s
	}
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return r
		}
		return showRune(r)
	}, s)
}

// textWidth returns the terminal columns of a text without control characters.
func textWidth(s string) int {
	n := 0
	for i := 0; i < len(s); {
		size, cluster, err := textseg.ScanGraphemeClusters([]byte(s[i:]), true)
		if err != nil || size == 0 {
			break
		}
		_, w := showCluster(cluster)
		n += w
		i += size
	}
	return n
}

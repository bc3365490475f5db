package ui

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

// maxPadded is the widest cell that the others of its column are padded to: one long message must not push what
// follows it off the screen in every other row.
const maxPadded = 60

// narrowest is the narrowest column that words are wrapped to; below it, wrapping makes confetti.
const narrowest = 20

// Table writes rows in aligned columns, two spaces between them and none at the end of a line. Colours take
// no width. An empty header writes none. A very long cell moves only what follows it in its own row.
func Table(w io.Writer, header []string, rows [][]string) error {
	return Terminal{}.Table(w, header, rows)
}

// Table is like the function of this name. What does not fit the columns of the terminal is wrapped at blanks
// within the widest column, so that the columns stay.
func (t Terminal) Table(w io.Writer, header []string, rows [][]string) error {
	if len(header) > 0 {
		rows = append([][]string{header}, rows...)
	}
	if t.Width > 0 {
		rows = fitted(rows, t.Width)
	}
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			if n := visible(cell); n <= maxPadded {
				widths[i] = max(widths[i], n)
			}
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", max(0, widths[i]-visible(cell))+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fitted wraps the cells of the widest column where the rows are wider than a terminal.
func fitted(rows [][]string, width int) [][]string {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], visible(cell))
		}
	}
	total, widest := -2, 0
	for i, n := range widths {
		total += n + 2
		if n > widths[widest] {
			widest = i
		}
	}
	if total <= width {
		return rows
	}
	room := max(narrowest, widths[widest]-(total-width))
	var out [][]string
	for _, row := range rows {
		if widest >= len(row) || strings.Contains(row[widest], "\x1b") { // a colour must not run into the next column
			out = append(out, row)
			continue
		}
		lines := Wrap(row[widest], room)
		first := slices.Clone(row)
		first[widest] = lines[0]
		out = append(out, first)
		for _, line := range lines[1:] {
			more := make([]string, widest+1)
			more[widest] = line
			out = append(out, more)
		}
	}
	return out
}

// Wrap breaks text at blanks into lines of a width; a longer word has a line of its own. There is at least
// one line.
func Wrap(text string, width int) []string {
	lines := []string{""}
	for word := range strings.FieldsSeq(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case Columns(*last)+1+Columns(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// Columns is how many cells of a terminal a text takes. It holds no control characters.
func Columns(s string) int {
	n := 0
	for _, r := range s {
		n += lang.Cells(r)
	}
	return n
}

// visible counts the cells of a text without what Style puts around it.
func visible(s string) int {
	n := Columns(s)
	for {
		_, after, ok := strings.Cut(s, "\x1b[")
		if !ok {
			return n
		}
		end := strings.IndexByte(after, 'm')
		if end < 0 {
			return n
		}
		n -= len("\x1b[") + end + 1
		s = after[end+1:]
	}
}

// Duration prints a duration with the precision a person cares for: 0.4s, 12s, 3m05s, 2h07m.
func Duration(d time.Duration) string {
	switch {
	case d < 0:
		return "-" + Duration(-d)
	case d < 10*time.Second:
		return fmt.Sprintf("%.1fs", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%.0fs", d.Truncate(time.Second).Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%dm%02ds", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%dh%02dm", int(d.Hours()), int(d.Minutes())%60)
}

// Money prints dollars; nil, an amount nobody knows, is "?".
func Money(usd *float64) string {
	if usd == nil {
		return "?"
	}
	return event.Dollars(*usd)
}

// Bytes prints a size in binary units.
func Bytes(n int64) string {
	if n < 1024 {
		return fmt.Sprintf("%d B", n)
	}
	f, unit := float64(n)/1024, 0
	for f >= 1024 && unit < 3 {
		f /= 1024
		unit++
	}
	return fmt.Sprintf("%.1f %s", f, []string{"KiB", "MiB", "GiB", "TiB"}[unit])
}

// Count prints a number with its noun: 1 error, 2 errors.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

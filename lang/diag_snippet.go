package lang

import (
	"fmt"
	"strings"
)

const (
	plainLineWidth = 160 // columns of source shown when the terminal's width is unknown
	leastLineWidth = 40  // columns of source shown in the narrowest terminal
	fixLines       = 12  // lines of an edit that are shown
)

// snippet prints the lines of r with marks below them: the first line, and the last one when r ends
// on another. label is printed after the last mark.
func (p *textWriter) snippet(r Range, mark byte, color, label string) {
	if !p.hasLine(r) {
		return
	}
	x := p.files.of(r.File)
	first, last := int(r.Start.Line), min(int(max(r.Start.Line, r.End.Line)), x.Lines())
	if last > first && int(r.End.Line) == last && x.Offset(r.End) == 0 {
		last-- // ends with the line before
	}
	p.line(p.indent(), p.paint(blue, "|"))
	if last == first {
		end := x.Offset(r.End)
		if r.End.Line > r.Start.Line {
			end = len(x.Line(first))
		}
		p.marked(x, first, x.Offset(r.Start), end, mark, color, label)
		return
	}
	p.marked(x, first, x.Offset(r.Start), len(x.Line(first)), mark, color, "")
	if last > first+1 {
		p.line(" ", strings.Repeat(".", p.gutter), " ", p.paint(blue, "|"))
	}
	end := len(x.Line(last))
	if int(r.End.Line) == last {
		end = x.Offset(r.End)
	}
	p.marked(x, last, firstInk(x.Line(last)), end, mark, color, label)
}

// firstInk returns the offset of the first byte that is no blank.
func firstInk(line []byte) int {
	for i, c := range line {
		if c != ' ' && c != '\t' {
			return i
		}
	}
	return len(line)
}

// marked prints one line of source and marks below its bytes from start to end.
func (p *textWriter) marked(x *LineIndex, n, start, end int, mark byte, color, label string) {
	cells := lineCells(x.Line(n), start)
	first, past := cellSpan(cells, start, end)
	text, before, under := p.window(cells, first, past)
	p.line(strings.TrimRight(fmt.Sprintf(" %s %s %s",
		p.paint(blue, fmt.Sprintf("%*d", p.gutter, n)), p.paint(blue, "|"), text), " "))
	marks := p.paint(color, strings.Repeat(string(mark), max(1, under)))
	if label != "" {
		marks += " " + p.paint(color, plainText(label))
	}
	p.line(p.indent(), p.paint(blue, "|"), " ", strings.Repeat(" ", before), marks)
}

// cellSpan returns the cells that hold the bytes from start to end.
func cellSpan(cells []cell, start, end int) (first, past int) {
	for first < len(cells) && cells[first].end <= start {
		first++
	}
	past = first
	for past < len(cells) && cells[past].start < end {
		past++
	}
	return first, past
}

// window cuts the cells to what fits, with "…" where something is left out, and keeps the start of
// the marked cells in sight. It returns the text, the columns before the marks and those below them.
func (p *textWriter) window(cells []cell, first, past int) (text string, before, under int) {
	room := plainLineWidth
	if p.o.Width > 0 {
		room = max(leastLineWidth, p.o.Width-p.gutter-5)
	}
	from := 0
	if first > 0 && columns(cells[:past]) > room-1 {
		// Show a third of the room before the marks.
		from = first
		for from > 0 && columns(cells[from-1:first]) <= room/3 {
			from--
		}
	}
	var b strings.Builder
	used := 0
	if from > 0 || len(cells) > 0 && cells[0].start > 0 {
		b.WriteString("…")
		used = 1
	}
	before = used
	for i := from; i < len(cells); i++ {
		if used+cells[i].width > room-1 && i < len(cells)-1 {
			b.WriteString("…")
			break
		}
		b.WriteString(cells[i].text)
		used += cells[i].width
		switch {
		case i < first:
			before += cells[i].width
		case i < past:
			under += cells[i].width
		}
	}
	return b.String(), before, under
}

// columns adds up the widths of cells.
func columns(cells []cell) int {
	n := 0
	for _, c := range cells {
		n += c.width
	}
	return n
}

// fixedLines prints the lines of the file as the edit would leave them.
func (p *textWriter) fixedLines(f *Fix) {
	if !p.hasLine(f.Range) || f.Range.End.Line < f.Range.Start.Line {
		return
	}
	x := p.files.of(f.Range.File)
	from := x.Offset(f.Range.Start)
	head, tail := x.Line(int(f.Range.Start.Line)), x.Line(int(f.Range.End.Line))
	after := string(head[:from]) + f.Text + string(tail[min(len(tail), x.Offset(f.Range.End)):])
	p.line(p.indent(), p.paint(blue, "|"))
	for i, l := range strings.Split(after, "\n") {
		if i == fixLines {
			p.line(p.indent(), p.paint(blue, "…"))
			return
		}
		p.fixedLine(int(f.Range.Start.Line)+i, []byte(strings.TrimSuffix(l, "\r")), from, from+len(f.Text))
		from = 0
	}
}

// fixedLine prints one changed line and keeps the bytes from start to end in sight.
func (p *textWriter) fixedLine(n int, line []byte, start, end int) {
	cells := lineCells(line, start)
	first, past := cellSpan(cells, start, end)
	text, _, _ := p.window(cells, first, past)
	p.line(strings.TrimRight(fmt.Sprintf(" %s %s %s",
		p.paint(blue, fmt.Sprintf("%*d", p.gutter, n)), p.paint(cyan, "+"), text), " "))
}

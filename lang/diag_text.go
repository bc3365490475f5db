package lang

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// TextOptions says how diagnostics look in a terminal.
type TextOptions struct {
	Color bool // use ANSI colours
	Width int  // terminal columns; 0: messages are not wrapped and source lines cut at 160
}

// WriteText prints diagnostics for people, each with the lines of source it is about. source returns
// the bytes of a file; where it cannot (or is nil), only the place is printed. The cost is one pass
// over each file plus a constant for each diagnostic. The only errors are those of w.
func WriteText(w io.Writer, ds Diagnostics, source func(file string) ([]byte, bool), o TextOptions) error {
	out := bufio.NewWriter(w)
	p := textWriter{out: out, files: lineIndexes{source: source}, o: o}
	for i := range ds {
		if i > 0 {
			p.line("")
		}
		p.diagnostic(&ds[i])
	}
	return out.Flush()
}

// textWriter prints one diagnostic after the other.
type textWriter struct {
	out    *bufio.Writer // keeps the first error
	files  lineIndexes
	o      TextOptions
	gutter int // width of the line numbers of the diagnostic being printed
}

// The colours, as ANSI parameters.
const (
	red    = "1;31"
	yellow = "1;33"
	blue   = "1;34"
	cyan   = "1;36"
	bold   = "1"
)

// paint wraps s in a colour.
func (p *textWriter) paint(color, s string) string {
	if !p.o.Color || s == "" {
		return s
	}
	return "\x1b[" + color + "m" + s + "\x1b[0m"
}

// line prints one line. Errors surface at the flush.
func (p *textWriter) line(parts ...string) {
	for _, s := range parts {
		p.out.WriteString(s)
	}
	p.out.WriteByte('\n')
}

// severityColor returns the colour of an error or a warning.
func severityColor(s Severity) string {
	if s == Warning {
		return yellow
	}
	return red
}

func (p *textWriter) diagnostic(d *Diagnostic) {
	p.gutter = p.gutterWidth(d)
	summary, label := d.Summary, ""
	if d.Subject != nil && p.hasLine(*d.Subject) {
		summary, label = splitSuggestion(d)
	}
	p.header(d, summary)
	if d.Subject != nil {
		p.place("--> ", *d.Subject)
		p.snippet(*d.Subject, '^', severityColor(d.Severity), label)
	}
	for _, r := range d.Related {
		p.related(r)
	}
	p.paragraph("", d.Detail)
	p.fix(d, label)
	p.paragraph("hint: ", d.Hint)
}

// header prints "error[CODE]: summary".
func (p *textWriter) header(d *Diagnostic, summary string) {
	name := d.Severity.String()
	if d.Code != "" {
		name += "[" + plainText(d.Code) + "]"
	}
	lines := p.wrap(plainText(summary), len(name)+2, 2)
	p.line(p.paint(severityColor(d.Severity), name), ": ", p.paint(bold, lines[0]))
	for _, l := range lines[1:] {
		p.line("  ", p.paint(bold, l))
	}
}

// splitSuggestion takes "Did you mean …?" off the end of the summary: it is printed at the word.
func splitSuggestion(d *Diagnostic) (summary, label string) {
	const lead = " Did you mean "
	i := strings.LastIndex(d.Summary, lead)
	if i <= 0 || !strings.HasSuffix(d.Summary, "?") {
		return d.Summary, ""
	}
	return d.Summary[:i], strings.TrimSpace(d.Summary[i:])
}

// gutterWidth returns the digits of the greatest line number to print.
func (p *textWriter) gutterWidth(d *Diagnostic) int {
	last := 0
	see := func(r Range) {
		if p.hasLine(r) {
			last = max(last, min(int(r.End.Line), p.files.of(r.File).Lines()), int(r.Start.Line))
		}
	}
	if d.Subject != nil {
		see(*d.Subject)
	}
	for _, r := range d.Related {
		see(r.Range)
	}
	if d.Fix != nil {
		see(d.Fix.Range)
	}
	return len(strconv.Itoa(last))
}

// hasLine reports whether the source of the first line of r can be shown.
func (p *textWriter) hasLine(r Range) bool {
	x := p.files.of(r.File)
	return x != nil && r.Start.Line >= 1 && int(r.Start.Line) <= x.Lines()
}

// place prints an arrow and "file:line:col".
func (p *textWriter) place(arrow string, r Range) {
	if r.File == "" {
		return
	}
	p.line(strings.Repeat(" ", p.gutter+1), p.paint(blue, arrow), placeText(r))
}

// placeText prints a range as "file:line:col", or as the file alone when it has no line.
func placeText(r Range) string {
	if r.Start.Line < 1 {
		return plainText(r.File)
	}
	return plainText(r.String())
}

// related prints a second place with its line.
func (p *textWriter) related(r Related) {
	text := plainText(r.Message)
	if text == "" {
		text = "see"
	}
	if r.Range.File != "" {
		text += ": " + placeText(r.Range)
	}
	p.item(text)
	p.snippet(r.Range, '-', blue, "")
}

// item prints a line that belongs to the diagnostic as a whole.
func (p *textWriter) item(text string) {
	lines := p.wrap(text, p.gutter+4, p.gutter+4)
	p.line(p.indent(), p.paint(blue, "="), " ", lines[0])
	for _, l := range lines[1:] {
		p.line(p.indent(), "  ", l)
	}
}

// indent is the white space before "|" and "=".
func (p *textWriter) indent() string { return strings.Repeat(" ", p.gutter+2) }

// paragraph prints text of one or more lines, each wrapped on its own. Lines with an indent of their
// own, such as a block to paste, are kept as they are.
func (p *textWriter) paragraph(lead, text string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	color := ""
	if lead != "" {
		color = cyan
	}
	for i, paragraph := range strings.Split(strings.TrimRight(plainText(text), "\n"), "\n") {
		head := lead
		if i > 0 {
			head = ""
		}
		lines := p.wrap(paragraph, p.gutter+2+len(head), p.gutter+2+len(lead))
		p.line(strings.TrimRight(p.indent()+p.paint(color, head)+lines[0], " "))
		for _, l := range lines[1:] {
			p.line(p.indent(), strings.Repeat(" ", len(lead)), l)
		}
	}
}

// wrap breaks text at blanks so that it fits the terminal, where the first line starts at column
// first and the others at column rest. Words are never broken.
func (p *textWriter) wrap(text string, first, rest int) []string {
	const narrowest = 20 // below this, wrapping makes confetti
	if p.o.Width < narrowest || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t") {
		return []string{text}
	}
	var lines []string
	line, used := "", first
	for _, word := range strings.Split(text, " ") {
		w := textWidth(word)
		if line != "" && used+1+w > p.o.Width {
			lines = append(lines, line)
			line, used = word, rest+w
			continue
		}
		if line != "" || used > first {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+w
	}
	return append(lines, line)
}

// fix prints the edit that would help, unless the label at the word already says it.
func (p *textWriter) fix(d *Diagnostic, label string) {
	if d.Fix == nil || (label != "" && d.Subject != nil && strings.Contains(label, fmt.Sprintf("%q", d.Fix.Text))) {
		return
	}
	p.item("fix: " + plainText(d.Fix.Title))
	p.fixedLines(d.Fix)
}

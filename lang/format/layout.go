package format

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// textLine is a line of a file and what is known about it.
type textLine struct {
	text    []byte // with its line end
	code    bool   // has a token that is neither comment nor line end
	comment bool   // has a comment or a part of one
	inside  bool   // starts within a comment that goes on: a blank line is part of it
	kept    bool   // within a heredoc: content, to be left alone
	gap     bool   // a blank line must come before
}

// layout puts the blank lines and the ends of lines in order.
func layout(name string, src []byte) []byte {
	lines := splitLines(src)
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	classify(lines, tokens)
	markGaps(lines, name, src)
	return joinLines(lines)
}

// splitLines cuts src at line ends; line n is at index n-1.
func splitLines(src []byte) []textLine {
	var lines []textLine
	for _, text := range bytes.SplitAfter(src, []byte{'\n'}) {
		lines = append(lines, textLine{text: text})
	}
	return lines
}

// classify finds out what is on each line.
func classify(lines []textLine, tokens hclsyntax.Tokens) {
	heredocs, opened := 0, 0
	for _, t := range tokens {
		first, last := t.Range.Start.Line, t.Range.End.Line
		if t.Range.End.Column == 1 && last > first {
			last-- // the token takes its line end with it
		}
		switch t.Type {
		case hclsyntax.TokenNewline, hclsyntax.TokenEOF:
			continue
		case hclsyntax.TokenComment:
			for n := first; n <= last && n <= len(lines); n++ {
				lines[n-1].comment = true
				lines[n-1].inside = n > first
			}
			continue
		case hclsyntax.TokenOHeredoc:
			if heredocs++; heredocs == 1 {
				opened = first
			}
		case hclsyntax.TokenCHeredoc:
			if heredocs--; heredocs == 0 {
				keep(lines, opened+1, first-1)
			}
		}
		for n := first; n <= last && n <= len(lines); n++ {
			lines[n-1].code = true
		}
	}
}

// keep marks the lines from first to last as content.
func keep(lines []textLine, first, last int) {
	for n := first; n <= last && n <= len(lines); n++ {
		lines[n-1].kept = true
	}
}

// markGaps asks for a blank line around every top-level block. Comments right above a block belong
// to it.
func markGaps(lines []textLine, name string, src []byte) {
	for _, b := range parseBody(name, src).Blocks {
		start := b.TypeRange.Start.Line
		for start > 1 && lines[start-2].comment && !lines[start-2].code {
			start--
		}
		lines[start-1].gap = true
		if end := b.CloseBraceRange.End.Line; end < len(lines) {
			lines[end].gap = true
		}
	}
}

// joinLines writes the lines: trimmed, with at most one blank line in a row and none at the ends.
func joinLines(lines []textLine) []byte {
	var out []byte
	blank := false // a blank line is due before the next one
	for i := range lines {
		l := &lines[i]
		text := l.text
		if !l.kept {
			text = bytes.TrimRight(text, " \t\r\n")
			if len(text) == 0 && !l.inside {
				blank = true
				continue
			}
		}
		if (blank || l.gap) && len(out) > 0 {
			out = append(out, '\n')
		}
		blank = false
		out = append(out, text...)
		if !l.kept {
			out = append(out, '\n')
		}
	}
	return out
}

package lang

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// openedMark is a mark of a template, ${ or %{, that was not closed.
type openedMark struct {
	place   hcl.Range // of the mark alone
	mark    string
	comment string // how a comment in it begins that reaches to the end of its line; "" for none
}

// openMark is the innermost mark of a prompt, or of a text in a campaign file, that is open where something is wrong. In a file in
// JSON nothing is found: its texts are no longer as they stand there.
func openMark(src []byte, start hcl.Pos, bad hcl.Range, prompt bool) (openedMark, bool) {
	var tokens hclsyntax.Tokens
	switch {
	case prompt:
		tokens, _ = hclsyntax.LexTemplate(src, bad.Filename, start)
	case !strings.HasSuffix(bad.Filename, ".json"):
		tokens, _ = hclsyntax.LexConfig(src, bad.Filename, start)
	}
	var open []openedMark
	for _, t := range tokens {
		begins := t.Range.Start.Byte
		if begins > bad.Start.Byte || begins == bad.Start.Byte && t.Type == hclsyntax.TokenTemplateSeqEnd || t.Type == hclsyntax.TokenEOF {
			break
		}
		switch t.Type {
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			m := openedMark{place: t.Range, mark: string(t.Bytes[:len("${")])}
			m.place.End = m.place.Start
			m.place.End.Byte += len(m.mark)
			m.place.End.Column += len(m.mark)
			open = append(open, m)
		case hclsyntax.TokenTemplateSeqEnd:
			last := len(open) - 1
			if last >= 0 && open[last].comment != "" && t.Range.End == bad.Start { // a brace of something else, lines further down
				return open[last], true
			}
			open = open[:max(last, 0)]
		case hclsyntax.TokenComment:
			if len(open) > 0 {
				open[len(open)-1].comment = lineComment(t.Bytes)
			}
		}
	}
	if len(open) == 0 {
		return openedMark{}, false
	}
	return open[len(open)-1], true
}

func lineComment(b []byte) string {
	for _, start := range []string{"#", "//"} {
		if bytes.HasPrefix(b, []byte(start)) {
			return start
		}
	}
	return ""
}

// unclosed says of a text that ends within a mark, or goes on behind a comment in one, which mark that is: HCL blames the
// beginning of the text, its end, or what it met on the way.
func (d *Diagnostic) unclosed(bad hcl.Range, src []byte, where hcl.Range, prompt bool) bool {
	end := where.Start.Byte + len(bytes.TrimRight(src, " \t\r\n"))
	whole := d.Summary == syntaxWords["Unclosed template interpolation sequence"].summary
	if whole {
		bad.Start.Byte, bad.Start.Line = where.Start.Byte+len(src), math.MaxInt
	}
	open, ok := openMark(src, where.Start, bad, prompt)
	behind := open.comment != "" && open.place.Start.Line < bad.Start.Line
	if !ok || !whole && !behind && !(prompt && bad.Start.Byte >= end) {
		return false
	}
	place := at(open.place)
	d.Subject, d.Detail, d.Hint = &place, "", textHints[open.mark]
	d.Summary = fmt.Sprintf("This %s is never closed.", open.mark)
	if open.comment != "" {
		d.Summary = fmt.Sprintf("What follows %s is a comment, so this template has no end.", open.comment)
	}
	return true
}

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

// maxLexed bounds how many bytes are read once more for the sake of what is said of syntax errors: a second or two. An editor is told
// one of each block, and without a bound many broken blocks in one file would take a time that grows with their square.
const maxLexed = 8 << 20

// tokens are those of a prompt, or of a campaign file. A file in JSON has none: its texts are no longer as they stand there.
func (p *problems) tokens(src []byte, start hcl.Pos, file string, prompt bool) (tokens hclsyntax.Tokens) {
	if strings.HasSuffix(file, ".json") || p.lexed > maxLexed {
		return nil
	}
	p.lexed += len(src)
	if prompt {
		tokens, _ = hclsyntax.LexTemplate(src, file, start)
	} else {
		tokens, _ = hclsyntax.LexConfig(src, file, start)
	}
	return tokens
}

// openMark is the innermost mark of a template that is open where something is wrong.
func openMark(tokens hclsyntax.Tokens, bad hcl.Range) (openedMark, bool) {
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
func (d *Diagnostic) unclosed(tokens hclsyntax.Tokens, bad hcl.Range, src []byte, where hcl.Range, prompt bool) bool {
	end := where.Start.Byte + len(bytes.TrimRight(src, " \t\r\n"))
	whole := d.Summary == syntaxWords["Unclosed template interpolation sequence"].summary
	if whole {
		bad.Start.Byte, bad.Start.Line = where.Start.Byte+len(src), math.MaxInt
	}
	open, ok := openMark(tokens, bad)
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

package lang

import (
	"fmt"
	"math"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// problems gathers diagnostics and keeps each only once: a definition that is evaluated for four
// hundred instances reports its mistake at one place.
type problems struct {
	list   []*Diagnostic
	seen   map[problemKey]*Diagnostic
	errors int // how many of them are errors
	lexed  int // see maxLexed

	allErrors bool // Options.AllErrors
}

type problemKey struct {
	code, summary string
	place         Range
}

// posOf is a place. What is larger than that can hold is not told apart.
func posOf(line, column, offset int) Pos {
	return Pos{Line: int32(min(line, math.MaxInt32)), Column: int32(min(column, math.MaxInt32)), Byte: int32(min(offset, math.MaxInt32))}
}

// hcl is the place as the parser has it.
func (p Pos) hcl() hcl.Pos {
	return hcl.Pos{Line: int(p.Line), Column: int(p.Column), Byte: int(p.Byte)}
}

// hcl is the range as the parser has it.
func (r Range) hcl() hcl.Range {
	return hcl.Range{Filename: r.File, Start: r.Start.hcl(), End: r.End.hcl()}
}

// at converts a range of the parser.
func at(r hcl.Range) Range {
	return Range{
		File:  r.Filename,
		Start: posOf(r.Start.Line, r.Start.Column, r.Start.Byte),
		End:   posOf(r.End.Line, r.End.Column, r.End.Byte),
	}
}

// add records d; the diagnostic it returns may be completed.
func (p *problems) add(d Diagnostic) *Diagnostic {
	key := problemKey{code: d.Code, summary: d.Summary}
	if d.Subject != nil {
		key.place = *d.Subject
	}
	if old, ok := p.seen[key]; ok {
		spare := *old
		return &spare
	}
	if p.seen == nil {
		p.seen = map[problemKey]*Diagnostic{}
	}
	n := &d
	p.seen[key] = n
	p.list = append(p.list, n)
	if d.Severity == Error {
		p.errors++
	}
	return n
}

// error records an error at a range of the parser.
func (p *problems) error(code string, r hcl.Range, format string, args ...any) *Diagnostic {
	return p.put(Error, code, r, format, args...)
}

// warn records a warning at a range of the parser.
func (p *problems) warn(code string, r hcl.Range, format string, args ...any) *Diagnostic {
	return p.put(Warning, code, r, format, args...)
}

func (p *problems) put(s Severity, code string, r hcl.Range, format string, args ...any) *Diagnostic {
	d := Diagnostic{Severity: s, Code: code, Summary: fmt.Sprintf(format, args...)}
	if r.Filename != "" {
		place := at(r)
		d.Subject = &place
	}
	return p.add(d)
}

// all returns the diagnostics in the order in which they were found.
func (p *problems) all() Diagnostics {
	ds := make(Diagnostics, 0, len(p.list))
	for _, d := range p.list {
		ds = append(ds, *d)
	}
	return ds
}

// because sets the reason.
func (d *Diagnostic) because(format string, args ...any) *Diagnostic {
	d.Detail = fmt.Sprintf(format, args...)
	return d
}

// hint sets what to do next.
func (d *Diagnostic) hint(format string, args ...any) *Diagnostic {
	d.Hint = fmt.Sprintf(format, args...)
	return d
}

// also adds a second place.
func (d *Diagnostic) also(r hcl.Range, format string, args ...any) *Diagnostic {
	d.Related = append(d.Related, Related{Range: at(r), Message: fmt.Sprintf(format, args...)})
	return d
}

// meant adds "Did you mean" for a name at r, with the fix, when one of the candidates is close.
func (d *Diagnostic) meant(r hcl.Range, name string, candidates []string) *Diagnostic {
	s := Suggest(name, candidates)
	if s == "" {
		return d
	}
	d.Summary += fmt.Sprintf(" Did you mean %q?", s)
	return d.fixed(r, s)
}

// meantIn is meant for a text that e comes to. Where it is written out, the fix replaces what stands between the
// quotes; the text of any other expression is another one, and no fix is offered.
func (d *Diagnostic) meantIn(e hclsyntax.Expression, text string, candidates []string) *Diagnostic {
	if where, ok := quoted(e); ok {
		return d.meant(where, text, candidates)
	}
	d.Summary += didYouMean(text, candidates)
	return d
}

// fixed attaches the edit that replaces r by text.
func (d *Diagnostic) fixed(r hcl.Range, text string) *Diagnostic {
	title := fmt.Sprintf("Replace by %q", text)
	if strings.Contains(text, `"`) {
		title = "Replace by " + text // quotes of its own would only be in the way
	}
	d.Fix = &Fix{Title: title, Range: at(r), Text: text}
	return d
}

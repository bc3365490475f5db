package format

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/ufbuild/ufbuild/lang"
)

// maxNesting is the limit of the language; the parser recurses and Go's stack is not endless.
const maxNesting = 200

// parse returns the syntax tree, or the first thing that is wrong.
func parse(name string, src []byte) (*hcl.File, lang.Diagnostics) {
	if !utf8.Valid(src) || bytes.IndexByte(src, 0) >= 0 {
		r := lang.Range{File: name, Start: lang.Pos{Line: 1, Column: 1}, End: lang.Pos{Line: 1, Column: 1}}
		return nil, problem("UF1002", "This file is not UTF-8 text.", "", r)
	}
	tokens, _ := hclsyntax.LexConfig(src, name, hcl.InitialPos)
	if t, ok := tooDeep(tokens); ok {
		return nil, problem("UF1004", "Brackets are nested over 200 deep here.", "", rangeOf(t.Range))
	}
	file, ds := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	for _, d := range ds {
		if d.Severity != hcl.DiagError {
			continue
		}
		var r lang.Range
		if d.Subject != nil {
			r = rangeOf(*d.Subject)
		}
		code := "UF1000"
		if d.Summary == "Attribute redefined" {
			code = "UF1104"
		}
		// One missing quote makes seven errors, and the first is right.
		return nil, problem(code, strings.TrimSuffix(d.Summary, ".")+".", d.Detail, r)
	}
	return file, nil
}

// problem makes a list of one error.
func problem(code, summary, detail string, r lang.Range) lang.Diagnostics {
	return lang.Diagnostics{{Severity: lang.Error, Code: code, Summary: summary, Detail: detail, Subject: &r}}
}

// rangeOf converts a range of the parser.
func rangeOf(r hcl.Range) lang.Range {
	pos := func(p hcl.Pos) lang.Pos { return lang.Pos{Line: p.Line, Column: p.Column, Byte: p.Byte} }
	return lang.Range{File: r.Filename, Start: pos(r.Start), End: pos(r.End)}
}

// tooDeep returns the token that opens one bracket or template too many.
func tooDeep(tokens hclsyntax.Tokens) (hclsyntax.Token, bool) {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace, hclsyntax.TokenOQuote,
			hclsyntax.TokenOHeredoc, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
		case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace, hclsyntax.TokenCQuote,
			hclsyntax.TokenCHeredoc, hclsyntax.TokenTemplateSeqEnd:
			depth--
		}
		if depth > maxNesting {
			return t, true
		}
	}
	return hclsyntax.Token{}, false
}

// quoteLabels returns src with every label of every block in quotes.
func quoteLabels(src []byte, file *hcl.File) []byte {
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok {
		return src
	}
	var out []byte
	done := 0
	forEachLabel(body, func(r hcl.Range) {
		label := r.SliceBytes(src)
		if len(label) == 0 || label[0] == '"' {
			return
		}
		out = append(out, src[done:r.Start.Byte]...)
		out = append(append(append(out, '"'), label...), '"')
		done = r.End.Byte
	})
	return append(out, src[done:]...)
}

// forEachLabel calls f for all labels in the order of the text.
func forEachLabel(body *hclsyntax.Body, f func(hcl.Range)) {
	for _, b := range body.Blocks {
		for _, r := range b.LabelRanges {
			f(r)
		}
		forEachLabel(b.Body, f)
	}
}

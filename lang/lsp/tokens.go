package lsp

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// TokenTypes are the names of the types that [Session.Tokens] counts from 0.
var TokenTypes = []string{"keyword", "property", "variable", "function", "string", "number", "comment", "operator", "type"}

const (
	tokenKeyword = iota
	tokenProperty
	tokenVariable
	tokenFunction
	tokenString
	tokenNumber
	tokenComment
	tokenOperator
	tokenType
)

// Tokens colours a campaign file, or what is a template in a prompt.
func (s *Session) Tokens(file string) SemanticTokens {
	d := s.docs[file]
	if d == nil || strings.HasSuffix(file, ".json") {
		return nil
	}
	p := painter{d: d}
	if strings.HasSuffix(file, ".hcl") {
		tokens, _ := hclsyntax.LexConfig(d.text, "", hcl.InitialPos)
		p.paint(tokens, false)
	} else if s.spaceOf(file) != nil {
		tokens, _ := hclsyntax.LexTemplate(d.text, "", hcl.InitialPos)
		p.paint(tokens, true)
	}
	return p.out
}

// painter packs tokens as the protocol wants them: each relative to the one before.
type painter struct {
	d    *document
	last Position
	out  SemanticTokens
}

// emit colours a stretch; one over several lines becomes one a line.
func (p *painter) emit(start, end, kind int) {
	for start < end {
		stop := end
		if n := bytes.IndexByte(p.d.text[start:end], '\n'); n >= 0 {
			stop = start + n
		}
		from, to := p.d.position(start), p.d.position(stop)
		if length := to.Character - from.Character; length > 0 {
			column := from.Character
			if from.Line == p.last.Line {
				column -= p.last.Character
			}
			p.out = append(p.out, uint32(from.Line-p.last.Line), uint32(column), uint32(length), uint32(kind), 0)
			p.last = from
		}
		start = stop + 1
	}
}

func (p *painter) paint(tokens hclsyntax.Tokens, prompt bool) {
	depth := 0 // of ${ } and %{ }: text outside of them is plain in a prompt
	for i := range tokens {
		t := &tokens[i]
		start, end := t.Range.Start.Byte, t.Range.End.Byte
		switch t.Type {
		case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
			depth++
			p.emit(start, end, tokenOperator)
		case hclsyntax.TokenTemplateSeqEnd:
			depth--
			p.emit(start, end, tokenOperator)
		case hclsyntax.TokenComment:
			p.emit(start, end, tokenComment)
		case hclsyntax.TokenNumberLit:
			p.emit(start, end, tokenNumber)
		case hclsyntax.TokenOQuote, hclsyntax.TokenCQuote, hclsyntax.TokenQuotedLit, hclsyntax.TokenOHeredoc, hclsyntax.TokenCHeredoc:
			p.emit(start, end, tokenString)
		case hclsyntax.TokenStringLit:
			if !prompt || depth > 0 {
				p.emit(start, end, tokenString)
			}
		case hclsyntax.TokenIdent:
			p.emit(start, end, identKind(tokens, i, depth > 0 || prompt))
		}
	}
}

// templateWords are keywords inside expressions and templates.
var templateWords = map[string]bool{
	"for": true, "in": true, "if": true, "else": true, "endif": true, "endfor": true, "true": true, "false": true, "null": true,
}

// identKind tells block types, arguments, functions and names apart by what stands around them.
func identKind(tokens hclsyntax.Tokens, i int, expression bool) int {
	before, after := neighbour(tokens, i, -1), neighbour(tokens, i, 1)
	switch {
	case before == hclsyntax.TokenDot:
		return tokenProperty
	case after == hclsyntax.TokenOParen:
		return tokenFunction
	case templateWords[string(tokens[i].Bytes)]:
		return tokenKeyword
	case expression:
		return tokenVariable
	case after == hclsyntax.TokenEqual:
		return tokenProperty
	case (after == hclsyntax.TokenOBrace || after == hclsyntax.TokenOQuote) && (before == hclsyntax.TokenNewline || before == hclsyntax.TokenNil || before == hclsyntax.TokenOBrace):
		return tokenType
	}
	return tokenVariable
}

// neighbour is the type of the token beside another; TokenNil where there is none.
func neighbour(tokens hclsyntax.Tokens, i, step int) hclsyntax.TokenType {
	if i += step; i < 0 || i >= len(tokens) {
		return hclsyntax.TokenNil
	}
	if t := tokens[i]; t.Type == hclsyntax.TokenComment {
		return hclsyntax.TokenNewline
	}
	return tokens[i].Type
}

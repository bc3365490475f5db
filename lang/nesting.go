package lang

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

const (
	maxNesting = 200 // far over what a person reads; the parser recurses and Go's stack ends near 100,000

	// maxOperators bounds a chain such as 1+1+…, whose syntax tree is as deep as it is long.
	maxOperators = 2000

	// maxChunk is how many bytes that can nest may stand in one top-level block before the exact and
	// slower look is taken: below it no nesting can exhaust the stack.
	maxChunk = 20000
)

// tooDeep returns the first place where nesting is over the limit, and its depth; depth 0 means fine.
// Lexing costs half as much as parsing, so it is done only when a scan of the bytes finds cause.
func tooDeep(b []byte, name string) (hcl.Range, int) {
	if !suspicious(b) {
		return hcl.Range{}, 0
	}
	tokens, _ := hclsyntax.LexConfig(b, name, hcl.InitialPos)
	return deepestToken(tokens)
}

// nestedTooDeep says what is over its limit: depth is that of the first bracket, or operator of a chain, that is.
func nestedTooDeep(depth int) string {
	if depth > maxOperators {
		return fmt.Sprintf("These are %d operators in a row; the limit is %d.", depth, maxOperators)
	}
	return fmt.Sprintf("Brackets are nested %d deep here; the limit is %d.", depth, maxNesting)
}

// suspicious reports whether the bytes could nest deeper than the limit.
func suspicious(b []byte) bool {
	depth, chunk, total := 0, 0, 0
	if bytes.Count(b, []byte("%{")) > maxNesting {
		return true
	}
	for i, c := range b {
		switch c {
		case '(', '[', '{':
			depth++
			chunk++
			if depth > maxNesting {
				return true
			}
		case ')', ']':
			depth--
		case '}':
			depth--
			if i == 0 || b[i-1] == '\n' {
				depth, chunk = 0, 0
			}
		case '!', '-', '?', '+', '*', '/', '%', '&', '|', '<', '>', '=':
			chunk++
		default:
			continue
		}
		depth = max(depth, 0)
		if total++; chunk > maxOperators && chunk > maxChunk {
			return true
		}
	}
	return total > maxChunk && (bytes.Contains(b, []byte("<<")) || bytes.Contains(b, []byte("/*")))
}

// level is one open bracket while tokens are walked.
type level struct {
	operators int  // since the last separator
	lines     bool // a newline separates: in bodies and objects, not in lists, calls and templates
}

// deepestToken walks the tokens with a stack of brackets and counts operators between separators.
func deepestToken(tokens hclsyntax.Tokens) (hcl.Range, int) {
	levels := make([]level, 1, maxNesting+2)
	levels[0].lines = true
	directives := 0
	for i, t := range tokens {
		if t.Type == hclsyntax.TokenTemplateControl && i+1 < len(tokens) {
			directives += directiveStep(string(tokens[i+1].Bytes))
			if directives > maxNesting {
				return t.Range, directives
			}
		}
		top := &levels[len(levels)-1]
		switch {
		case opensLevel[t.Type]:
			levels = append(levels, level{lines: t.Type == hclsyntax.TokenOBrace})
		case closesLevel[t.Type]:
			if len(levels) > 1 {
				levels = levels[:len(levels)-1]
			}
		case t.Type == hclsyntax.TokenComma, t.Type == hclsyntax.TokenNewline && top.lines:
			top.operators = 0
		case deepensTree[t.Type]:
			top.operators++
		}
		if depth := len(levels) - 1; depth > maxNesting {
			return t.Range, depth
		}
		if n := levels[len(levels)-1].operators; n > maxOperators {
			return t.Range, n
		}
	}
	return hcl.Range{}, 0
}

// directiveStep says what %{ WORD does to the nesting of directives.
func directiveStep(word string) int {
	switch word {
	case "if", "for":
		return 1
	case "endif", "endfor":
		return -1
	}
	return 0
}

var (
	opensLevel = tokenSet(hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace,
		hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc)
	closesLevel = tokenSet(hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace,
		hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc)

	// deepensTree are the tokens that add a level to the syntax tree without a bracket. Dots do not:
	// a traversal is flat.
	deepensTree = tokenSet(hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar,
		hclsyntax.TokenSlash, hclsyntax.TokenPercent, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenQuestion,
		hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenGreaterThan,
		hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThanEq)
)

func tokenSet(types ...hclsyntax.TokenType) map[hclsyntax.TokenType]bool {
	m := map[hclsyntax.TokenType]bool{}
	for _, t := range types {
		m[t] = true
	}
	return m
}

// templateTooDeep is tooDeep for the text of a template.
func templateTooDeep(b []byte, name string, start hcl.Pos) (hcl.Range, int) {
	if !bytes.Contains(b, []byte("${")) && !bytes.Contains(b, []byte("%{")) || !suspicious(b) {
		return hcl.Range{}, 0
	}
	tokens, _ := hclsyntax.LexTemplate(b, name, start)
	return deepestToken(tokens)
}

// longHeredoc returns where a text over several lines begins that is longer than a prompt file may be; false without one. The
// parser takes time quadratic in the lines of one.
func longHeredoc(b []byte, name string) (hcl.Range, bool) {
	if len(b) <= maxPromptFile || !mayHaveLongHeredoc(b) {
		return hcl.Range{}, false
	}
	var open []hcl.Range
	tokens, _ := hclsyntax.LexConfig(b, name, hcl.InitialPos)
	for _, t := range tokens {
		switch {
		case t.Type == hclsyntax.TokenOHeredoc:
			open = append(open, t.Range)
		case len(open) > 0 && t.Range.End.Byte-open[0].End.Byte > maxPromptFile:
			at := open[0]
			at.End = at.Start // the token ends with its line
			at.End.Byte, at.End.Column = at.End.Byte+len("<<"), at.End.Column+len("<<")
			return at, true
		case t.Type == hclsyntax.TokenCHeredoc && len(open) > 0:
			open = open[:len(open)-1]
		}
	}
	return hcl.Range{}, false
}

// mayHaveLongHeredoc looks at lines alone: one in a comment counts too.
func mayHaveLongHeredoc(b []byte) bool {
	marker, began := []byte(nil), 0
	for at := 0; at < len(b); {
		end := len(b)
		if n := bytes.IndexByte(b[at:], '\n'); n >= 0 {
			end = at + n + 1
		}
		switch line := b[at:end]; {
		case marker == nil:
			if marker = heredocMarker(line); marker != nil {
				began = end
			}
		case end-began > maxPromptFile:
			return true
		case bytes.Equal(bytes.TrimSpace(line), marker):
			marker = nil
		}
		at = end
	}
	return false
}

package lang

import (
	"bytes"

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

// suspicious reports whether the bytes could nest deeper than the limit.
func suspicious(b []byte) bool {
	depth, chunk, total := 0, 0, 0
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

// deepestToken walks the tokens with a stack of brackets and counts operators between separators.
func deepestToken(tokens hclsyntax.Tokens) (hcl.Range, int) {
	operators := make([]int, 1, maxNesting+2)
	for _, t := range tokens {
		switch t.Type {
		case hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOBrace,
			hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
			operators = append(operators, 0)
		case hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCBrace,
			hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
			if len(operators) > 1 {
				operators = operators[:len(operators)-1]
			}
		case hclsyntax.TokenComma:
			operators[len(operators)-1] = 0
		case hclsyntax.TokenNewline:
			if len(operators) == 1 {
				operators[0] = 0
			}
		case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash,
			hclsyntax.TokenPercent, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenQuestion,
			hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenGreaterThan,
			hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThanEq:
			operators[len(operators)-1]++
		}
		depth := len(operators) - 1
		if depth > maxNesting {
			return t.Range, depth
		}
		if operators[depth] > maxOperators {
			return t.Range, operators[depth]
		}
	}
	return hcl.Range{}, 0
}

// templateTooDeep is tooDeep for the text of a template.
func templateTooDeep(b []byte, name string, start hcl.Pos) (hcl.Range, int) {
	if !bytes.Contains(b, []byte("${")) && !bytes.Contains(b, []byte("%{")) || !suspicious(b) {
		return hcl.Range{}, 0
	}
	tokens, _ := hclsyntax.LexTemplate(b, name, start)
	return deepestToken(tokens)
}

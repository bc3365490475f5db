package lsp

import (
	"bytes"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// frameKind is a pair of brackets, or what else has to be closed.
type frameKind int

const (
	inBody      frameKind = iota // a block, or the file
	inObject                     // { … } of a value
	inList                       // [ … ]
	inParen                      // ( … )
	inInterp                     // ${ … }
	inControl                    // %{ … }
	inQuote                      // " … "
	inHeredoc                    // <<END … END
	inDirective                  // between %{ if … } and %{ endif }
)

// frame is one thing that is open at the cursor.
type frame struct {
	kind  frameKind
	start int // offset behind its opening token

	block, label string   // of a block
	set          []string // arguments of a block that were set before
	arg          string   // of a block: the argument whose value is open
	value        int      // offset of that value

	word      string // the first word in it, such as "for" or "if"
	colon     bool   // a for expression has its colon
	arrow     bool   // and its =>
	questions int    // conditions without their colon
	call      string // of parentheses: the function before them; "" for none
	commas    int    // what ends a part of it so far
	marker    string // of a heredoc
	first     bool   // nothing was read in it yet
}

// context is what the text before a cursor says about the cursor.
type context struct {
	frames []frame  // from the file inward
	line   []string // what stands on the line of a body, before the word at the cursor
	start  int      // where the text that was looked at begins
	prefix []byte   // that text up to the cursor
	prompt bool
}

// top is the innermost frame.
func (c *context) top() *frame { return &c.frames[len(c.frames)-1] }

// body is the innermost block, or the file.
func (c *context) body() *frame {
	for i := len(c.frames) - 1; i > 0; i-- {
		if c.frames[i].kind == inBody {
			return &c.frames[i]
		}
	}
	return &c.frames[0]
}

// path lists the types of the blocks around, from the outermost.
func (c *context) path() []string {
	var types []string
	for i := range c.frames[1:] {
		if f := &c.frames[i+1]; f.kind == inBody {
			types = append(types, f.block)
		}
	}
	return types
}

// owner is the name of the top-level block when it is of a type; else "".
func (c *context) owner(kind string) string {
	if len(c.frames) > 1 && c.frames[1].kind == inBody && c.frames[1].block == kind {
		return c.frames[1].label
	}
	return ""
}

// contextAt reads the text before an offset. It never fails: what it cannot understand, it leaves out.
func contextAt(text []byte, offset int, prompt bool) *context {
	c := &context{prompt: prompt, frames: []frame{{kind: inBody, first: true}}}
	if !prompt {
		c.start = blockStart(text, offset)
	}
	c.prefix = text[c.start:offset]
	lex := hclsyntax.LexConfig
	if prompt {
		lex = hclsyntax.LexTemplate
	}
	tokens, _ := lex(c.prefix, "", hcl.InitialPos)
	for i := range tokens {
		c.take(&tokens[i])
	}
	if n := len(c.line); n > 0 && offset > c.start && nameByte(text[offset-1]) {
		c.line = c.line[:n-1] // the word that is being written
	}
	return c
}

// blockStart is where the top-level block around an offset starts: the last line that starts with a letter
// and opens a block.
func blockStart(text []byte, offset int) int {
	for end := offset; ; {
		start := bytes.LastIndexByte(text[:end], '\n') + 1
		if line := text[start:offset]; len(line) > 0 && isLetter(line[0]) {
			if whole, _, _ := bytes.Cut(text[start:], []byte("\n")); bytes.HasSuffix(bytes.TrimSpace(whole), []byte("{")) {
				return start
			}
		}
		if start == 0 {
			return 0
		}
		end = start - 1
	}
}

func isLetter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

func (c *context) push(f frame) {
	f.first = true
	c.frames = append(c.frames, f)
}

// pop closes frames up to the innermost of a kind; nothing when there is none.
func (c *context) pop(kinds ...frameKind) (frame, bool) {
	for i := len(c.frames) - 1; i > 0; i-- {
		for _, k := range kinds {
			if c.frames[i].kind == k {
				f := c.frames[i]
				c.frames = c.frames[:i]
				return f, true
			}
		}
	}
	return frame{}, false
}

// take reads one token.
func (c *context) take(t *hclsyntax.Token) {
	top, end := c.top(), t.Range.End.Byte
	switch t.Type {
	case hclsyntax.TokenOQuote:
		c.inLine(t)
		c.push(frame{kind: inQuote, start: end})
	case hclsyntax.TokenCQuote:
		c.pop(inQuote)
	case hclsyntax.TokenOHeredoc:
		c.push(frame{kind: inHeredoc, start: end, marker: strings.Trim(string(bytes.TrimSpace(t.Bytes)), "<-")})
	case hclsyntax.TokenCHeredoc:
		c.pop(inHeredoc)
	case hclsyntax.TokenTemplateInterp:
		c.push(frame{kind: inInterp, start: end})
	case hclsyntax.TokenTemplateControl:
		c.push(frame{kind: inControl, start: end})
	case hclsyntax.TokenTemplateSeqEnd:
		c.endSequence()
	case hclsyntax.TokenOBrack:
		c.push(frame{kind: inList, start: end})
	case hclsyntax.TokenOParen:
		c.push(frame{kind: inParen, start: end, call: c.wordBefore(t.Range.Start.Byte)})
	case hclsyntax.TokenOBrace:
		c.openBrace(end)
	case hclsyntax.TokenCBrack:
		c.pop(inList)
	case hclsyntax.TokenCParen:
		c.pop(inParen)
	case hclsyntax.TokenCBrace:
		if f, ok := c.pop(inObject, inBody); ok && f.kind == inBody {
			c.line = nil
		}
	case hclsyntax.TokenNewline:
		if top.kind == inBody {
			c.line, top.arg = nil, ""
		}
	case hclsyntax.TokenComment, hclsyntax.TokenEOF:
		if top.kind == inBody && bytes.HasSuffix(t.Bytes, []byte("\n")) {
			c.line, top.arg = nil, ""
		}
	default:
		c.takeWord(t)
	}
}

// wordBefore is the name that ends at an offset of the prefix; "" for none.
func (c *context) wordBefore(end int) string {
	start := end
	for start > 0 && nameByte(c.prefix[start-1]) {
		start--
	}
	return string(c.prefix[start:end])
}

// takeWord reads a token that opens and closes nothing.
func (c *context) takeWord(t *hclsyntax.Token) {
	top := c.top()
	switch t.Type {
	case hclsyntax.TokenEqual:
		if top.kind == inBody && len(c.line) == 1 {
			top.arg, top.value = c.line[0], t.Range.End.Byte
			top.set = append(top.set, top.arg)
		}
	case hclsyntax.TokenQuestion:
		top.questions++
	case hclsyntax.TokenColon:
		if top.questions > 0 {
			top.questions--
		} else {
			top.colon = true
		}
	case hclsyntax.TokenComma:
		top.commas++
	case hclsyntax.TokenFatArrow:
		top.arrow = true
	case hclsyntax.TokenIdent:
		if top.first {
			top.word = string(t.Bytes)
		}
	}
	top.first = false
	c.inLine(t)
}

// inLine notes what stands on a line of a block.
func (c *context) inLine(t *hclsyntax.Token) {
	switch top := c.top(); {
	case top.kind == inBody:
		c.line = append(c.line, string(t.Bytes))
	case top.kind == inQuote && len(c.frames) > 1 && c.frames[len(c.frames)-2].kind == inBody && t.Type == hclsyntax.TokenQuotedLit:
		c.line = append(c.line, string(t.Bytes))
	}
}

// openBrace tells blocks from objects.
func (c *context) openBrace(end int) {
	top := c.top()
	if c.prompt || top.kind != inBody || top.arg != "" || len(c.line) == 0 {
		c.push(frame{kind: inObject, start: end})
		return
	}
	f := frame{kind: inBody, start: end, block: c.line[0]}
	for _, w := range c.line[1:] {
		if w != `"` {
			f.label = w
			break
		}
	}
	c.line = nil
	c.push(f)
}

// endSequence closes ${ or %{; a directive stays open until its end.
func (c *context) endSequence() {
	f, ok := c.pop(inInterp, inControl)
	if !ok || f.kind != inControl {
		return
	}
	switch f.word {
	case "if", "for":
		c.push(frame{kind: inDirective, word: f.word})
	case "endif", "endfor":
		c.pop(inDirective)
	}
}

// closed is the value at the cursor as a whole expression (or the prompt as a whole template): what is open
// is closed, and where nothing is written yet stands a name. at is the cursor in it.
func (c *context) closed() (text []byte, at int, ok bool) {
	from := 0
	if !c.prompt {
		b := c.body()
		if b.arg == "" {
			return nil, 0, false
		}
		from = b.value
	}
	text = append(text, c.prefix[from:]...)
	at = len(text)
	if at == 0 || !nameByte(text[at-1]) {
		text = append(text, 'x')
	}
	for i := len(c.frames) - 1; i >= 0; i-- {
		f := &c.frames[i]
		text = append(text, strings.Repeat(" : null", f.questions)...)
		if f.kind == inBody {
			break
		}
		text = append(text, f.closer()...)
	}
	return text, at, true
}

// closer is what ends a frame.
func (f *frame) closer() string {
	switch f.kind {
	case inObject:
		switch {
		case f.word == "for" && !f.colon:
			return " : null => null}"
		case f.word == "for" && !f.arrow:
			return " => null}"
		}
		return "}"
	case inList:
		if f.word == "for" && !f.colon {
			return " : null]"
		}
		return "]"
	case inParen:
		return ")"
	case inInterp:
		return "}"
	case inControl:
		if f.word == "if" || f.word == "for" {
			return "}%{end" + f.word + "}"
		}
		return "}"
	case inQuote:
		return `"`
	case inHeredoc:
		return "\n" + f.marker + "\n"
	case inDirective:
		return "%{end" + f.word + "}"
	}
	return ""
}

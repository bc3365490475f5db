package query

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/ufbuild/ufbuild/lang"
)

// expr is a parsed expression: targetExpr, callExpr or setExpr.
type expr any

type targetExpr string

type callExpr struct {
	name string
	args []expr
}

type setExpr struct {
	op          byte // '+', '&' or '-'
	left, right expr
}

// arity is how many arguments each function takes.
var arity = map[string]int{"deps": 1, "rdeps": 1, "cone": 1, "path": 2, "producer": 1, "consumers": 1}

// Functions are the names of the functions, for completion.
func Functions() []string { return []string{"cone", "consumers", "deps", "path", "producer", "rdeps"} }

// maxDepth bounds nesting, since the parser calls itself.
const maxDepth = 100

// maxQuery bounds the text; a query is typed by a person.
const maxQuery = 64 << 10

func queryError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errQuery, fmt.Sprintf(format, args...))
}

// parse reads a whole expression.
func parse(text string) (expr, error) {
	if len(text) > maxQuery {
		return nil, queryError("it has %d bytes; the limit is %d", len(text), maxQuery)
	}
	p := &parser{rest: text}
	e, err := p.set(0)
	if err != nil {
		return nil, err
	}
	if p.skipBlanks(); p.rest != "" {
		return nil, queryError("%q is left over after the expression", p.rest)
	}
	return e, nil
}

type parser struct{ rest string }

func (p *parser) skipBlanks() { p.rest = strings.TrimLeftFunc(p.rest, unicode.IsSpace) }

// accept takes a character off the text if it is the next one.
func (p *parser) accept(c byte) bool {
	p.skipBlanks()
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// set reads terms joined by operators, from left to right.
func (p *parser) set(depth int) (expr, error) {
	if depth > maxDepth {
		return nil, queryError("it is nested more than %d deep", maxDepth)
	}
	left, err := p.term(depth)
	for err == nil {
		p.skipBlanks()
		if p.rest == "" || !strings.ContainsRune("+&-", rune(p.rest[0])) {
			return left, nil
		}
		op := p.rest[0]
		p.rest = p.rest[1:]
		var right expr
		if right, err = p.term(depth); err == nil {
			left = setExpr{op, left, right}
		}
	}
	return nil, err
}

// term reads a target, a call or a parenthesis.
func (p *parser) term(depth int) (expr, error) {
	if p.accept('(') {
		e, err := p.set(depth + 1)
		if err == nil && !p.accept(')') {
			err = queryError("a closing parenthesis is missing")
		}
		return e, err
	}
	if p.accept('"') {
		text, rest, closed := strings.Cut(p.rest, `"`)
		if !closed {
			return nil, queryError("a closing quote is missing")
		}
		p.rest = rest
		return targetExpr(text), nil
	}
	word := p.word()
	if word == "" {
		return nil, queryError("a target or a function is missing%s", before(p.rest))
	}
	if p.accept('(') {
		return p.call(word, depth)
	}
	return targetExpr(word), nil
}

func before(rest string) string {
	if rest == "" {
		return " at the end"
	}
	return fmt.Sprintf(" before %q", rest)
}

// word reads up to a blank or a character of the grammar. An index such as task.x["a b"] belongs to
// the word, quotes included.
func (p *parser) word() string {
	p.skipBlanks()
	inIndex := false
	for i, r := range p.rest {
		switch {
		case r == '[':
			inIndex = true
		case r == ']':
			inIndex = false
		case !inIndex && (unicode.IsSpace(r) || strings.ContainsRune(`(),"&+`, r)):
			word := p.rest[:i]
			p.rest = p.rest[i:]
			return word
		}
	}
	word := p.rest
	p.rest = ""
	return word
}

// call reads the arguments of a function; the opening parenthesis is gone.
func (p *parser) call(name string, depth int) (expr, error) {
	want, known := arity[name]
	if !known {
		if meant := lang.Suggest(name, Functions()); meant != "" {
			return nil, queryError("there is no function %q; did you mean %q?", name, meant)
		}
		return nil, queryError("there is no function %q; there are %s", name, strings.Join(Functions(), ", "))
	}
	c := callExpr{name: name}
	for !p.accept(')') {
		if len(c.args) > 0 && !p.accept(',') {
			return nil, queryError("%s( is not closed", name)
		}
		arg, err := p.set(depth + 1)
		if err != nil {
			return nil, err
		}
		c.args = append(c.args, arg)
	}
	if len(c.args) != want {
		return nil, queryError("%s takes %d argument(s), got %d", name, want, len(c.args))
	}
	return c, nil
}

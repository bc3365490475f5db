// Package jsonline spells lines of JSON as encoding/json does, in a tenth of its time: whoever calls it says what a value is made of,
// and nothing has to be found out. A build writes several lines for each task.
//
// A [Line] is filled from its first brace to its last. It is for values whose fields are known and mostly plain; what is not (a text with
// escapes or of another alphabet) goes through encoding/json, alone. Whoever uses it has a test that holds it to encoding/json.
package jsonline

import (
	"bytes"
	"encoding"
	"encoding/json"
	"math"
	"strconv"
	"unicode/utf8"
)

// Line is one JSON value under way. The zero value spells like [json.Encoder] with SetEscapeHTML(false). Names are written as they are
// given, so they must be plain.
type Line struct {
	EscapeHTML bool // what json.Marshal does
	b          []byte
	from       int // where it begins in b
	bad        bool
}

// Behind returns a Line that is appended to b.
func Behind(b []byte) Line { return Line{b: b, from: len(b)} }

// Bytes returns the line, behind what it is appended to, and false when something in it has no spelling or a rare one: then it means nothing, and encoding/json is to
// be asked.
func (l *Line) Bytes() ([]byte, bool) { return l.b, !l.bad }

// Open begins an object: of a field, of an element of an array when name is "", or the first.
func (l *Line) Open(name string) { l.begin(name, '{') }

// Close ends an object.
func (l *Line) Close() { l.b = append(l.b, '}') }

// OpenArray begins an array.
func (l *Line) OpenArray(name string) { l.begin(name, '[') }

// CloseArray ends an array.
func (l *Line) CloseArray() { l.b = append(l.b, ']') }

func (l *Line) begin(name string, brace byte) {
	l.name(name)
	l.b = append(l.b, brace)
}

// name separates a value from the one before it, and names it unless it is an element.
func (l *Line) name(name string) {
	if n := len(l.b); n > l.from && l.b[n-1] != '{' && l.b[n-1] != '[' && l.b[n-1] != ':' {
		l.b = append(l.b, ',')
	}
	if name != "" {
		l.b = append(append(append(l.b, '"'), name...), '"', ':')
	}
}

// Key writes a name that need not be plain. The value that it names comes next, and has no name itself.
func (l *Line) Key(name string) {
	l.name("")
	l.quote(name)
	l.b = append(l.b, ':')
}

// String writes a text.
func (l *Line) String(name, s string) {
	l.name(name)
	l.quote(s)
}

// StringIf writes a text that is not empty, like omitempty.
func (l *Line) StringIf(name, s string) {
	if s != "" {
		l.String(name, s)
	}
}

// StringsIf writes a list of texts that has any.
func (l *Line) StringsIf(name string, list []string) {
	if len(list) == 0 {
		return
	}
	l.OpenArray(name)
	for _, s := range list {
		l.String("", s)
	}
	l.CloseArray()
}

// Int writes a number.
func (l *Line) Int(name string, n int64) {
	l.name(name)
	l.b = strconv.AppendInt(l.b, n, 10)
}

// IntIf writes a number that is not 0.
func (l *Line) IntIf(name string, n int64) {
	if n != 0 {
		l.Int(name, n)
	}
}

// UintIf writes a number that is not 0.
func (l *Line) UintIf(name string, n uint64) {
	if n != 0 {
		l.name(name)
		l.b = strconv.AppendUint(l.b, n, 10)
	}
}

// Float writes a number; one that is written with an exponent is rare.
func (l *Line) Float(name string, f float64) {
	l.name(name)
	abs := math.Abs(f)
	l.bad = l.bad || math.IsNaN(f) || abs >= 1e21 || abs < 1e-6 && abs != 0
	l.b = strconv.AppendFloat(l.b, f, 'f', -1, 64)
}

// TrueIf writes what is true.
func (l *Line) TrueIf(name string, set bool) {
	if set {
		l.name(name)
		l.b = append(l.b, "true"...)
	}
}

// Null writes null when there is nothing.
func (l *Line) Null(name string, nothing bool) {
	if nothing {
		l.name(name)
		l.b = append(l.b, "null"...)
	}
}

// Text writes a value by its text, which must be plain: a digest, a time.
func Text[T encoding.TextAppender](l *Line, name string, v T) {
	l.name(name)
	l.b = append(l.b, '"')
	b, err := v.AppendText(l.b)
	l.bad = l.bad || err != nil
	l.b = append(b, '"')
}

// TextIf is Text of a value that is not zero.
func TextIf[T interface {
	encoding.TextAppender
	IsZero() bool
}](l *Line, name string, v T) {
	if !v.IsZero() {
		Text(l, name, v)
	}
}

// quote writes a text in quotes.
func (l *Line) quote(s string) {
	if !plain(s, l.EscapeHTML) {
		l.quoteOdd(s)
		return
	}
	l.b = append(append(append(l.b, '"'), s...), '"')
}

func plain(s string, html bool) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c < ' ', c == '"', c == '\\', c >= utf8.RuneSelf:
			return false
		case html && (c == '<' || c == '>' || c == '&'):
			return false
		}
	}
	return true
}

func (l *Line) quoteOdd(s string) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(l.EscapeHTML)
	if e.Encode(s) != nil {
		panic("BUG: a text has no JSON")
	}
	l.b = append(l.b, bytes.TrimSuffix(b.Bytes(), []byte("\n"))...)
}

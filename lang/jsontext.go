package lang

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// byteOrderMark is what editors of some systems put before the text of a file.
var byteOrderMark = []byte("\ufeff")

// MaxJSONDepth is how deep arrays and objects of a JSON document may be nested, in outputs and in schemas. Validation recurses on depth
// times the depth of the schema's references, and no honest finding comes near.
const MaxJSONDepth = 500

// TextFault finds what keeps a text from being read as JSON before its syntax is looked at: the byte at which it is, and what it is in
// words; "" for nothing. It is one for outputs and for the schemas that judge them, so that a schema that passes a check can be used.
func TextFault(b []byte) (at int, what string) {
	if len(bytes.TrimSpace(b)) == 0 {
		return 0, "got nothing, want a JSON value"
	}
	if bytes.HasPrefix(b, byteOrderMark) {
		return 0, "starts with a byte order mark, want plain UTF-8"
	}
	if !utf8.Valid(b) {
		at := invalidByte(b)
		return at, fmt.Sprintf("not UTF-8 (byte 0x%02x)", b[at])
	}
	if at := beyondDepth(b); at >= 0 {
		return at, fmt.Sprintf("nested deeper than %d", MaxJSONDepth)
	}
	return 0, ""
}

// beyondDepth returns the offset of the first bracket beyond MaxJSONDepth, or -1. It runs before any recursive parser sees the text.
func beyondDepth(b []byte) int {
	depth, inString, escaped := 0, false, false
	for i, c := range b {
		switch {
		case escaped:
			escaped = false
		case inString:
			escaped, inString = c == '\\', c != '"'
		case c == '"':
			inString = true
		case c == '[' || c == '{':
			if depth++; depth > MaxJSONDepth {
				return i
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return -1
}

// textFaultError is what [TextFault] found.
type textFaultError struct {
	at   int
	what string
}

func (e *textFaultError) Error() string { return e.what }

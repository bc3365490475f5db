package event

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain makes one line of what a task printed or named harmless for a terminal: escape sequences are left out,
// what a carriage return overwrote is gone, and so are blanks at the end and control characters other than tabs.
// Bytes that are no UTF-8 become U+FFFD.
func Plain(s string) string {
	if isPlain(s) {
		return s // as it mostly is
	}
	if i := strings.LastIndexByte(strings.TrimRight(s, "\r"), '\r'); i >= 0 {
		s = s[i+1:]
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += EscapeLen(s[i:])
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\t':
			b.WriteRune(r)
		case r == utf8.RuneError && n == 1:
			b.WriteRune('�')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r): // also marks that turn the direction of text
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimRightFunc(b.String(), unicode.IsSpace)
}

// isPlain reports whether a text has nothing but letters of ASCII, and blanks before them.
func isPlain(s string) bool {
	for i := range len(s) {
		if (s[i] < ' ' || s[i] > '~') && s[i] != '\t' {
			return false
		}
	}
	return s == "" || s[len(s)-1] > ' '
}

// PlainText is [Plain] for each line of a text. The ends of lines stay.
func PlainText(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Plain(line)
	}
	return strings.Join(lines, "\n")
}

// EscapeLen is the length of the escape sequence that s begins with, in bytes; s begins with ESC.
func EscapeLen(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	if ' ' <= s[1] && s[1] <= '/' { // nF: it chooses a set of characters, as tput sgr0 does; ends with a byte from 0 to ~
		n := 1 + len(s[1:]) - len(strings.TrimLeft(s[1:], " !\"#$%&'()*+,-./"))
		if n < len(s) && '0' <= s[n] && s[n] <= '~' {
			n++
		}
		return n
	}
	switch s[1] {
	case '[': // CSI: ends with a byte from @ to ~
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
		}
		return len(s)
	case 'O': // a function key of some terminals
		return min(3, len(s))
	case ']', 'P', '_', '^', 'X': // strings: end with BEL or ESC \
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b && i+1 < len(s) && s[i+1] == '\\' {
				return i + 2
			}
		}
		return len(s)
	}
	return 2
}

// Visible makes a text harmless for a terminal and leaves nothing out: control characters other than tabs and ends
// of lines are shown as ^X, invisible marks such as those that turn the direction of text by their number.
func Visible(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\t', r == '\n':
			b.WriteRune(r)
		case r < 0x20 || r == 0x7f:
			b.WriteString("^" + string(r^0x40))
		case r == utf8.RuneError && n == 1:
			b.WriteRune('�')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

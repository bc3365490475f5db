package live

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// plain makes a line of a task's output harmless: escape sequences are left out, what a carriage return
// overwrote is gone, tabs are blanks, other control characters vanish.
func plain(s string) string {
	if i := strings.LastIndexByte(strings.TrimRight(s, "\r"), '\r'); i >= 0 {
		s = s[i+1:]
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] == 0x1b {
			i += escape(s[i:])
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\t':
			b.WriteByte(' ')
		case r == utf8.RuneError && n == 1:
			b.WriteRune('�')
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r): // also marks that turn the direction of text
		default:
			b.WriteRune(r)
		}
	}
	return strings.TrimSpace(b.String())
}

// escape is the length of the escape sequence that s begins with.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
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

// columns is how many cells of a terminal a text takes. It holds no control characters.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += cells(r)
	}
	return n
}

func cells(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// cut shortens a text to some columns; what is left out is marked by "…".
func cut(s string, w int) string {
	if columns(s) <= w {
		return s
	}
	if w <= 0 {
		return ""
	}
	n := 0
	for i, r := range s {
		if n += cells(r); n > w-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// fill makes a text exactly so wide.
func fill(s string, w int) string {
	s = cut(s, w)
	return s + strings.Repeat(" ", max(w-columns(s), 0))
}

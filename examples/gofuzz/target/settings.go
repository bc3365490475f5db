// Package settings reads and writes lists of settings on one line:
//
//	name=value;other="a quoted value with %22 escapes"
//
// It is the target of the fuzzing campaign around it, and has a flaw for the fuzzer to find.
package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// Setting is a name with a value.
type Setting struct{ Name, Value string }

// Parse reads a list of settings.
func Parse(line string) ([]Setting, error) {
	var out []Setting
	for line != "" {
		name, rest, ok := strings.Cut(line, "=")
		if !ok || !plain(name) || name == "" {
			return nil, fmt.Errorf("parse settings: want name=value at %q", line)
		}
		value, rest, err := parseValue(rest)
		if err != nil {
			return nil, fmt.Errorf("parse setting %s: %w", name, err)
		}
		out = append(out, Setting{name, value})
		if rest != "" && !strings.HasPrefix(rest, ";") {
			return nil, fmt.Errorf("parse settings: want ; at %q", rest)
		}
		line = strings.TrimPrefix(rest, ";")
	}
	return out, nil
}

// parseValue reads a bare or quoted value and returns what follows it.
func parseValue(s string) (value, rest string, err error) {
	if !strings.HasPrefix(s, `"`) {
		end := strings.IndexByte(s, ';')
		if end < 0 {
			end = len(s)
		}
		if !plain(s[:end]) {
			return "", "", fmt.Errorf("value %q needs quotes", s[:end])
		}
		return s[:end], s[end:], nil
	}
	inner, rest, ok := strings.Cut(s[1:], `"`)
	if !ok {
		return "", "", fmt.Errorf("missing closing quote")
	}
	value, err = unescape(inner)
	return value, rest, err
}

// unescape replaces %XX by the byte it names.
func unescape(s string) (string, error) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+1 >= len(s) {
			return "", fmt.Errorf("escape at the end")
		}
		n, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
		if err != nil {
			return "", fmt.Errorf("bad escape %q", s[i:i+3])
		}
		b.WriteByte(byte(n))
		i += 2
	}
	return b.String(), nil
}

// Format writes a list of settings so that Parse reads it back.
func Format(list []Setting) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteByte(';')
		}
		b.WriteString(s.Name + "=")
		if plain(s.Value) {
			b.WriteString(s.Value)
			continue
		}
		b.WriteByte('"')
		for j := range len(s.Value) {
			if c := s.Value[j]; c == '"' || c == '%' || c < ' ' {
				fmt.Fprintf(&b, "%%%02x", c)
			} else {
				b.WriteByte(c)
			}
		}
		b.WriteByte('"')
	}
	return b.String()
}

// plain reports whether s needs no quotes.
func plain(s string) bool {
	return strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") == ""
}

package lang

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxNameLen = 63  // fits a DNS label and leaves room for suffixes in a file name
	maxKeyLen  = 120 // bytes; half of the 255 most file systems allow, so "key@matrix#loop" is one name
)

// reservedNames have a meaning of their own where a task, group, output or variable could stand.
var reservedNames = map[string]string{
	"all":    "X.all lists every instance",
	"self":   "self is the task itself",
	"item":   "item is the element of an expand block",
	"each":   "each is the element of for_each",
	"matrix": "matrix is the cell of the matrix",
	"loop":   "loop is the loop index",
}

// Reserved reports whether s is a word that no declaration may use as its name.
func Reserved(s string) bool { return reservedNames[s] != "" }

// ValidName returns an error when s cannot name a declaration of the given kind ("task", "group").
// The message is one sentence without a full stop.
func ValidName(kind, s string) error {
	if why, ok := reservedNames[s]; ok {
		return fmt.Errorf("%q is reserved: %s", s, why)
	}
	if !nameShaped(s) {
		return fmt.Errorf("%q is not a valid %s name: use a lower-case letter, then at most %d letters, digits, \"-\" and \"_\"",
			s, kind, maxNameLen-1)
	}
	return nil
}

// nameShaped reports whether s matches [a-z][a-z0-9_-]{0,62}.
func nameShaped(s string) bool {
	if s == "" || len(s) > maxNameLen || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for i := 1; i < len(s); i++ {
		c := s[i]
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
			return false
		}
	}
	return true
}

// ValidKey returns an error when k cannot be the key of an instance or a value of a matrix cell.
// Keys become directory names and shell words: letters and digits of any script, and "._-+".
// The message is one sentence without a full stop.
func ValidKey(k string) error {
	switch {
	case k == "":
		return fmt.Errorf("a key must not be empty")
	case k == "." || k == "..":
		return fmt.Errorf("%q cannot be a key: it would name a directory above", k)
	case len(k) > maxKeyLen:
		return fmt.Errorf("the key %q… has %d bytes; the limit is %d", clip(k, 40), len(k), maxKeyLen)
	case !utf8.ValidString(k):
		return fmt.Errorf("the key %q is not UTF-8", k)
	}
	for _, r := range k {
		if !keyRune(r) {
			return fmt.Errorf("the key %q holds %q: use letters, digits and \".\", \"_\", \"-\", \"+\"", k, r)
		}
	}
	if !norm.NFC.IsNormalString(k) {
		return fmt.Errorf("the key %q is not in the normal form NFC", k)
	}
	return nil
}

// keyRune reports whether r may be in a key.
func keyRune(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("._-+", r)
}

// clip returns at most n bytes of s, never splitting a character.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

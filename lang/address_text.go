package lang

import (
	"fmt"
	"strconv"
	"strings"
)

// maxLoopDigits bounds a printed loop index; loops end at 1000, so the rest is room.
const maxLoopDigits = 6

// String prints the address as NAME[/key][@matrix][#loop]; the loop only if Looped.
func (a Address) String() string {
	if a.Key == "" && a.Matrix == "" && !a.Looped {
		return a.Task
	}
	var b strings.Builder
	b.WriteString(a.Task)
	if a.Key != "" {
		b.WriteByte('/')
		b.WriteString(a.Key)
	}
	if a.Matrix != "" {
		b.WriteByte('@')
		b.WriteString(a.Matrix)
	}
	if a.Looped {
		b.WriteByte('#')
		b.WriteString(strconv.Itoa(a.Loop))
	}
	return b.String()
}

// ParseAddress reads what [Address.String] prints. It also accepts the spelling of campaign files:
// task.NAME, task.NAME["key"] and either with @matrix and #loop after it.
func ParseAddress(s string) (Address, error) {
	p, err := splitAddress(s)
	if err != nil {
		return Address{}, err
	}
	a := Address{Task: p.task.text, Key: p.key.text, Matrix: p.matrix.text}
	if err := ValidName("task", a.Task); err != nil {
		return Address{}, addressError(s, err)
	}
	for _, part := range []addressPart{p.key, p.matrix} {
		if !part.set {
			continue
		}
		if err := ValidKey(part.text); err != nil {
			return Address{}, addressError(s, err)
		}
	}
	if p.loop.set {
		if a.Loop, err = parseLoop(p.loop.text); err != nil {
			return Address{}, addressError(s, err)
		}
		a.Looped = true
	}
	return a, nil
}

// parseLoop reads a loop index in its one canonical spelling.
func parseLoop(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 || len(s) > maxLoopDigits || strconv.Itoa(n) != s {
		return 0, fmt.Errorf("%q is not a loop index: use 0, 1, 2 …", s)
	}
	return n, nil
}

// addressPart is one component of an address or a pattern; set tells an empty one from an absent one.
type addressPart struct {
	text string
	set  bool
}

// addressParts is an address cut at its separators, nothing checked yet.
type addressParts struct{ task, key, matrix, loop addressPart }

// splitAddress cuts s at "/", "@" and "#", or at the index of the task.NAME["key"] spelling.
func splitAddress(s string) (addressParts, error) {
	var p addressParts
	rest := s
	rest, p.loop = cutLast(rest, '#')
	rest, p.matrix = cutLast(rest, '@')
	if ref, ok := strings.CutPrefix(rest, "task."); ok {
		if name, index, ok := strings.Cut(ref, "["); ok {
			key, err := unquoteIndex("[" + index)
			if err != nil {
				return p, addressError(s, err)
			}
			p.task, p.key = addressPart{name, true}, addressPart{key, true}
			return p, nil
		}
		rest = ref
	}
	name, key, keyed := strings.Cut(rest, "/")
	p.task, p.key = addressPart{name, true}, addressPart{key, keyed}
	return p, nil
}

// cutLast splits s at the last sep.
func cutLast(s string, sep byte) (string, addressPart) {
	i := strings.LastIndexByte(s, sep)
	if i < 0 {
		return s, addressPart{}
	}
	return s[:i], addressPart{s[i+1:], true}
}

// unquoteIndex returns KEY of ["KEY"]. No key holds a quote or a backslash, so there is no escape.
func unquoteIndex(s string) (string, error) {
	key, ok := strings.CutPrefix(s, `["`)
	if ok {
		key, ok = strings.CutSuffix(key, `"]`)
	}
	if !ok {
		return "", fmt.Errorf(`an index is written ["KEY"]`)
	}
	return key, nil
}

// addressError names the whole address; cause says which part is wrong.
func addressError(s string, cause error) error {
	return fmt.Errorf("parse address %q: %w", clip(s, 200), cause)
}

// MarshalText returns the printed form, so an Address can be a JSON value or key.
func (a Address) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads the printed form.
func (a *Address) UnmarshalText(b []byte) error {
	parsed, err := ParseAddress(string(b))
	if err == nil {
		*a = parsed
	}
	return err
}

// Compare orders addresses for people: by task, key, matrix and loop, numbers within text by value,
// so "t2" comes before "t10". It returns -1, 0 or +1, and 0 only for equal addresses.
func (a Address) Compare(b Address) int {
	if c := compareNatural(a.Task, b.Task); c != 0 {
		return c
	}
	if c := compareNatural(a.Key, b.Key); c != 0 {
		return c
	}
	if c := compareNatural(a.Matrix, b.Matrix); c != 0 {
		return c
	}
	if a.Looped != b.Looped {
		if b.Looped {
			return -1
		}
		return 1
	}
	return min(1, max(-1, a.Loop-b.Loop))
}

// compareNatural compares runs of digits by value and everything else by byte. Spellings that are
// equal that way ("01" and "1") are told apart by plain order, so the order is total.
func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		dx, dy := digitRun(x), digitRun(y)
		if dx > 0 && dy > 0 {
			if c := compareDigits(x[:dx], y[:dy]); c != 0 {
				return c
			}
			x, y = x[dx:], y[dy:]
			continue
		}
		if x[0] != y[0] {
			return strings.Compare(x[:1], y[:1])
		}
		x, y = x[1:], y[1:]
	}
	if x != y {
		return strings.Compare(x, y)
	}
	return strings.Compare(a, b)
}

// digitRun returns how many ASCII digits s starts with.
func digitRun(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}

// compareDigits compares decimal numbers of any length.
func compareDigits(a, b string) int {
	a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
	if len(a) != len(b) {
		return min(1, max(-1, len(a)-len(b)))
	}
	return strings.Compare(a, b)
}

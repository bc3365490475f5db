package lang

import (
	"fmt"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Pattern selects addresses. It has the shape of an address, NAME[/key][@matrix][#loop], and every
// part is a glob ("*", "?", "[…]", "{a,b}"). A part that is left out matches anything, so a bare task
// name selects all of the task's instances. The zero Pattern matches nothing.
type Pattern struct {
	parts addressParts
}

// ParsePattern reads a pattern such as strategy/*#0, task.strategy["round-trip"] or property-*.
func ParsePattern(s string) (Pattern, error) {
	parts, err := splitAddress(s)
	if err != nil {
		return Pattern{}, err
	}
	for _, part := range []addressPart{parts.task, parts.key, parts.matrix, parts.loop} {
		if !part.set {
			continue
		}
		if err := checkPatternPart(part.text); err != nil {
			return Pattern{}, fmt.Errorf("parse pattern %q: %w", clip(s, 200), err)
		}
	}
	return Pattern{parts}, nil
}

// checkPatternPart returns an error when a part could match no address.
func checkPatternPart(s string) error {
	if s == "" {
		return fmt.Errorf("a part is empty; the form is NAME/key@matrix#loop")
	}
	if !doublestar.ValidatePattern(s) || strings.ContainsAny(s, `/@#"'\`) {
		return fmt.Errorf("%q is not a valid glob", s)
	}
	return nil
}

// Match reports whether the pattern selects a.
func (p Pattern) Match(a Address) bool {
	if !p.parts.task.set || !matchPart(p.parts.task, a.Task) {
		return false
	}
	if !matchPart(p.parts.key, a.Key) || !matchPart(p.parts.matrix, a.Matrix) {
		return false
	}
	if !p.parts.loop.set {
		return true
	}
	return a.Looped && matchPart(p.parts.loop, fmt.Sprint(a.Loop))
}

// matchPart matches one part; a part that is written never matches one the address lacks.
func matchPart(glob addressPart, s string) bool {
	if !glob.set || glob.text == s {
		return true
	}
	return s != "" && doublestar.MatchUnvalidated(glob.text, s)
}

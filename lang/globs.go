package lang

import (
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/hashicorp/hcl/v2"
)

// wantGlobs returns a list of globs that stay below their directory.
func (l *loader) wantGlobs(s *scope, a *argument) []string {
	list := l.wantStrings(s, a)
	for i, g := range list {
		where := elementRange(a.expression, i)
		switch {
		case !doublestar.ValidatePattern(g) || g == "":
			l.error("UF8101", where, "%q is not a valid glob.", g).hint("Use *, **, ?, [abc] and {a,b}; close every bracket.")
		case !staysBelow(g):
			l.error("UF8103", where, "%q leaves its directory; use a relative glob without \"..\".", g)
		}
	}
	return list
}

// staysBelow reports whether a glob can only match below its directory.
func staysBelow(g string) bool {
	if strings.HasPrefix(g, "/") || strings.ContainsAny(g, "\x00") {
		return false
	}
	for part := range strings.FieldsFuncSeq(g, func(r rune) bool { return r == '/' || r == '{' || r == ',' || r == '}' }) {
		if part == ".." {
			return false
		}
	}
	return true
}

// stepName returns the name that .NAME or ["NAME"] selects.
func stepName(t hcl.Traverser) (string, bool) {
	switch s := t.(type) {
	case hcl.TraverseAttr:
		return s.Name, true
	case hcl.TraverseIndex:
		if !s.Key.IsNull() && s.Key.Type().FriendlyName() == "string" {
			return s.Key.AsString(), true
		}
	}
	return "", false
}

package lang

import (
	"path"
	"strings"

	"github.com/agext/levenshtein"
)

// Suggest returns the candidate that was most likely meant by name, or "" when none is close. A
// candidate is close when at most len/3+1 characters differ, of short names one; two neighbours that changed
// places count as one. "-" and "_" count as the same, and so do upper and lower case. Failing that, the only
// candidate that starts with name is meant. Of equally close candidates one wins that only has letters more, else the first,
// so the order of candidates decides ties.
func Suggest(name string, candidates []string) string {
	folded := foldName(name)
	if folded == "" {
		return ""
	}
	best, bestDistance := "", allowed(len([]rune(folded)))+1
	prefixed, prefixes := "", 0
	for _, c := range candidates {
		if c == name || c == "" {
			continue
		}
		f := foldName(c)
		if strings.HasPrefix(f, folded) && c != prefixed {
			prefixed, prefixes = c, prefixes+1
		}
		switch d := nameDistance(folded, f, bestDistance+1); {
		case d < bestDistance, d == bestDistance && best != "" && shortened(folded, f) && !shortened(folded, foldName(best)):
			best, bestDistance = c, d
		}
	}
	if best == "" && prefixes == 1 {
		return prefixed
	}
	return best
}

// shortened reports whether a name has all characters of another in their order: letters are left out more easily than put for others.
func shortened(part, name string) bool {
	left := []rune(part)
	for _, r := range name {
		if len(left) > 0 && left[0] == r {
			left = left[1:]
		}
	}
	return len(left) == 0
}

// suggestFile is Suggest for a file among those of its directory. What they have in common anyway, the directory and the
// extension, makes no name alike: goal.md is no slip for plan.md.
func suggestFile(name string, siblings []string) string {
	stem := func(p string) string { return strings.TrimSuffix(path.Base(p), path.Ext(p)) }
	var alike []string // of the same extension
	byStem, sameStem := map[string]string{}, ""
	for _, p := range siblings {
		switch {
		case path.Ext(p) == path.Ext(name):
			alike = append(alike, stem(p))
			byStem[stem(p)] = p
		case stem(p) == stem(name) && stem(p) != "" && sameStem == "":
			sameStem = p
		}
	}
	if s := Suggest(stem(name), alike); s != "" {
		return byStem[s]
	}
	return sameStem
}

// shortName is up to how many characters a name is short: of four letters, two are half of the word.
const shortName = 4

// allowed is how many characters of a name may differ.
func allowed(length int) int {
	if length <= shortName {
		return 1
	}
	return length/3 + 1
}

// foldName removes the differences that do not count.
func foldName(s string) string {
	return strings.ReplaceAll(strings.ToLower(s), "_", "-")
}

// nameDistance is the Levenshtein distance, or limit when it is at least that or when nothing of
// the name would be left: two names that differ everywhere are not a slip of the finger.
func nameDistance(a, b string, limit int) int {
	ra, rb := []rune(a), []rune(b)
	if diff := len(ra) - len(rb); diff >= limit || -diff >= limit {
		return limit
	}
	if swapped(ra, rb) {
		return 1
	}
	d := levenshtein.Distance(a, b, nil)
	if d >= max(len(ra), len(rb)) && d > 0 {
		return limit
	}
	return d
}

// swapped reports whether two names differ in two neighbours that changed places.
func swapped(a, b []rune) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && string(a[i+2:]) == string(b[i+2:])
		}
	}
	return false
}

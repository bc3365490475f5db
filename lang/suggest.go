package lang

import (
	"strings"

	"github.com/agext/levenshtein"
)

// Suggest returns the candidate that was most likely meant by name, or "" when none is close. A
// candidate is close when at most len/3+1 characters differ; "-" and "_" count as the same, and so do
// upper and lower case. Failing that, the only candidate that starts with name is meant. The first of
// equally close candidates wins, so the order of candidates decides ties.
func Suggest(name string, candidates []string) string { return suggest(name, candidates) }

func suggest(name string, candidates []string) string {
	folded := foldName(name)
	if folded == "" {
		return ""
	}
	best, bestDistance := "", len([]rune(folded))/3+2
	prefixed, prefixes := "", 0
	for _, c := range candidates {
		if c == name || c == "" {
			continue
		}
		f := foldName(c)
		if strings.HasPrefix(f, folded) && c != prefixed {
			prefixed, prefixes = c, prefixes+1
		}
		if d := nameDistance(folded, f, bestDistance); d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if best == "" && prefixes == 1 {
		return prefixed
	}
	return best
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
	d := levenshtein.Distance(a, b, nil)
	if d >= max(len(ra), len(rb)) && d > 0 {
		return limit
	}
	return d
}

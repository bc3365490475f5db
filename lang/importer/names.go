package importer

import (
	"slices"
	"strconv"
	"strings"
)

// maxName is the longest name a campaign may declare.
const maxName = 63

// reserved may not be names of declarations.
var reserved = []string{"all", "self", "item", "each", "matrix", "loop"}

// names hands out names that are legal in a campaign, each once.
type names map[string]bool

// take returns a legal name that is like text and was not handed out before.
func (ns names) take(text string) string {
	name := legalName(text)
	for i := 2; ns[name]; i++ {
		suffix := "-" + strconv.Itoa(i)
		base := legalName(text)
		name = base[:min(len(base), maxName-len(suffix))] + suffix
	}
	ns[name] = true
	return name
}

// legalName turns a text into a name: lower case, dashes for what may not stand in one.
func legalName(text string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, text)
	name = strings.TrimRight(strings.TrimLeft(name, "-_"), "-_")
	if name == "" || name[0] < 'a' || slices.Contains(reserved, name) {
		name = "n-" + name
	}
	return strings.TrimRight(name[:min(len(name), maxName)], "-_")
}

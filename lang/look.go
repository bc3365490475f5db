package lang

import (
	"regexp"
	"sync"
)

// lookFor returns a regular expression that is compiled when it is first asked for: compiling all of them took each start of the
// program a third of a millisecond, and few loads need one.
func lookFor(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

package agent

import (
	"regexp"
	"sync"
)

// Look is a regular expression that is compiled when it is first used. Most invocations start no agent, and compiling those of this
// package took each of them half a millisecond.
type Look struct {
	compiled func() *regexp.Regexp
}

// LookFor returns the look for a text; one that is no regular expression panics when it is used, and a test uses all.
func LookFor(text string) *Look {
	return &Look{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })}
}

// MatchString reports whether a text has what is looked for.
func (l *Look) MatchString(text string) bool { return l.compiled().MatchString(text) }

func (l *Look) find(text string) []string { return l.compiled().FindStringSubmatch(text) }

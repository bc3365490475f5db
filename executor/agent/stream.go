package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"iter"
	"slices"
	"strings"
	"time"
)

// Objects yields the lines of a log that look like one JSON object each. Programs print other text
// among them, standard error is in the same log, and of a long log the first line may be cut.
func Objects(log []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for line := range bytes.Lines(log) {
			if line, ok := Object(line); ok && !yield(line) {
				return
			}
		}
	}
}

// Object trims a line and reports whether it looks like one JSON object.
func Object(line []byte) ([]byte, bool) {
	line = bytes.TrimSpace(line)
	return line, len(line) > 1 && line[0] == '{' && line[len(line)-1] == '}'
}

// Decode reads a line that looks like one JSON object into v, and reports whether it was one. A member of another type than
// v wants stays empty: a program that is newer than its driver is still to be believed about what it spent.
func Decode(line []byte, v any) bool {
	b, ok := Object(line)
	if !ok {
		return false
	}
	err := json.Unmarshal(b, v)
	var member *json.UnmarshalTypeError
	return err == nil || errors.As(err, &member)
}

// Prose returns the log without the lines that [Objects] yields: what a program says when it cannot
// even start its stream. What tools printed is inside the objects and must not speak for the program.
func Prose(log []byte) []byte {
	var out []byte
	for line := range bytes.Lines(log) {
		if _, ok := Object(line); !ok {
			out = append(out, line...)
		}
	}
	return out
}

// Status reads an HTTP status that a program reports; 0 for none.
func Status(n *Number) int {
	if n == nil || !(*n >= 100 && *n < 1000) {
		return 0
	}
	return int(*n)
}

// FromStatus returns the class of an HTTP status that a program reports as its error; ok is false
// for one that says nothing about the account.
func FromStatus(status int) (c Class, ok bool) {
	switch status {
	case 401:
		return Login, true
	case 402:
		return Credit, true
	case 429, 529:
		return RateLimited, true
	}
	return 0, false
}

// Blame reads an error that a program reported about itself: its text first, then its HTTP status
// (0 for none). What neither of them explains is Failed, in the program's words.
func Blame(text string, status int, now time.Time) End {
	if end, ok := Classify(text, now); ok {
		return end
	}
	end := End{Class: Failed, Message: OneLine(text)}
	if c, ok := FromStatus(status); ok {
		end.Class = c
		end.Wait = waitOf(c, text, now)
	}
	if end.Message == "" {
		end.Message = "reported an error without words"
	}
	return end
}

// crashLines is how much of the prose of a log speaks for a program that failed.
const crashLines = 20

// Unfinished reads the end of a program whose stream has no result.
func Unfinished(e Ended) End {
	prose := e
	prose.Log = Prose(e.Log)
	last := LastLines(prose.Log, crashLines)
	if end, ok := Classify(strings.Join(last, "\n"), e.Now); ok {
		return end
	}
	if e.Exit == 0 && e.Signal == "" && e.Cut { // nothing speaks against it; the contract has the last word
		return End{Class: OK, Warning: "its stream has no result, as some of it is lost; what it used is not known"}
	}
	if e.Exit == 0 && e.Signal == "" {
		return End{Class: Failed, Message: "exit 0, but its stream has no result"}
	}
	return End{Class: Failed, Message: Crash(prose)}
}

// Has reports whether one of names is among args, alone or as "name=value": what a person set is not
// set again.
func Has(args []string, names ...string) bool {
	return slices.ContainsFunc(args, func(a string) bool {
		flag, _, _ := strings.Cut(a, "=")
		return slices.Contains(names, flag)
	})
}

// Program returns the program of an agent: its command, or the usual name.
func Program(s Start, usual string) []string {
	if c := s.Profile.Agent.Command; len(c) > 0 {
		return slices.Clone(c)
	}
	return []string{usual}
}

// Args returns the arguments that agent and profile add, in that order.
func Args(s Start) []string { return slices.Concat(s.Profile.Agent.Args, s.Profile.Args) }

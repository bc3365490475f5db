package lang

import "fmt"

// Severity says whether a diagnostic stops a build.
type Severity int

// The severities. The zero value is invalid so that a forgotten one shows.
const (
	Error Severity = iota + 1
	Warning
)

// String returns "error" or "warning".
func (s Severity) String() string {
	switch s {
	case Error:
		return "error"
	case Warning:
		return "warning"
	}
	return fmt.Sprintf("severity(%d)", int(s))
}

// Pos is a place in a file. Ranges are most of what is held of a large campaign, so it is as small as a file may be large.
type Pos struct {
	Line   int32 // 1-based
	Column int32 // 1-based, in user-perceived characters
	Byte   int32 // 0-based byte offset
}

// Range is a half-open stretch of one file.
type Range struct {
	File  string // slash path relative to the campaign root; "" when there is no file
	Start Pos
	End   Pos
}

// Bytes returns where in the bytes of its file it begins and ends.
func (r Range) Bytes() (from, to int) { return int(r.Start.Byte), int(r.End.Byte) }

// String returns "file:line:col".
func (r Range) String() string {
	return fmt.Sprintf("%s:%d:%d", r.File, r.Start.Line, r.Start.Column)
}

// Related is a second place that explains a diagnostic.
type Related struct {
	Range   Range
	Message string
}

// Fix is an edit that solves the problem. Applying it replaces Range by Text.
type Fix struct {
	Title string
	Range Range
	Text  string
}

// Diagnostic is a problem in a campaign. Codes are stable and documented by `ufbuild explain CODE`.
type Diagnostic struct {
	Severity Severity
	Code     string // "UF2002"
	Summary  string // what is wrong, one sentence with a full stop
	Detail   string // why; may be empty
	Hint     string // what to do next; may be empty
	Subject  *Range // the smallest token to blame; nil when there is no place
	Related  []Related
	Fix      *Fix
}

// Diagnostics is a list of problems, all found in one pass.
type Diagnostics []Diagnostic

// HasErrors reports whether any diagnostic is an error.
func (ds Diagnostics) HasErrors() bool { return ds.Count(Error) > 0 }

// Count returns how many diagnostics have the severity s.
func (ds Diagnostics) Count(s Severity) int {
	n := 0
	for i := range ds {
		if ds[i].Severity == s {
			n++
		}
	}
	return n
}

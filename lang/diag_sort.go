package lang

import (
	"cmp"
	"slices"
	"strings"
)

// Sort orders the diagnostics by file, position, severity and code; those without a place come first.
// The order of equals is kept.
func (ds Diagnostics) Sort() {
	slices.SortStableFunc(ds, func(a, b Diagnostic) int {
		ra, rb := a.place(), b.place()
		return cmp.Or(
			strings.Compare(ra.File, rb.File),
			cmp.Compare(ra.Start.Line, rb.Start.Line),
			cmp.Compare(ra.Start.Column, rb.Start.Column),
			cmp.Compare(a.Severity, b.Severity),
			strings.Compare(a.Code, b.Code),
			strings.Compare(a.Summary, b.Summary),
		)
	})
}

// place returns the subject; the zero Range without one.
func (d *Diagnostic) place() Range {
	if d.Subject == nil {
		return Range{}
	}
	return *d.Subject
}

package lang

import (
	"bufio"
	"fmt"
	"io"
	"path"
	"strings"
)

// AnnotationOptions says what writers for other programs need to know.
type AnnotationOptions struct {
	Source  func(file string) ([]byte, bool) // for columns in UTF-16 units; may be nil
	Prefix  string                           // slash path of the campaign root below the repository root
	Version string                           // of ufbuild
}

// file returns the path of a file below the repository root.
func (o AnnotationOptions) file(name string) string { return path.Join(o.Prefix, name) }

// WriteGitHub prints workflow commands that GitHub Actions shows as annotations, one line each.
func WriteGitHub(w io.Writer, ds Diagnostics, o AnnotationOptions) error {
	out := bufio.NewWriter(w)
	files := lineIndexes{source: o.Source}
	for i := range ds {
		d := &ds[i]
		props := "title=" + githubProperty(d.Code)
		if d.Subject != nil && d.Subject.File != "" {
			props = githubPlace(*d.Subject, o, &files) + "," + props
		}
		fmt.Fprintf(out, "::%s %s::%s\n", d.Severity, props, githubEscaper.Replace(flatText(d)))
	}
	return out.Flush()
}

// githubPlace prints the properties of a range. A range over several lines has no columns: GitHub
// ignores the annotation otherwise.
func githubPlace(r Range, o AnnotationOptions, files *lineIndexes) string {
	s := "file=" + githubProperty(o.file(r.File))
	if r.Start.Line < 1 {
		return s
	}
	s += fmt.Sprintf(",line=%d", r.Start.Line)
	switch {
	case r.End.Line > r.Start.Line:
		s += fmt.Sprintf(",endLine=%d", r.End.Line)
	case r.Start.Column > 0:
		start := column16(files, r.File, r.Start)
		s += fmt.Sprintf(",col=%d,endColumn=%d", start, max(start, column16(files, r.File, r.End)))
	}
	return s
}

// column16 returns a column in UTF-16 units, or as it is when the source cannot be had.
func column16(files *lineIndexes, file string, p Pos) int {
	if x := files.of(file); x != nil {
		return x.UTF16Column(p)
	}
	return max(1, int(p.Column))
}

// flatText is the whole text of a diagnostic without its places.
func flatText(d *Diagnostic) string {
	parts := []string{d.Summary}
	if d.Detail != "" {
		parts = append(parts, d.Detail)
	}
	for _, r := range d.Related {
		parts = append(parts, fmt.Sprintf("%s: %s", r.Message, placeText(r.Range)))
	}
	if d.Hint != "" {
		parts = append(parts, "hint: "+d.Hint)
	}
	return strings.Join(parts, "\n")
}

var (
	githubEscaper         = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	githubPropertyEscaper = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// githubProperty escapes the value of a property of a workflow command.
func githubProperty(s string) string { return githubPropertyEscaper.Replace(s) }

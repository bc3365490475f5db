package lang

import (
	"bytes"
	"slices"
	"strings"
)

// ignoreMark starts a comment that silences a warning.
const ignoreMark = "ufbuild:ignore"

// ignoreComment silences one code on its own line and the next.
type ignoreComment struct {
	code  string // "" when the comment names none
	place Range
	used  bool
}

// ignoreComments finds the comments that silence warnings in the campaign files, but for those that are known to have none.
func (c *Campaign) ignoreComments(without map[string]SliceFile) []*ignoreComment {
	var found []*ignoreComment
	for _, f := range c.eval.src.list() {
		if _, none := without[f.Path]; none || !strings.HasSuffix(f.Path, ".hcl") || !bytes.Contains(f.Bytes, []byte(ignoreMark)) {
			continue
		}
		offset := 0
		for n, line := range strings.SplitAfter(string(f.Bytes), "\n") {
			found = append(found, ignoresIn(f.Path, line, n+1, offset)...)
			offset += len(line)
		}
	}
	return found
}

// ignoresIn reads the codes after the mark in one line.
func ignoresIn(file, line string, number, offset int) []*ignoreComment {
	at := strings.Index(line, ignoreMark)
	if at < 0 || !strings.ContainsAny(line[:at], "#/") {
		return nil
	}
	var found []*ignoreComment
	pos := func(i int) Pos { return posOf(number, 1+len([]rune(line[:i])), offset+i) }
	rest := at + len(ignoreMark)
	for _, code := range strings.FieldsFunc(line[rest:], func(r rune) bool { return strings.ContainsRune(" ,;:.\t\r\n", r) }) {
		if !strings.HasPrefix(code, "UF") {
			break
		}
		start := strings.Index(line[rest:], code) + rest
		found = append(found, &ignoreComment{code: code, place: Range{file, pos(start), pos(start + len(code))}})
		rest = start + len(code)
	}
	if len(found) == 0 {
		found = append(found, &ignoreComment{place: Range{file, pos(at), pos(at + len(ignoreMark))}})
	}
	return found
}

func (x *ignoreComment) silences(d *Diagnostic) bool {
	return d.Severity == Warning && d.Code == x.code && d.Subject != nil && d.Subject.File == x.place.File &&
		(d.Subject.Start.Line == x.place.Start.Line || d.Subject.Start.Line == x.place.Start.Line+1)
}

// Unignored returns the diagnostics without the warnings that "# ufbuild:ignore CODE" comments silence.
// Load has done so for its own; this is for those of other rooms about the same files. A room that found all
// it can find is named: comments that silence none of its codes are warned of. Else room is empty.
func (c *Campaign) Unignored(ds Diagnostics, room string) Diagnostics {
	if c.eval == nil {
		return ds
	}
	comments := c.ignoreComments(nil)
	return append(silence(ds, comments), uselessIgnores(comments, room)...)
}

func silence(ds Diagnostics, comments []*ignoreComment) Diagnostics {
	if len(comments) == 0 {
		return ds
	}
	return slices.DeleteFunc(slices.Clone(ds), func(d Diagnostic) bool {
		silent := false
		for _, x := range comments {
			if x.silences(&d) {
				x.used, silent = true, true
			}
		}
		return silent
	})
}

// applyIgnores drops silenced warnings and warns of comments that silence nothing. Those of codes that
// other rooms report are theirs to judge.
func (l *loader) applyIgnores(ds Diagnostics) Diagnostics {
	var without map[string]SliceFile // texts that have none: they could not have been cut
	if l.slice != nil {
		without = l.slice.Files
	}
	comments := l.c.ignoreComments(without)
	if len(comments) == 0 {
		return ds
	}
	ds = silence(ds, comments)
	for _, x := range comments {
		if _, known := Explain(x.code); x.code == "" {
			n := x.useless("This comment names no code, so it silences nothing.")
			n.Hint = "Name the code of the warning, as in # " + ignoreMark + " UF2302."
			ds = append(ds, n)
		} else if !known {
			ds = append(ds, x.useless(x.code+" does not exist."))
		}
	}
	if ds.HasErrors() {
		return ds
	}
	return append(ds, uselessIgnores(comments, "lang")...)
}

// uselessIgnores warns of comments that silence no code of a room.
func uselessIgnores(comments []*ignoreComment, room string) Diagnostics {
	var ds Diagnostics
	for _, x := range comments {
		if doc, known := Explain(x.code); known && !x.used && doc.Where == room {
			ds = append(ds, x.useless("There is no "+x.code+" to ignore here."))
		}
	}
	return ds
}

func (x *ignoreComment) useless(why string) Diagnostic {
	place := x.place
	return Diagnostic{Severity: Warning, Code: "UF9201", Summary: why, Subject: &place, Hint: "Remove the comment."}
}

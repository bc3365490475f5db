package lsp

import (
	"bytes"
	"maps"
	"slices"

	"github.com/ufbuild/ufbuild/lang"
)

// Quick returns at once what is wrong with the blocks and prompts that were edited since the last load, and what
// was known of all else, moved to where it stands now. Other places that an edit makes right or wrong are left to
// [Session.Diagnose], which has to follow when the person rests; where Quick is false, it has to follow at once.
func (s *Session) Quick() (all []FileDiagnostics, ok bool) {
	ok = true
	for _, key := range slices.Sorted(maps.Keys(s.spaces)) {
		sp := s.spaces[key]
		if !sp.untold {
			continue
		}
		var r *lang.Rechecked
		if sp.behind && !sp.whole && !s.editedBeside(sp) {
			r, _ = lang.Recheck(s.options(sp), slices.Sorted(maps.Keys(sp.edited)))
		}
		if r == nil {
			ok = false
			continue
		}
		list := s.diagnose(sp, sp.merged(s, r))
		sp.untold, sp.quick = false, map[string][]Diagnostic{}
		for _, f := range list {
			sp.quick[f.Path] = f.Diagnostics
		}
		all = append(all, list...)
	}
	return all, ok
}

// editedBeside reports whether a file was edited that is no part of the campaign but tried with it.
func (s *Session) editedBeside(sp *space) bool {
	for file := range sp.edited {
		if d := s.docs[sp.abs(file)]; d != nil && (kindOf(d) == testKind || kindOf(d) == valuesKind) {
			return true
		}
	}
	return false
}

// merged is what a quick look found together with what it did not look at.
func (sp *space) merged(s *Session, r *lang.Rechecked) lang.Diagnostics {
	moves := map[string]move{}
	for file := range sp.edited {
		before, _ := sp.current.Source(file)
		moves[file] = moveOf(before, s.document(sp, file).text)
	}
	all := slices.Clone(r.Diagnostics)
	for _, d := range sp.found {
		if moved, ok := moveDiagnostic(moves, d); ok && !r.Covers(&moved) {
			all = append(all, moved)
		}
	}
	for _, d := range slices.Concat(sp.drawn, sp.aside) {
		if moved, ok := moveDiagnostic(moves, d); ok {
			all = append(all, moved)
		}
	}
	all.Sort()
	return all
}

// move is one edit of a file: all before and behind it is the same.
type move struct {
	head, tail   int // length of what is the same, in bytes
	size         int // of the text before the edit
	bytes, lines int // by how much what is behind it is farther down
}

// moveOf compares two texts of a file.
func moveOf(before, after []byte) move {
	m := move{size: len(before), bytes: len(after) - len(before)}
	m.lines = bytes.Count(after, []byte("\n")) - bytes.Count(before, []byte("\n"))
	shorter := min(len(before), len(after))
	for m.head < shorter && before[m.head] == after[m.head] {
		m.head++
	}
	for m.tail < shorter-m.head && before[len(before)-1-m.tail] == after[len(after)-1-m.tail] {
		m.tail++
	}
	return m
}

// place moves a range; it is false for one that was edited. Columns are left alone: editors are told bytes' places
// in the text that they have.
func (m move) place(r lang.Range) (lang.Range, bool) {
	switch {
	case m.size == 0 || int(r.End.Byte) <= m.head:
		return r, true
	case int(r.Start.Byte) >= m.size-m.tail:
		bytes, lines := int32(m.bytes), int32(m.lines)
		r.Start.Byte, r.End.Byte = r.Start.Byte+bytes, r.End.Byte+bytes
		r.Start.Line, r.End.Line = r.Start.Line+lines, r.End.Line+lines
		return r, true
	}
	return r, false
}

// moveDiagnostic moves a diagnostic with its places; it is false when what it is about was edited.
func moveDiagnostic(moves map[string]move, d lang.Diagnostic) (lang.Diagnostic, bool) {
	if d.Subject == nil {
		return d, true
	}
	subject, ok := moves[d.Subject.File].place(*d.Subject)
	if !ok {
		return d, false
	}
	d.Subject = &subject
	var related []lang.Related
	for _, r := range d.Related {
		if r.Range, ok = moves[r.Range.File].place(r.Range); ok {
			related = append(related, r)
		}
	}
	d.Related = related
	if d.Fix != nil {
		fix := *d.Fix
		if fix.Range, ok = moves[fix.Range.File].place(fix.Range); !ok {
			d.Fix = nil
		} else {
			d.Fix = &fix
		}
	}
	return d, true
}

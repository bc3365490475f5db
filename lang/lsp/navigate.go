package lsp

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/ufbuild/ufbuild/lang"
)

// symbolAt is what the name at a place names.
func (s *Session) symbolAt(file string, p Position) (*space, lang.Occurrence, bool) {
	d, sp := s.docs[file], s.fresh(file)
	if d == nil || sp == nil {
		return nil, lang.Occurrence{}, false
	}
	o, ok := occurrenceAt(sp.index(), sp.rel(file), d.offset(p))
	return sp, o, ok && o.Symbol.Kind != ""
}

// Definition returns where the name at a place is declared, or the file that it names.
func (s *Session) Definition(file string, p Position) []Location {
	sp, o, ok := s.symbolAt(file, p)
	if !ok {
		return nil
	}
	if o.Symbol.Kind == "file" {
		return []Location{{Path: sp.abs(o.Symbol.Name)}}
	}
	var found []Location
	for _, other := range sp.index() {
		if other.Declares && other.Symbol == o.Symbol {
			found = append(found, s.location(sp, other.Range))
		}
	}
	return found
}

// References returns every place where what the name at a place names is named, its declaration included
// on request.
func (s *Session) References(file string, p Position, declaration bool) []Location {
	sp, o, ok := s.symbolAt(file, p)
	if !ok {
		return nil
	}
	var found []Location
	for _, other := range sp.index() {
		if other.Symbol == o.Symbol && (declaration || !other.Declares) {
			found = append(found, s.location(sp, other.Range))
		}
	}
	return found
}

// Highlights returns the stretches of a file that name the same as the name at a place.
func (s *Session) Highlights(file string, p Position) []Range {
	var found []Range
	for _, l := range s.References(file, p, true) {
		if l.Path == file {
			found = append(found, l.Range)
		}
	}
	return found
}

// renamed are the kinds of symbols that can get another name.
var renamed = []string{"task", "group", "variable", "local", "agent", "profile", "pool", "contract", "reference", "preset", "output", "input", "vars"}

// Renameable returns the stretch of the name at a place; false where nothing can be renamed.
func (s *Session) Renameable(file string, p Position) (Range, bool) {
	_, o, ok := s.symbolAt(file, p)
	if !ok || !slices.Contains(renamed, o.Symbol.Kind) {
		return Range{}, false
	}
	return s.docs[file].place(o.Range), true
}

// Rename gives what is named at a place another name everywhere: the edits by file. It refuses a name that
// is not valid or taken, and a change after which the campaign would have problems it has not now.
func (s *Session) Rename(file string, p Position, name string) (map[string][]TextEdit, error) {
	sp, o, ok := s.symbolAt(file, p)
	if !ok || !slices.Contains(renamed, o.Symbol.Kind) {
		return nil, errors.New("there is nothing here that can be renamed")
	}
	if o.Symbol.Kind != "vars" && o.Symbol.Kind != "local" {
		if err := lang.ValidName(o.Symbol.Kind, name); err != nil {
			return nil, err
		}
	}
	wanted := o.Symbol
	wanted.Name = name
	places := map[string][]lang.Range{}
	for _, other := range sp.index() {
		switch {
		case other.Symbol == wanted && other.Declares:
			return nil, fmt.Errorf("there is a %s called %q already", wanted.Kind, name)
		case other.Symbol == o.Symbol && !slices.Contains(places[other.Range.File], other.Range):
			places[other.Range.File] = append(places[other.Range.File], other.Range)
		}
	}
	if why := s.broken(sp, places, name); why != "" {
		return nil, fmt.Errorf("the campaign would be broken: %s", why)
	}
	edits := map[string][]TextEdit{}
	for rel, ranges := range places {
		d := s.document(sp, rel)
		for _, r := range ranges {
			edits[d.path] = append(edits[d.path], TextEdit{Range: d.place(r), NewText: name})
		}
	}
	return edits, nil
}

// broken loads the campaign as it would be after a rename and returns the first error that is not there
// now; "" when there is none.
func (s *Session) broken(sp *space, places map[string][]lang.Range, name string) string {
	files := s.overlay(sp.root)
	for _, rel := range slices.Sorted(maps.Keys(places)) {
		files[rel] = replaced(s.document(sp, rel).text, places[rel], name)
	}
	o := s.Options
	o.Dir, o.File, o.Overlay = sp.root, sp.file, files
	_, after := lang.Load(o)
	before := map[string]int{}
	for _, d := range sp.all() {
		before[d.Code]++
	}
	for _, d := range after {
		if before[d.Code]--; before[d.Code] < 0 && d.Severity == lang.Error {
			return d.Summary
		}
	}
	return ""
}

// replaced is a text with a name in place of each range.
func replaced(text []byte, ranges []lang.Range, name string) []byte {
	sorted := slices.Clone(ranges)
	slices.SortFunc(sorted, func(a, b lang.Range) int { return cmp.Compare(a.Start.Byte, b.Start.Byte) })
	var out []byte
	at := 0
	for _, r := range sorted {
		from, to := r.Bytes()
		if from < at || to > len(text) {
			continue
		}
		out = append(append(out, text[at:from]...), name...)
		at = to
	}
	return append(out, text[at:]...)
}

// Actions returns the fixes of problems in a stretch of a file.
func (s *Session) Actions(file string, r Range) []CodeAction {
	d, sp := s.docs[file], s.fresh(file)
	if d == nil || sp == nil {
		return nil
	}
	start, end := d.offset(r.Start), d.offset(r.End)
	var actions []CodeAction
	found := sp.all()
	for i := range found {
		p := &found[i]
		if p.Fix == nil || p.Subject == nil || sp.abs(p.Subject.File) != file || int(p.Subject.End.Byte) < start || int(p.Subject.Start.Byte) > end {
			continue
		}
		target := s.document(sp, p.Fix.Range.File)
		actions = append(actions, CodeAction{
			Title: p.Fix.Title, Path: target.path, Diagnostic: s.convert(sp, p),
			Edits: []TextEdit{{Range: target.place(p.Fix.Range), NewText: p.Fix.Text}},
		})
	}
	return actions
}

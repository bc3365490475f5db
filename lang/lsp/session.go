package lsp

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// Session is the state of one editor. It is used by one goroutine.
type Session struct {
	// Options are those of every load but for where the campaign is.
	Options lang.Options
	// Check finds what is wrong with a campaign that was loaded, such as cycles; nil for nothing more.
	Check func(*lang.Campaign) lang.Diagnostics

	docs   map[string]*document // open files by absolute path
	spaces map[string]*space    // by root, and file where a campaign is not named campaign.hcl
}

// space is one campaign.
type space struct {
	root    string
	file    string // absolute path when the campaign has no campaign.hcl on disk; else ""
	memory  lang.Memory
	trials  lang.Memory // of loads with the values of a test or of a file of variables
	behind  bool        // something changed since the load
	current *lang.Campaign
	sound   *lang.Campaign          // the last one whose files all parsed
	found   lang.Diagnostics        // of lang
	drawn   lang.Diagnostics        // of Session.Check
	aside   lang.Diagnostics        // of open files that are no part of the campaign; only Diagnose looks
	edited  map[string]bool         // files that were edited since the load, as the campaign names them
	whole   bool                    // more than that happened since
	untold  bool                    // something changed since diagnostics were handed out
	owed    bool                    // ... since those of a whole load were
	quick   map[string][]Diagnostic // what Quick handed out since
	told    map[string]bool         // files whose diagnostics were handed out and not cleared

	occurrences []lang.Occurrence // of current; nil until asked for
	indexed     bool
}

// Open takes over a file from disk, or gives it another text.
func (s *Session) Open(path string, text []byte) {
	if s.docs == nil {
		s.docs = map[string]*document{}
	}
	s.docs[path] = newDocument(path, text)
	s.touch(path)
}

// Change edits an open file.
func (s *Session) Change(path string, changes []Change) {
	if d := s.docs[path]; d != nil {
		s.docs[path] = d.changed(changes)
		for _, sp := range s.touched(path) {
			sp.edit(sp.rel(path))
		}
	}
}

// Close gives a file back to the disk.
func (s *Session) Close(path string) {
	delete(s.docs, path)
	s.touch(path)
}

// Touched says that files changed on disk.
func (s *Session) Touched() {
	for _, sp := range s.spaces {
		sp.touch()
	}
}

func (s *Session) touch(path string) {
	for _, sp := range s.touched(path) {
		sp.touch()
	}
}

func (sp *space) touch() { sp.behind, sp.whole, sp.untold, sp.owed = true, true, true, true }

// touched returns the campaigns that a file may be of.
func (s *Session) touched(path string) []*space {
	own := s.spaceOf(path) // also when it is a new one
	var list []*space
	for _, sp := range s.spaces {
		if sp == own || below(sp.root, path) {
			list = append(list, sp)
		}
	}
	return list
}

// edit remembers that a file was edited.
func (sp *space) edit(file string) {
	if sp.edited == nil {
		sp.edited = map[string]bool{}
	}
	sp.behind, sp.untold, sp.owed, sp.edited[file] = true, true, true, true
}

func below(root, path string) bool {
	rel, err := filepath.Rel(root, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// spaceOf returns the campaign that a file belongs to; nil for none.
func (s *Session) spaceOf(path string) *space {
	root, file := s.locate(path)
	if root == "" {
		return nil
	}
	key := root + "\x00" + file
	if s.spaces == nil {
		s.spaces = map[string]*space{}
	}
	sp := s.spaces[key]
	if sp == nil {
		sp = &space{root: root, file: file, told: map[string]bool{}}
		sp.touch()
		s.spaces[key] = sp
	}
	return sp
}

// locate finds the campaign of a file: the nearest campaign.hcl upward, on disk or in the editor. A lone
// campaign file is a campaign of its own.
func (s *Session) locate(path string) (root, file string) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		for _, name := range []string{"campaign.hcl", "campaign.hcl.json"} {
			main := filepath.Join(dir, name)
			if info, err := os.Stat(main); err == nil && !info.IsDir() {
				return dir, ""
			}
			if s.docs[main] != nil {
				return dir, main
			}
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if name := filepath.Base(path); strings.HasSuffix(name, ".campaign.hcl") || strings.HasSuffix(name, ".campaign.hcl.json") {
		return filepath.Dir(path), path
	}
	return "", ""
}

// fresh returns the campaign of a file, loaded again if something changed.
func (s *Session) fresh(path string) *space {
	sp := s.spaceOf(path)
	if sp != nil && sp.behind {
		s.load(sp)
	}
	return sp
}

// syntaxCodes are the codes that say a file does not parse, so that names may be missing.
var syntaxCodes = []string{"UF1000", "UF1002", "UF1003", "UF1004", "UF1006", "UF5005", "UF9901"}

func (s *Session) load(sp *space) {
	c, ds := lang.Load(s.options(sp))
	sp.current, sp.found, sp.drawn, sp.aside = c, ds, nil, nil
	if s.Check != nil {
		sp.drawn = s.Check(c)
	}
	sp.behind, sp.whole, sp.edited = false, false, nil
	sp.occurrences, sp.indexed = nil, false
	broken := slices.ContainsFunc(ds, func(d lang.Diagnostic) bool { return slices.Contains(syntaxCodes, d.Code) })
	if !broken || sp.sound == nil {
		sp.sound = c
	}
}

// options are those of a load of a campaign.
func (s *Session) options(sp *space) lang.Options {
	o := s.Options
	o.Dir, o.File, o.Memory, o.Overlay = sp.root, sp.file, &sp.memory, s.overlay(sp.root)
	return o
}

// overlay lists the open files below a root.
func (s *Session) overlay(root string) map[string][]byte {
	files := map[string][]byte{}
	for path, d := range s.docs {
		if rel, err := filepath.Rel(root, path); err == nil && below(root, path) {
			files[filepath.ToSlash(rel)] = d.text
		}
	}
	return files
}

// index returns every name of a campaign.
func (sp *space) index() []lang.Occurrence {
	if !sp.indexed {
		sp.occurrences, sp.indexed = sp.current.Occurrences(), true
	}
	return sp.occurrences
}

// rel is the path of a file as its campaign names it.
func (sp *space) rel(path string) string {
	rel, err := filepath.Rel(sp.root, path)
	if err != nil {
		return path
	}
	return filepath.ToSlash(rel)
}

// abs is the path of a campaign's file on disk.
func (sp *space) abs(file string) string {
	if filepath.IsAbs(file) {
		return filepath.Clean(file)
	}
	return filepath.Join(sp.root, filepath.FromSlash(file))
}

// document returns a file of a campaign as it is open or was read; an empty one when it cannot be had.
func (s *Session) document(sp *space, file string) *document {
	path := sp.abs(file)
	if d := s.docs[path]; d != nil {
		return d
	}
	if text, ok := sp.current.Source(file); ok {
		return newDocument(path, text)
	}
	return newDocument(path, nil)
}

// Diagnose loads every campaign that changed and returns what is wrong with its files. A file that had
// problems and has none any more comes with an empty list, and so does every open one. What [Session.Quick] said
// already is not said again.
func (s *Session) Diagnose() []FileDiagnostics {
	var all []FileDiagnostics
	for _, key := range slices.Sorted(maps.Keys(s.spaces)) {
		sp := s.spaces[key]
		if !sp.owed {
			continue
		}
		if sp.behind {
			s.load(sp)
		}
		sp.aside = s.beside(sp)
		for _, f := range s.diagnose(sp, sp.all()) {
			if told, ok := sp.quick[f.Path]; !ok || !reflect.DeepEqual(told, f.Diagnostics) {
				all = append(all, f)
			}
		}
		sp.untold, sp.owed, sp.quick = false, false, nil
	}
	return all
}

// all is what the last load found.
func (sp *space) all() lang.Diagnostics {
	found := slices.Concat(sp.found, sp.drawn, sp.aside)
	found.Sort()
	return found
}

// Behind reports whether something changed of which neither Quick nor Diagnose has told.
func (s *Session) Behind() bool {
	for _, sp := range s.spaces {
		if sp.untold {
			return true
		}
	}
	return false
}

// diagnose puts what was found into the words of the protocol.
func (s *Session) diagnose(sp *space, found lang.Diagnostics) []FileDiagnostics {
	files := map[string][]Diagnostic{}
	for file := range sp.told {
		files[file] = nil
	}
	for path := range s.docs {
		if s.spaceOf(path) == sp {
			files[sp.rel(path)] = nil
		}
	}
	for i := range found {
		d := &found[i]
		file := sp.home(d)
		files[file] = append(files[file], s.convert(sp, d))
	}
	sp.told = map[string]bool{}
	var list []FileDiagnostics
	for _, file := range slices.Sorted(maps.Keys(files)) {
		if len(files[file]) > 0 {
			sp.told[file] = true
		}
		list = append(list, FileDiagnostics{Path: sp.abs(file), Diagnostics: files[file]})
	}
	return list
}

// home is the file a diagnostic is shown in: one without a place belongs to the campaign file.
func (sp *space) home(d *lang.Diagnostic) string {
	switch {
	case d.Subject != nil && d.Subject.File != "":
		return d.Subject.File
	case sp.file != "":
		return sp.rel(sp.file)
	}
	return "campaign.hcl"
}

// convert makes a diagnostic of the protocol.
func (s *Session) convert(sp *space, d *lang.Diagnostic) Diagnostic {
	n := Diagnostic{Severity: SeverityError, Code: d.Code, Message: d.Summary}
	if d.Severity == lang.Warning {
		n.Severity = SeverityWarning
	}
	if d.Detail != "" {
		n.Message += "\n" + d.Detail
	}
	if d.Hint != "" {
		n.Message += "\nhint: " + d.Hint
	}
	if d.Subject != nil {
		n.Range = s.document(sp, d.Subject.File).place(*d.Subject)
	}
	for _, r := range d.Related {
		n.Related = append(n.Related, Related{s.location(sp, r.Range), r.Message})
	}
	return n
}

func (s *Session) location(sp *space, r lang.Range) Location {
	d := s.document(sp, r.File)
	return Location{Path: d.path, Range: d.place(r)}
}

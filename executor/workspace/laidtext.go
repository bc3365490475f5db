package workspace

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/jsonline"
)

// laidText is a Laid for another process. Of sources it has those alone that their files do not tell of: earlier versions spelled all.
type laidText struct {
	Files     map[pathText]laidFileText `json:"files"`
	End       int64                     `json:"end"`
	Inherits  bool                      `json:"inherits,omitempty"`
	Inherited map[pathText]entryText    `json:"inherited,omitempty"`
	Sources   map[pathText]entryText    `json:"sources,omitempty"`
	Root      pathText                  `json:"root,omitzero"`
}

type laidFileText struct {
	Ino    uint64        `json:"i"`
	Size   int64         `json:"s"`
	Mtime  int64         `json:"m"`
	Ctime  int64         `json:"c"`
	Mode   uint32        `json:"p"`
	Digest digest.Digest `json:"d,omitzero"`
	Source bool          `json:"r,omitempty"`
}

// entryText is a cache.Entry; the key it stands under is its path.
type entryText struct {
	Kind   cache.EntryKind
	Mode   uint32        `json:",omitempty"`
	Digest digest.Digest `json:",omitzero"`
	Target pathText      `json:",omitzero"`
}

// pathText is a path in JSON, which has no words for bytes that are no UTF-8: such a path is quoted. It is no string, since the
// encoder would take one for a key as it is.
type pathText struct{ path string }

// MarshalText implements encoding.TextMarshaler.
func (p pathText) MarshalText() ([]byte, error) { return []byte(p.spelled()), nil }

func (p pathText) spelled() string {
	if s := p.path; !utf8.ValidString(s) || s != "" && s[0] == '"' {
		return strconv.QuoteToASCII(s)
	}
	return p.path
}

// UnmarshalText implements encoding.TextUnmarshaler.
func (p *pathText) UnmarshalText(b []byte) error {
	s := string(b)
	if s != "" && s[0] == '"' {
		var err error
		if s, err = strconv.Unquote(s); err != nil {
			return err
		}
	}
	p.path = s
	return nil
}

// textOf spells what is known by path for JSON, and pathsOf reads it.
func textOf[V any](m map[string]V) map[pathText]V {
	out := make(map[pathText]V, len(m))
	for p, v := range m {
		out[pathText{p}] = v
	}
	return out
}

func pathsOf[V any](m map[pathText]V) map[string]V {
	out := make(map[string]V, len(m))
	for p, v := range m {
		out[p.path] = v
	}
	return out
}

func entriesOf(m map[pathText]entryText) entries {
	out := make(entries, 0, len(m))
	for p, e := range m {
		out = append(out, cache.Entry{Path: p.path, Kind: e.Kind, Mode: e.Mode, Digest: e.Digest, Target: e.Target.path})
	}
	return out.sorted()
}

// appendGiven appends a given in JSON, by hand: a large workspace has several fields for each of thousands of files.
func appendGiven(b []byte, outputs []Output, l *Laid) []byte {
	list, err := json.Marshal(outputs)
	if err != nil {
		panic("BUG: outputs do not encode: " + err.Error())
	}
	b = slices.Grow(b, 256*len(l.files))
	line := jsonline.Behind(append(append(append(b, `{"outputs":`...), list...), `,"laid":`...))
	line.Open("")
	line.Open("files")
	for _, f := range l.files {
		line.Key(pathText{f.path}.spelled())
		line.Open("")
		line.UintIf("i", f.stamp.ino)
		line.IntIf("s", f.stamp.size)
		line.IntIf("m", f.stamp.mtime)
		line.IntIf("c", f.stamp.ctime)
		line.UintIf("p", uint64(f.stamp.mode))
		jsonline.TextIf(&line, "d", f.digest)
		line.TrueIf("r", f.source)
		line.Close()
	}
	line.Close()
	line.Int("end", l.end)
	line.TrueIf("inherits", l.inherits)
	spellEntries(&line, "inherited", l.inherited, func(*cache.Entry) bool { return true })
	spellEntries(&line, "sources", l.sources, func(e *cache.Entry) bool {
		f := l.file(e.Path)
		return f == nil || !f.source || f.digest.IsZero() || *e != f.entry()
	})
	line.StringIf("root", pathText{l.root}.spelled())
	line.Close()
	b, ok := line.Bytes()
	if !ok {
		panic("BUG: what was laid does not encode")
	}
	return append(b, '}')
}

// spellEntries spells entries by their paths, as many as have to be.
func spellEntries(line *jsonline.Line, name string, list entries, must func(*cache.Entry) bool) {
	line.Open(name)
	for i := range list {
		e := &list[i]
		if !must(e) {
			continue
		}
		line.Key(pathText{e.Path}.spelled())
		line.Open("")
		line.String("Kind", string(e.Kind))
		line.UintIf("Mode", uint64(e.Mode))
		jsonline.TextIf(line, "Digest", e.Digest)
		line.StringIf("Target", pathText{e.Target}.spelled())
		line.Close()
	}
	line.Close()
}

// entry is what is said of a source that is spelled among the files alone.
func (f *laidFile) entry() cache.Entry {
	return cache.Entry{Path: f.path, Kind: cache.File, Mode: f.stamp.mode & 0o777, Digest: f.digest}
}

func (t *laidText) laid() *Laid {
	l := &Laid{
		files: make([]laidFile, 0, len(t.Files)), end: t.End, inherits: t.Inherits,
		inherited: entriesOf(t.Inherited), sources: entriesOf(t.Sources), root: t.Root.path,
	}
	spelled := l.sources
	for p, t := range t.Files {
		f := laidFile{p.path, stamp{t.Ino, t.Size, t.Mtime, t.Ctime, t.Mode}, t.Digest, t.Source}
		l.files = append(l.files, f)
		if f.source && !f.digest.IsZero() && spelled.at(f.path) == nil && l.inherited.at(f.path) == nil {
			l.sources = append(l.sources, f.entry())
		}
	}
	l.sources = l.sources.sorted()
	slices.SortFunc(l.files, func(a, b laidFile) int { return strings.Compare(a.path, b.path) })
	return l
}

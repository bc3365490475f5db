package workspace

import (
	"strconv"
	"unicode/utf8"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// laidText is a Laid for another process.
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
func (p pathText) MarshalText() ([]byte, error) {
	if s := p.path; !utf8.ValidString(s) || s != "" && s[0] == '"' {
		return strconv.AppendQuoteToASCII(nil, s), nil
	}
	return []byte(p.path), nil
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

func entriesText(m map[string]cache.Entry) map[pathText]entryText {
	out := make(map[pathText]entryText, len(m))
	for p, e := range m {
		out[pathText{p}] = entryText{e.Kind, e.Mode, e.Digest, pathText{e.Target}}
	}
	return out
}

func entriesOf(m map[pathText]entryText) map[string]cache.Entry {
	out := make(map[string]cache.Entry, len(m))
	for p, e := range m {
		out[p.path] = cache.Entry{Path: p.path, Kind: e.Kind, Mode: e.Mode, Digest: e.Digest, Target: e.Target.path}
	}
	return out
}

func (l *Laid) text() laidText {
	t := laidText{
		Files: make(map[pathText]laidFileText, len(l.files)), End: l.end, Inherits: l.inherits,
		Inherited: entriesText(l.inherited), Sources: entriesText(l.sources), Root: pathText{l.root},
	}
	for p, f := range l.files {
		t.Files[pathText{p}] = laidFileText{f.stamp.ino, f.stamp.size, f.stamp.mtime, f.stamp.ctime, f.stamp.mode, f.digest, f.source}
	}
	return t
}

func (t *laidText) laid() *Laid {
	l := &Laid{
		files: make(map[string]laidFile, len(t.Files)), end: t.End, inherits: t.Inherits,
		inherited: entriesOf(t.Inherited), sources: entriesOf(t.Sources), root: t.Root.path,
	}
	for p, f := range t.Files {
		l.files[p.path] = laidFile{stamp{f.Ino, f.Size, f.Mtime, f.Ctime, f.Mode}, f.Digest, f.Source}
	}
	return l
}

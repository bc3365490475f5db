package workspace

import (
	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// laidText is a Laid for another process.
type laidText struct {
	Files     map[string]laidFileText `json:"files"`
	End       int64                   `json:"end"`
	Inherits  bool                    `json:"inherits,omitempty"`
	Inherited map[string]cache.Entry  `json:"inherited,omitempty"`
	Sources   map[string]cache.Entry  `json:"sources,omitempty"`
	Root      string                  `json:"root,omitempty"`
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

func (l *Laid) text() laidText {
	t := laidText{
		Files: make(map[string]laidFileText, len(l.files)), End: l.end,
		Inherits: l.inherits, Inherited: l.inherited, Sources: l.sources, Root: l.root,
	}
	for p, f := range l.files {
		t.Files[p] = laidFileText{f.stamp.ino, f.stamp.size, f.stamp.mtime, f.stamp.ctime, f.stamp.mode, f.digest, f.source}
	}
	return t
}

func (t *laidText) laid() *Laid {
	l := &Laid{
		files: make(map[string]laidFile, len(t.Files)), end: t.End,
		inherits: t.Inherits, inherited: t.Inherited, sources: t.Sources, root: t.Root,
	}
	for p, f := range t.Files {
		l.files[p] = laidFile{stamp{f.Ino, f.Size, f.Mtime, f.Ctime, f.Mode}, f.Digest, f.Source}
	}
	return l
}

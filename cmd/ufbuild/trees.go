package main

import (
	"path"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// treeEntries lists the files of a tree below a directory.
func (s *session) treeEntries(like lsEntry, dir string, d digest.Digest) ([]lsEntry, error) {
	t, err := cache.ReadTree(s.store, d)
	if err != nil {
		return nil, err
	}
	var out []lsEntry
	for _, e := range t.Entries {
		if e.Kind == cache.Dir {
			continue
		}
		f := like
		f.Path, f.Digest, f.Size, f.Tree = path.Join(dir, e.Path), e.Digest.String(), e.Digest.Size, false
		out = append(out, f)
	}
	return out, nil
}

// outputPath is the declared path of a file output.
func (s *session) outputPath(addr, name string) string {
	a, err := lang.ParseAddress(addr)
	if err != nil {
		return name
	}
	inst, ok := s.instance(a)
	if !ok {
		return name
	}
	for _, o := range inst.Outputs {
		if o.Name == name {
			return o.Path
		}
	}
	return name
}

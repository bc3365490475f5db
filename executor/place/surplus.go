package place

import (
	"io/fs"
	"path"
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

// CheckAfter is Check where another attempt may have been put before: files of it that outs have no more are in the way too,
// and then what differs is the directory. What somebody else laid beside outputs is not looked at.
func (p *Placer) CheckAfter(addr lang.Address, outs []cache.Output, specs []OutPath) (State, []string) {
	state, differ := p.Check(addr, outs, specs)
	if state == InPlace && p.surplus(addr, outs, specs) {
		return Missing, []string{p.At(addr)}
	}
	return state, differ
}

// surplus reports whether a file that we put for an instance is none of its outs.
func (p *Placer) surplus(addr lang.Address, outs []cache.Output, specs []OutPath) bool {
	want, err := expand(p.cas, outs, specs)
	if err != nil {
		return false // Put says why
	}
	wanted := make(map[string]bool, len(want))
	for i := range want {
		wanted[want[i].Path] = true
	}
	var ours map[string]*cache.Entry
	found := false
	top := filepath.Join(p.root, filepath.FromSlash(p.At(addr)))
	_ = filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return fs.SkipAll // nothing lies there, or it cannot be read: Put says so when it has to
		}
		rel, err := filepath.Rel(top, at)
		if rel = filepath.ToSlash(rel); err != nil || d.IsDir() || wanted[rel] {
			return err
		}
		if ours == nil {
			if ours, err = p.ours(addr.String()); err != nil {
				return err
			}
		}
		if found = p.isOurs(path.Join(p.At(addr), rel), ours[rel]); found {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

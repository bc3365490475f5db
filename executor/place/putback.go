package place

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// Known is a regular file as somebody remembers it in place. The zero Known is one of which nobody knows.
type Known struct {
	Digest digest.Digest
	Mode   uint32 // permission bits
}

// set is what was put into the directory of one instance.
type set struct {
	addr lang.Address
	put  putRecord
	want []cache.Entry
}

// PutBack makes files again that are missing, by their paths below the root, and returns every path below the root that it wrote or
// gave a new name. What belongs there it takes from the record of what was put, and what that says it believes only as far as known, which is
// asked for paths below the root from one goroutine, says the same of every file of the instances concerned.
//
// It is false, with nothing changed, where that is not enough to go by: for a path of which nobody wrote down whose it is, for
// links and directories that are outputs, and where something lies in the way.
func (p *Placer) PutBack(missing []string, known func(path string) Known) (put []string, r Report, ok bool, err error) {
	sets, ok := p.lastPut(missing, known)
	if !ok {
		return nil, r, false, nil
	}
	var mu sync.Mutex
	err = source.Each(len(sets), func(i int) error {
		s := &sets[i]
		report, err := p.Put(s.addr, s.put.Outs, s.put.Specs)
		mu.Lock()
		defer mu.Unlock()
		r.Moved = append(r.Moved, report.Moved...)
		for j := range s.want {
			put = append(put, path.Join(p.out, s.put.Instance, s.want[j].Path))
		}
		return err
	})
	slices.Sort(r.Moved)
	return put, r, err == nil, err
}

// lastPut returns what was put into the directories of the instances that paths are of.
func (p *Placer) lastPut(paths []string, known func(string) Known) ([]set, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log.read() != nil {
		return nil, false
	}
	var sets []set
	of := map[string]map[string]bool{} // the files of an instance, by path below the root
	for _, at := range paths {
		instance := p.log.owner(strings.TrimPrefix(at, p.out+"/"))
		if of[instance] == nil {
			s, files, ok := p.lastPutOf(instance, known)
			if !ok {
				return nil, false
			}
			sets, of[instance] = append(sets, s), files
		}
		if !of[instance][at] {
			return nil, false
		}
	}
	return sets, true
}

func (p *Placer) lastPutOf(instance string, known func(string) Known) (s set, files map[string]bool, ok bool) {
	records, err := p.log.find(instance)
	if err != nil || len(records) == 0 {
		return s, nil, false
	}
	s.put = records[len(records)-1]
	s.addr, err = lang.ParseAddress(instance)
	if err != nil {
		return s, nil, false
	}
	if s.want, err = expand(p.cas, s.put.Outs, s.put.Specs); err != nil {
		return s, nil, false
	}
	files = make(map[string]bool, len(s.want))
	for i := range s.want {
		e := &s.want[i]
		at := path.Join(p.out, instance, e.Path)
		if e.Kind != cache.File || known(at) != (Known{e.Digest, e.Mode}) {
			return s, nil, false
		}
		files[at] = true
	}
	return s, files, p.alone(instance, s.want)
}

// alone reports whether nothing lies in the directory of an instance but what was put there.
func (p *Placer) alone(instance string, want []cache.Entry) bool {
	names := make(map[string]bool, len(want))
	for i := range want {
		names[want[i].Path] = true
	}
	top := filepath.Join(p.root, filepath.FromSlash(path.Join(p.out, instance)))
	err := filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(top, at)
		if err == nil && !names[filepath.ToSlash(rel)] {
			err = fs.ErrExist
		}
		return err
	})
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// owner returns the instance in whose directory a path below the output directory lies, "" when nobody wrote down that there is one.
func (l *placed) owner(at string) string {
	for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
		if len(l.unread[dir])+len(l.known[dir]) > 0 {
			return dir
		}
	}
	return ""
}

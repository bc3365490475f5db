package place

import (
	"errors"
	"io"
	"io/fs"
	"os"
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
	instance string
	addr     lang.Address
	want     []cache.Entry
	missing  []string // by path below the root
}

// PutBack makes files again that are missing, by their paths below the root, and returns those paths below the root of what it wrote or
// gave a new name that have to be looked at before anybody can be sure of them. What belongs there it takes from the record of what was
// put, and what that says it believes only as far as known, which is asked for paths below the root, concurrently, says the same of every
// file of the instances concerned.
//
// It is false, with nothing changed, where that is not enough to go by: for a path of which nobody wrote down whose it is, for
// links and directories that are outputs, and where something lies in the way.
func (p *Placer) PutBack(missing []string, known func(path string) Known) (unsure []string, r Report, ok bool, err error) {
	out := filepath.Join(p.root, filepath.FromSlash(p.out))
	_, err = os.Lstat(out)
	absent := errors.Is(err, fs.ErrNotExist)
	sets, ok := p.lastPut(missing, known, absent || isEmpty(out))
	if !ok {
		return nil, r, false, nil
	}
	if absent {
		if unsure, done := p.putWhole(sets); done {
			return unsure, r, true, nil
		}
	}
	var mu sync.Mutex
	err = source.Each(len(sets), func(i int) error {
		report, of, err := p.putEntries(sets[i].addr, sets[i].want, func() error { return nil }) // it is what was written down last
		if len(of)+len(report.Moved) > 0 {
			mu.Lock()
			defer mu.Unlock()
			r.Moved, unsure = append(r.Moved, report.Moved...), append(unsure, of...)
		}
		return err
	})
	slices.Sort(r.Moved)
	return unsure, r, err == nil, err
}

// isEmpty reports whether nothing is in a directory.
func isEmpty(dir string) bool {
	f, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.Readdirnames(1)
	return errors.Is(err, io.EOF)
}

// lastPut returns what was put into the directories of the instances that paths are of. Where the output directory is empty nothing of others
// lies where they go.
func (p *Placer) lastPut(paths []string, known func(string) Known, empty bool) ([]set, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.log.read() != nil {
		return nil, false
	}
	var sets []set
	of := map[string]int{} // the set of an instance
	for _, at := range paths {
		instance := p.log.owner(strings.TrimPrefix(at, p.out+"/"))
		i, ok := of[instance]
		if !ok {
			i = len(sets)
			of[instance] = i
			sets = append(sets, set{instance: instance})
		}
		sets[i].missing = append(sets[i].missing, at)
	}
	err := source.Each(len(sets), func(i int) error {
		if s := &sets[i]; !p.lastPutOf(s, known) || !empty && !p.alone(s) {
			return fs.ErrInvalid
		}
		return nil
	})
	return sets, err == nil
}

// lastPutOf finds out what was put for an instance. It is false where that is not enough to go by.
func (p *Placer) lastPutOf(s *set, known func(string) Known) bool {
	put, ok := p.log.last(s.instance)
	if !ok {
		return false
	}
	var err error
	if s.addr, err = lang.ParseAddress(s.instance); err != nil {
		return false
	}
	if s.want, err = expand(p.cas, put.Outs, put.Specs); err != nil {
		return false
	}
	slices.Sort(s.missing)
	found := 0
	for i := range s.want {
		e := &s.want[i]
		at := p.out + "/" + s.instance + "/" + e.Path
		if e.Kind != cache.File || known(at) != (Known{e.Digest, e.Mode}) {
			return false
		}
		if _, ok := slices.BinarySearch(s.missing, at); ok {
			found++
		}
	}
	return found == len(s.missing)
}

// alone reports whether nothing lies in the directory of an instance but what was put there.
func (p *Placer) alone(s *set) bool {
	names := make(map[string]bool, len(s.want))
	for i := range s.want {
		names[s.want[i].Path] = true
	}
	top := filepath.Join(p.root, filepath.FromSlash(path.Join(p.out, s.instance)))
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

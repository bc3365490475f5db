package executor

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// Whoever runs as the same user can write into the workspace of a task that runs beside it, and no stamp tells that from the
// task's own writes. What the kernel lets us do without privileges is to keep the names of workspaces from others: they cannot
// be guessed, and the directory that they are in cannot be listed. So who writes there has learned a name by looking for it,
// and an agent's log says what it looked at.

// meet notes of two stays that they overlap: whoever of them roams may have met the workspace of the other.
func (s *stay) meet(o *stay) {
	if s.roams && o.met.dir != "" && *o.who != *s.who {
		if s.met.beside == nil {
			s.met.beside = s.met.room[:0]
		}
		s.met.beside = append(s.met.beside, neighbour{o.met.dir, o.who})
	}
}

// name takes in the workspaces of others that the log of a stay names.
func (s *stay) name(cas cache.CAS, log digest.Digest) {
	beside := s.met.beside
	s.met = nil
	if len(beside) == 0 || log.IsZero() || log.Size == 0 {
		return
	}
	dirs := make(map[string]lang.Address, len(beside))
	for _, n := range beside {
		dirs[n.dir] = *n.whose
	}
	r, err := cas.Open(log)
	if err != nil {
		return // it was just put: whoever reads it next says what is wrong with the store
	}
	named, err := namedIn(r, dirs)
	_ = errors.Join(err, r.Close())
	if len(named) > 0 {
		s.met = &meeting{named: named}
	}
}

// intrusions are the workspaces that somebody named who ran beside their tasks.
func (w *witness) intrusions() []Trespass {
	var out []Trespass
	for _, st := range w.runs {
		if st.met == nil {
			continue
		}
		for _, n := range st.met.named {
			out = append(out, Trespass{Path: n.path, What: whatNamed, Owner: n.whose, By: []lang.Address{*st.who}})
		}
	}
	return out
}

// naming is a path into the workspace of somebody else.
type naming struct {
	path  string // from the directory of the attempt on
	whose lang.Address
}

// nameWindow is how much of a log is looked at together; nameMax is how much of it a name and the path behind it may take.
const (
	nameWindow = 64 << 10
	nameMax    = 256
)

// namedIn finds paths that lead through one of dirs, the first for each.
func namedIn(r io.Reader, dirs map[string]lang.Address) ([]naming, error) {
	var out []naming
	found := map[string]bool{}
	buf := make([]byte, 0, nameWindow)
	for {
		n, err := digest.Fill(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		last := err != nil || len(buf) < cap(buf)
		at := 0
		for last || at < len(buf)-nameMax {
			i := bytes.IndexByte(buf[at:], '/')
			if i < 0 {
				at = len(buf)
				break
			}
			at += i + 1
			if at < len(buf) && (buf[at] < '0' || buf[at] > '9') {
				continue // a log is full of paths, and names begin with a number
			}
			path := buf[at:min(len(buf), at+nameMax)]
			if !last && len(path) < nameMax {
				at-- // the rest of it is still to come
				break
			}
			dir := string(path[:nameLength(path)])
			if whose, ok := dirs[dir]; ok && !found[dir] {
				found[dir] = true
				out = append(out, naming{pathIn(path), whose})
			}
		}
		if last {
			return out, err
		}
		buf = buf[:copy(buf, buf[at:])]
	}
}

// nameLength is the length of the name that a path starts with, as far as it is spelled like the directory of an attempt.
func nameLength(path []byte) int {
	n := 0
	for n < len(path) && (path[n] >= '0' && path[n] <= '9' || path[n] >= 'a' && path[n] <= 'z') {
		n++
	}
	return n
}

// pathIn is a path without what stands behind it in a text.
func pathIn(text []byte) string {
	if i := bytes.IndexAny(text, " \t\r\n\"'`\\:,;()<>|&"); i >= 0 {
		text = text[:i]
	}
	return filepath.Clean(string(bytes.TrimRight(text, ".!?"))) // a path may end a sentence
}

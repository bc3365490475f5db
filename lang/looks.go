package lang

import (
	"io/fs"
	"slices"
)

// LooksSame reports whether fsys, the directory of the campaign, answers as the disk did when the campaign was loaded and rendered:
// what globs list or match, and what lies at a path. The bytes of [Campaign.Files] are for others to compare, also where they were
// given and not read. It is false for a campaign of which a part was loaded before.
func (c *Campaign) LooksSame(fsys fs.FS) bool {
	s := c.eval.src
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.memory != nil {
		return false
	}
	for pattern, was := range s.globs {
		paths, err := globBelow(fsys, pattern)
		if err != nil || was.err != nil || !slices.Equal(s.withOverlay(pattern, paths), was.paths) {
			return false
		}
	}
	for pattern, was := range s.matched {
		if anyBelow(fsys, pattern) != was {
			return false
		}
	}
	for p, was := range s.lain {
		if p.in(fsys) != was {
			return false
		}
	}
	return true
}

// spot is a path that was asked for.
type spot struct {
	name   string
	follow bool // where a link leads
}

// thing is what lies at a path.
type thing struct {
	there bool
	kind  fs.FileMode // the bits of its type
}

func (p spot) in(fsys fs.FS) thing {
	ask := fs.Lstat
	if p.follow {
		ask = fs.Stat
	}
	info, err := ask(fsys, p.name)
	if err != nil {
		return thing{}
	}
	return thing{true, info.Mode().Type()}
}

// lies returns what was at a path when it was first asked for: a campaign is read once.
func (s *sources) lies(p spot) thing {
	s.mu.Lock()
	was, known := s.lain[p]
	s.mu.Unlock()
	if known {
		return was
	}
	is := p.in(s.disk())
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lain[p] = is
	return is
}

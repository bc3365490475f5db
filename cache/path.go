package cache

import (
	"errors"
	"fmt"
	"path"
	"strings"
)

// CleanPath returns nil when p may name a file below a root: relative, slash-separated, no "..", no ".", no empty
// component, no NUL. It is the one grammar of paths in trees, archives and declarations. It speaks of text: links on disk are
// held off by opening beneath a root handle.
func CleanPath(p string) error {
	if err := cleanPath(p); err != nil {
		return fmt.Errorf("use path %q: %w", p, err)
	}
	return nil
}

func cleanPath(p string) error {
	switch {
	case p == "":
		return errors.New("is empty")
	case p[0] == '/':
		return errors.New("is absolute")
	case strings.IndexByte(p, 0) >= 0:
		return errors.New("holds a NUL byte")
	case len(p) > 4095: // PATH_MAX less its NUL: no system call takes more
		return errors.New("is longer than 4095 bytes")
	}
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "":
			return errors.New("has an empty component")
		case ".", "..":
			return fmt.Errorf("has a %q component", part)
		}
	}
	return nil
}

// LinkInside reports whether a link at p with this target points, as text, to something below the root. A link elsewhere on
// the way can still lead out, which the root handle holds off.
func LinkInside(p, target string) bool {
	if target == "" || target[0] == '/' || strings.IndexByte(target, 0) >= 0 {
		return false
	}
	to := path.Join(path.Dir(p), target)
	return to != ".." && !strings.HasPrefix(to, "../")
}

package source

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/lang"
)

// Glob returns the regular files and links that match one of globs and none of excludes, sorted by
// path, each once. Globs are doublestar patterns of slash paths; an exclude that matches a directory
// leaves out everything below it. Wildcards never match .git, .ufbuild or what [Files.LeaveOut]
// names, match files git ignores, and do not walk into linked directories. Matching nothing is no
// error.
//
// A link counts as a link when the file it points to is matched as well, and as the bytes of that
// file when it is not. A link to a directory stays a link.
//
// Errors: a malformed glob or one that leaves the root, a directory or file that cannot be read, a
// link that leaves the root, a special file or directory named without a wildcard.
func (f *Files) Glob(globs, excludes []string) ([]File, error) {
	return f.GlobSeen(globs, excludes, nil)
}

// GlobSeen is Glob for who has just looked at files, sorted by path, of which no link was followed: they are not looked at again.
func (f *Files) GlobSeen(globs, excludes []string, seen []File) ([]File, error) {
	if err := f.ready(); err != nil {
		return nil, err
	}
	for _, g := range append(globs[:len(globs):len(globs)], excludes...) {
		if err := checkGlob(g); err != nil {
			return nil, err
		}
	}
	var paths []string
	for _, g := range globs {
		if len(excludes) == 0 && !wild(g) { // the look at it says what there is to match
			name, err := literal(g)
			if err != nil {
				return nil, err
			}
			paths = append(paths, name)
			continue
		}
		found, err := f.match(g)
		if err != nil {
			return nil, err
		}
		for _, p := range found {
			if !lang.Excluded(p, excludes) {
				paths = append(paths, p)
			}
		}
	}
	paths = sortUnique(paths)
	files, err := f.lookAll(paths, followLinks, seen)
	if err != nil {
		return nil, err
	}
	return f.relink(files)
}

// relink turns links whose target is laid out too back into links: they were answered with the bytes
// behind them.
func (f *Files) relink(files []File) ([]File, error) {
	for i := range files {
		if !f.viaLink(files[i].Path) {
			continue
		}
		target, err := f.linkTo(files[i].Path)
		if err != nil {
			return nil, err
		}
		if target == "" || !contains(files, path.Join(path.Dir(files[i].Path), target)) {
			continue
		}
		files[i] = File{Path: files[i].Path, Mode: 0o777, Target: target}
	}
	return files, nil
}

// viaLink reports whether path may have been answered through a link.
func (f *Files) viaLink(path string) bool {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.links[path]
}

// linkTo returns the target when name was answered through a link, else "".
func (f *Files) linkTo(name string) (string, error) {
	var st unix.Stat_t
	if err := effect.Fstatat(f.dirFD, name, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return "", pathError("read", name, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", nil
	}
	target, err := readlink(f.dirFD, name)
	if err != nil {
		return "", pathError("read", name, err)
	}
	return target, nil
}

// contains reports whether sorted files hold path.
func contains(files []File, path string) bool {
	_, ok := find(files, path)
	return ok
}

// find finds path in sorted files.
func find(files []File, path string) (at int, ok bool) {
	return slices.BinarySearchFunc(files, path, func(f File, path string) int { return strings.Compare(f.Path, path) })
}

// sortUnique sorts paths and drops repetitions.
func sortUnique(paths []string) []string {
	sort.Strings(paths)
	kept := paths[:0]
	for i, p := range paths {
		if i == 0 || p != paths[i-1] {
			kept = append(kept, p)
		}
	}
	return kept
}

// checkGlob refuses globs that are malformed or not below the root.
func checkGlob(g string) error {
	if !doublestar.ValidatePattern(g) {
		return fmt.Errorf("match %q: the glob is malformed", g)
	}
	if path.IsAbs(g) {
		return fmt.Errorf("match %q: the glob is absolute\nhint: globs are relative to the campaign root", g)
	}
	for part := range strings.SplitSeq(g, "/") {
		if part == ".." {
			return fmt.Errorf("match %q: the glob leaves the campaign root", g)
		}
	}
	return nil
}

// wild reports whether s has a character that is special in globs.
func wild(s string) bool { return strings.ContainsAny(s, `*?[{\`) }

// match returns the paths that one glob matches, in any order.
func (f *Files) match(glob string) ([]string, error) {
	if !wild(glob) {
		return f.matchLiteral(glob)
	}
	glob = strings.TrimPrefix(glob, "./")
	w := walk{files: f, glob: glob, parts: strings.Split(glob, "/")}
	base := 0
	for base < len(w.parts)-1 && !wild(w.parts[base]) {
		base++
	}
	w.plain = pruneable(glob)
	dir := strings.Join(w.parts[:base], "/")
	if hasReserved(dir) {
		return nil, nil
	}
	if dir != "" {
		if err := cache.CleanPath(dir); err != nil {
			return nil, fmt.Errorf("match %q: %w", glob, err)
		}
	}
	err := w.dir(dir, base)
	return w.found, err
}

// pruneable reports whether a glob can be compared component by component: no ** and no braces that
// may hold a slash.
func pruneable(glob string) bool {
	return !strings.Contains(glob, "**") && !strings.ContainsAny(glob, `{\`)
}

// literal returns the path that a glob without wildcards matches, if it is there.
func literal(glob string) (string, error) {
	name := strings.TrimPrefix(glob, "./")
	if err := cache.CleanPath(name); err != nil {
		return "", fmt.Errorf("match %q: %w", name, err)
	}
	return name, nil
}

// matchLiteral matches a path without wildcards.
func (f *Files) matchLiteral(glob string) ([]string, error) {
	name, err := literal(glob)
	if err != nil {
		return nil, err
	}
	var st unix.Stat_t
	err = effect.Fstatat(f.dirFD, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR):
		f.observe(name, false, absent)
		return nil, nil
	case err != nil:
		return nil, pathError("read", name, err)
	}
	if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFREG && kind != unix.S_IFLNK {
		return nil, kindError(name, st.Mode)
	}
	return []string{name}, nil
}

// walk is one search for the matches of a glob.
type walk struct {
	files *Files
	glob  string
	parts []string
	plain bool // compare component by component
	all   bool // everything matches
	found []string
}

// dir searches one directory, depth components below the root.
func (w *walk) dir(dir string, depth int) error {
	names, err := w.files.list(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if dir != "" {
		dir += "/"
	}
	for _, n := range names {
		if err := w.name(dir+n.name, n, depth); err != nil {
			return err
		}
	}
	return nil
}

// name looks at one directory entry.
func (w *walk) name(p string, n dirName, depth int) error {
	if reserved(n.name) || w.files.leftOut(p) {
		return nil
	}
	last := depth == len(w.parts)-1
	if w.plain && !doublestar.MatchUnvalidated(w.parts[depth], n.name) {
		return nil
	}
	switch {
	case n.dir && w.plain && last:
		return nil
	case n.dir:
		return w.dir(p, depth+1)
	case !n.file || w.plain && !last:
		return nil
	}
	if w.plain || w.all || doublestar.MatchUnvalidated(w.glob, p) {
		w.found = append(w.found, p)
	}
	return nil
}

// reserved reports whether no wildcard ever matches a name.
func reserved(name string) bool {
	return name == ".git" || name == ".ufbuild" || strings.HasPrefix(name, tempPrefix)
}

// tempPrefix begins the names of files that ufbuild is writing beside their places. One that a killed process left is nobody's
// input.
const tempPrefix = ".ufbuild-"

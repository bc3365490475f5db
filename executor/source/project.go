package source

import (
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/executor/stamp"
)

// Project is what stat said of every file of a project at one moment: of all that git tracks or would track in the
// whole repository that the campaign is in, and of the parts of .git that decide what git does next.
type Project struct {
	top  string
	root string // the campaign's
	skip []string
	seen []projectFile // sorted by path
	// older says that the list of files is older than the first look, which was not before a time of the file system: what came to be
	// before that was there.
	older bool
	at    int64
}

type projectFile struct {
	path string
	sig  signature
}

// ProjectChange is a file that was made, changed or removed between two looks.
type ProjectChange struct {
	Path string // slash path relative to the campaign root; ../ leads to the rest of the repository
	What string // "made", "changed" or "removed"
	// At is when, by the clock of the file system; of what was removed the last change of its directory.
	At time.Time
}

// maxProject bounds how many files are looked at: beyond it a look takes as long as a short task.
const maxProject = 200_000

// Project looks at the project that the campaign at the root of f belongs to. Paths of skip, below the root, are left out with all that is
// below them. It reads no file. Which files there are f may know: it takes two to ten milliseconds to ask git.
func (f *Files) Project(skip ...string) (*Project, error) {
	p := &Project{top: repositoryTop(f.root), root: f.root, at: coarseNow()}
	var listed []string
	if whole := f.repo.Load().whole.Swap(nil); whole != nil && p.top == f.root {
		listed, p.older = *whole, true
	}
	at, err := filepath.Rel(p.top, f.root)
	if err != nil {
		return nil, fmt.Errorf("look at project: %w", err)
	}
	for _, s := range skip {
		p.skip = append(p.skip, path.Join(filepath.ToSlash(at), s))
	}
	return p, p.look(listed)
}

// repositoryTop is the nearest directory at or above dir that has a .git, else dir.
func repositoryTop(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// look looks at files as they are listed, or lists them first.
func (p *Project) look(paths []string) error {
	f := Open(p.top, "")
	defer f.Close()
	f.LeaveOut(p.skip...)
	if err := f.ready(); err != nil {
		return err
	}
	if paths == nil {
		list := f.everyFile
		if f.underGit() {
			list = newSnapshot(f).gitFiles
		}
		var err error
		if paths, err = list(""); err != nil {
			return err
		}
	}
	paths = append(paths, gitSettings(p.top)...)
	if len(paths) > maxProject {
		return fmt.Errorf("look at project: it has %d files; more than %d are not watched", len(paths), maxProject)
	}
	paths = sortUnique(paths)
	seen := make([]projectFile, len(paths))
	err := Each(len(paths), func(i int) error {
		if !f.leftOut(paths[i]) {
			seen[i] = projectFile{paths[i], stamp.Stat(f.dirFD, paths[i], false)}
		}
		return nil
	})
	p.seen = slices.DeleteFunc(seen, func(f projectFile) bool { return f.sig == absent })
	return err
}

// gitSettings are the files of a repository by which somebody could make git do what its owner did not ask for, and
// those that say which commits its branches are. The index is none of them: looking at a repository rewrites it.
func gitSettings(top string) []string {
	out := []string{".git/HEAD", ".git/config", ".git/packed-refs", ".git/info/attributes"}
	for _, dir := range []string{".git/hooks", ".git/refs/heads"} {
		_ = filepath.WalkDir(filepath.Join(top, filepath.FromSlash(dir)), func(at string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // what cannot be looked at is not watched
			}
			if rel, err := filepath.Rel(top, at); err == nil {
				out = append(out, filepath.ToSlash(rel))
			}
			return nil
		})
	}
	return out
}

// Changes looks again and returns what is different, sorted by path.
func (p *Project) Changes() ([]ProjectChange, error) {
	now := &Project{top: p.top, root: p.root, skip: p.skip}
	if err := now.look(nil); err != nil {
		return nil, err
	}
	var out []ProjectChange
	for was, is := range pairs(p.seen, now.seen) {
		if was == is {
			continue
		}
		name := max(was.path, is.path)
		c := ProjectChange{What: "changed", At: time.Unix(0, is.sig.Change)}
		switch {
		case was.sig == absent && p.older && is.sig.Change < p.at:
			continue
		case was.sig == absent:
			c.What = "made"
		case is.sig == absent:
			c.What, c.At = "removed", p.lastChange(path.Dir(name))
		}
		rel, err := filepath.Rel(p.root, filepath.Join(p.top, filepath.FromSlash(name)))
		if err != nil {
			return nil, fmt.Errorf("look at project: %w", err)
		}
		c.Path = filepath.ToSlash(rel)
		out = append(out, c)
	}
	return out, nil
}

// pairs are the files of two looks, each with what has the same path in the other, or with nothing.
func pairs(a, b []projectFile) iter.Seq2[projectFile, projectFile] {
	return func(yield func(was, is projectFile) bool) {
		for i, j := 0, 0; i < len(a) || j < len(b); {
			var was, is projectFile
			if i < len(a) && (j == len(b) || a[i].path <= b[j].path) {
				was = a[i]
			}
			if j < len(b) && (i == len(a) || b[j].path <= a[i].path) {
				is = b[j]
			}
			if was.path != "" {
				i++
			}
			if is.path != "" {
				j++
			}
			if !yield(was, is) {
				return
			}
		}
	}
}

// lastChange is when the nearest directory that is still there was changed.
func (p *Project) lastChange(dir string) time.Time {
	for ; ; dir = path.Dir(dir) {
		var st unix.Stat_t
		err := unix.Lstat(filepath.Join(p.top, filepath.FromSlash(dir)), &st)
		if err == nil {
			return time.Unix(0, st.Ctim.Nano())
		}
		if dir == "." || !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) {
			return time.Time{}
		}
	}
}

package source

import (
	"errors"
	"fmt"
	"maps"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/executor/stamp"
)

// asked is what was learned on the way to the list of a snapshot.
type asked struct {
	trees  []string // working trees that git was asked about: the root, and those nested in it
	pieces []string // directories that git named in one piece
	gone   []string // tracked, but not there
}

func (a asked) equal(b asked) bool {
	return slices.Equal(a.trees, b.trees) && slices.Equal(a.pieces, b.pieces) && slices.Equal(a.gone, b.gone)
}

// observeRepo observes everything that the list of the snapshot depends on beside the files in it: index, ignore files,
// settings of git, and every directory where a new file would be part of it. It is false when stat cannot see all of
// that, or when git says something else by now. Nothing is observed where nobody asked for a snapshot.
func (f *Files) observeRepo() bool {
	if !f.repoAsked.Load() {
		return true
	}
	s := f.repo.Load()
	if s.renewed || s.err != nil { // renewed: what was answered before is of another one
		return false
	}
	w := &gitState{files: f, of: s, seen: map[watchKey]signature{}}
	if !f.underGit() {
		for dir := f.root; ; dir = filepath.Dir(dir) {
			w.see(filepath.Join(dir, ".git"))
			if dir == filepath.Dir(dir) {
				return true
			}
		}
	}
	begun := coarseNow()
	same := make(chan bool, 1)
	go func() { same <- s.saysTheSame() }() // nothing changes between begun and the end, or it does not matter what is said
	for _, at := range s.asked.trees {
		if !w.tree(at) {
			<-same // its programs are gone
			return false
		}
	}
	return <-same && w.settled(begun)
}

// saysTheSame asks git once more.
func (s *snapshot) saysTheSame() bool {
	again := Open(s.files.root, "")
	defer again.Close()
	again.LeaveOut(s.files.leaveOut...)
	if again.ready() != nil {
		return false
	}
	other := again.repo.Load()
	list, err := other.paths()
	return err == nil && slices.Equal(list, s.list) && other.asked.equal(s.asked) &&
		maps.Equal(other.large, s.large) && maps.Equal(other.empty, s.empty)
}

// gitState gathers what answers of git depend on. Paths are relative to the root of files, or absolute.
type gitState struct {
	files *Files
	of    *snapshot
	full  map[string]bool // directories that hold something of the snapshot
	seen  map[watchKey]signature
}

// see observes a path, and what it leads to when it is a link.
func (w *gitState) see(paths ...string) {
	for _, p := range paths {
		for _, follow := range []bool{false, true} {
			w.put(p, follow, stamp.Stat(w.files.dirFD, p, follow))
		}
	}
}

func (w *gitState) put(p string, follow bool, sig signature) {
	w.seen[watchKey{p, follow}] = sig
	w.files.observe(p, follow, sig)
}

// settled reports whether all that was seen is as it was, and was so before begun.
func (w *gitState) settled(begun int64) bool {
	for k, sig := range w.seen {
		if sig.Newest() >= begun || stamp.Stat(w.files.dirFD, k.path, k.follow) != sig {
			return false
		}
	}
	return true
}

// isDir reports whether a path leads to a directory.
func (w *gitState) isDir(p string) bool {
	return stamp.Stat(w.files.dirFD, p, true).Mode&unix.S_IFMT == unix.S_IFDIR
}

// repository observes what makes dir a working tree of its own, or keeps it from being one. The directory .git itself
// changes whenever git looks for a lock, so only what counts in it is observed.
func (w *gitState) repository(dir string) {
	git := path.Join(dir, ".git")
	if !w.isDir(git) {
		w.see(git)
		return
	}
	if sig := stamp.Stat(w.files.dirFD, git, false); sig.Mode&unix.S_IFMT == unix.S_IFLNK {
		w.put(git, false, sig)
	}
	w.see(git + "/HEAD")
	w.bare(git)
}

// bare observes what dir lacks of a repository.
func (w *gitState) bare(dir string) {
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if p := path.Join(dir, name); stamp.Stat(w.files.dirFD, p, true) == absent {
			w.see(p)
		}
	}
}

// ruling are the files in a working tree that say what belongs to it and how.
var ruling = []string{".gitignore", ".gitattributes"}

// tree observes what decides about the files of one working tree. It is false where that is more than is known here.
func (w *gitState) tree(at string) bool {
	told, err := w.ask(at)
	said := strings.Split(strings.TrimSuffix(told.paths, "\n"), "\n")
	if err != nil || len(said) != 9 || strings.Trim(said[0], "./") != "" || strings.HasPrefix(said[0], "/") {
		return false // a name with a line feed, or a working tree that is not around its repository
	}
	for _, p := range said[1:] {
		w.see(from(at, p))
	}
	dir := path.Join(at, ".")
	for range strings.Count(said[0], "..") {
		w.repository(dir)
		w.bare(dir)
		dir = path.Join(dir, "..")
		for _, name := range ruling {
			w.see(path.Join(dir, name))
		}
	}
	w.repository(dir)
	for _, p := range w.of.asked.gone {
		w.see(p)
	}
	return w.settings(told, dir) && w.directories(at)
}

// told is what git says about itself in a working tree.
type told struct {
	paths    string // where the files are that it goes by, each in a line
	programs string
	settings []string // an origin, a key and its value, in turn
}

// ask asks git all of that at once.
func (w *gitState) ask(at string) (t told, err error) {
	var errs [3]error
	var wg sync.WaitGroup
	wg.Go(func() {
		t.paths, errs[0] = w.files.gitOutput(at, "", "rev-parse", "--show-cdup",
			"--git-path", "HEAD", "--git-path", "commondir", "--git-path", "index", "--git-path", "config", "--git-path", "config.worktree",
			"--git-path", "info/exclude", "--git-path", "info/attributes", "--git-path", "info/sparse-checkout")
	})
	wg.Go(func() { t.programs, errs[1] = w.files.gitOutput(at, "", "--exec-path") })
	wg.Go(func() { t.settings, errs[2] = w.files.git(at, "", "config", "--list", "--show-origin", "-z") })
	wg.Wait()
	return t, errors.Join(errs[:]...)
}

// from is a path that git printed in the directory at.
func from(at, p string) string {
	if path.IsAbs(p) {
		return p
	}
	return path.Join(at, p)
}

// directories observes every directory of a working tree in which a new file would be part of the snapshot.
func (w *gitState) directories(at string) bool {
	if w.full == nil {
		w.full = map[string]bool{}
		for _, p := range w.of.list {
			for dir := path.Dir(p); !w.full[dir]; dir = path.Dir(dir) {
				w.full[dir] = true
			}
		}
	}
	for next := []string{path.Join(at, ".")}; len(next) > 0; {
		var doubtful []string // nothing of the snapshot is in them: ignored, or merely empty
		for _, dir := range next {
			if !w.directory(dir, &doubtful) {
				return false
			}
		}
		var err error
		if next, err = w.notIgnored(at, doubtful); err != nil {
			return false
		}
	}
	return true
}

// directory observes one directory and those in it that hold something of the snapshot; the others it adds to doubtful.
func (w *gitState) directory(dir string, doubtful *[]string) bool {
	names, err := w.files.list(dir)
	if err != nil {
		return false
	}
	w.put(path.Clean(dir), true, stamp.Stat(w.files.dirFD, dir, true))
	for _, n := range names {
		p := path.Join(dir, n.name)
		switch {
		case n.name == ".git":
			w.repository(dir)
		case slices.Contains(w.of.asked.pieces, p):
			w.repository(p)
		case slices.Contains(ruling, n.name):
			w.see(p)
		case !n.dir || reserved(n.name) || w.files.leftOut(p):
		case !w.full[p]:
			*doubtful = append(*doubtful, p)
		case !w.directory(p, doubtful):
			return false
		}
	}
	return true
}

// notIgnored returns those directories of a working tree that git does not ignore.
func (w *gitState) notIgnored(at string, dirs []string) ([]string, error) {
	if len(dirs) == 0 {
		return nil, nil
	}
	var ask strings.Builder
	for _, d := range dirs {
		ask.WriteString("./" + strings.TrimPrefix(strings.TrimPrefix(d, at), "/") + "\x00")
	}
	said, err := w.files.git(at, ask.String(), "check-ignore", "-v", "-z", "--stdin")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return dirs, nil // not one of them
	}
	if err == nil && len(said)%4 != 0 {
		err = fmt.Errorf("read what git ignores: %d fields", len(said))
	}
	if err != nil {
		return nil, err
	}
	ignored := map[string]bool{}
	for ; len(said) > 0; said = said[4:] { // the file, the line and the pattern that decides; the path
		// Before 2.26, git also named what a pattern takes back, as it still does with -v.
		ignored[path.Join(at, said[3])] = !strings.HasPrefix(said[2], "!")
	}
	return slices.DeleteFunc(dirs, func(d string) bool { return ignored[d] }), nil
}

package source

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/lang"
)

// Repo returns the snapshot of the project: every file that git tracks or would track below the root,
// submodules as checked-out files, as they are in the working tree whatever branch is checked out. What a sparse
// checkout leaves out is not there; a file that Git LFS has not fetched is an error. Without git it is every file. What [Files.LeaveOut] names is left out; include and exclude narrow
// it as in [Files.Glob], and a glob that matches a directory stands for everything below it. Links
// stay links.
//
// Which files there are is asked once and remembered, and so is what is in them: one build sees one
// snapshot, until [Files.Renew] finds that it does not hold. Errors: trouble with git, a submodule that is not
// initialised, a link that leaves the root, an unreadable file.
func (f *Files) Repo(include, exclude []string) ([]File, error) {
	files, _, err := f.RepoNow(include, exclude)
	return files, err
}

// RepoNow is Repo, and says whether all of them were looked at just now: [Files.GlobSeen] need not look at them again.
func (f *Files) RepoNow(include, exclude []string) (files []File, now bool, err error) {
	if err := f.ready(); err != nil {
		return nil, false, err
	}
	for _, g := range append(include[:len(include):len(include)], exclude...) {
		if err := checkGlob(g); err != nil {
			return nil, false, err
		}
	}
	f.repoAsked.Store(true)
	s := f.repo.Load()
	s.listed.Do(func() { s.list, s.err = s.paths() })
	if s.err != nil {
		return nil, false, s.err
	}
	var paths []string
	for _, p := range s.list {
		if (len(include) == 0 || lang.Excluded(p, include)) && !lang.Excluded(p, exclude) {
			paths = append(paths, p)
		}
	}
	for _, p := range paths {
		if s.empty[p] {
			return nil, false, fmt.Errorf("read submodule %s: it is not initialised\nhint: git submodule update --init %s, or leave it out with workspace.exclude", p, p)
		}
	}
	if err := s.checkLarge(paths); err != nil {
		return nil, false, err
	}
	return s.look(paths)
}

// Renew is for who found that the file at path is not what f said of it. When the snapshot of the project says so still,
// another one is taken for whoever asks next, as a build that began now would: all of it, since what one edit changes belongs together.
func (f *Files) Renew(path string) {
	s := f.repo.Load()
	s.mu.Lock()
	was, ok := s.seen[path]
	s.mu.Unlock()
	if !ok {
		return
	}
	is, err := f.look(path, keepLinks)
	if err == nil && is == was || errors.Is(err, fs.ErrNotExist) && was.Path == "" {
		return // it is another one by now
	}
	again := newSnapshot(f)
	again.renewed = true
	f.repo.CompareAndSwap(s, again)
}

// snapshot is the project as it was at one moment.
type snapshot struct {
	files   *Files
	renewed bool // it is not the first one

	listed sync.Once
	list   []string
	err    error
	asked  asked                    // written once, with list; the same holds for the next two
	large  map[string]bool          // kept by Git LFS
	empty  map[string]bool          // submodules that are not checked out
	whole  atomic.Pointer[[]string] // what list is without those that were left out, for who asks first

	mu   sync.Mutex
	seen map[string]File // without a path: not there
}

func newSnapshot(f *Files) *snapshot {
	return &snapshot{files: f, large: map[string]bool{}, empty: map[string]bool{}, seen: map[string]File{}}
}

// look answers for paths, each looked at once in the life of s; now says that it was for all of them.
func (s *snapshot) look(paths []string) (files []File, now bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ask []string
	for _, p := range paths {
		if _, ok := s.seen[p]; !ok {
			ask = append(ask, p)
		}
	}
	found, err := s.files.lookAll(ask, keepLinks, nil)
	if err != nil {
		return nil, false, err
	}
	for _, p := range ask {
		s.seen[p] = File{} // deleted, unless found
	}
	for _, file := range found {
		s.seen[file.Path] = file
	}
	files = make([]File, 0, len(paths))
	for _, p := range paths {
		if file := s.seen[p]; file.Path != "" {
			files = append(files, file)
		}
	}
	return files, len(ask) == len(paths), nil
}

// paths lists the project, sorted.
func (s *snapshot) paths() ([]string, error) {
	f := s.files
	var paths []string
	var err error
	if f.underGit() {
		paths, err = s.gitFiles("")
	} else {
		paths, err = f.everyFile("")
	}
	if err != nil {
		return nil, err
	}
	if s.asked.trees != nil { // the walk without git leaves out itself
		whole := slices.Clone(paths)
		s.whole.Store(&whole)
	}
	kept := paths[:0]
	for _, p := range paths {
		if !f.leftOut(p) && !hasReserved(p) {
			kept = append(kept, p)
		}
	}
	return sortUnique(kept), nil
}

// hasReserved reports whether a component of path is never part of a project.
func hasReserved(p string) bool {
	for part := range strings.SplitSeq(p, "/") {
		if reserved(part) {
			return true
		}
	}
	return false
}

// underGit reports whether the root is in the working tree of a repository.
func (f *Files) underGit() bool {
	for dir := f.root; ; dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
	}
}

// everyFile lists all files below dir.
func (f *Files) everyFile(dir string) ([]string, error) {
	w := walk{files: f, glob: path.Join(escape(dir), "**"), parts: []string{"**"}, all: true}
	err := w.dir(dir, 0)
	return w.found, err
}

// Exactly is a glob that matches one path.
func Exactly(p string) string { return escape(p) }

// escape makes a path match itself alone.
func escape(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `{`, `\{`).Replace(p)
}

// gitFiles lists what git tracks or would track below the directory at, itself the root or the top of
// a nested working tree.
func (s *snapshot) gitFiles(at string) ([]string, error) {
	s.asked.trees = append(s.asked.trees, at)
	names, err := s.files.lsFiles(at)
	if err != nil {
		return nil, err
	}
	if err := s.findLarge(at, names); err != nil {
		return nil, err
	}
	var paths []string
	for _, name := range names {
		p := path.Join(at, name)
		var st unix.Stat_t
		err := effect.Fstatat(s.files.dirFD, p, &st, unix.AT_SYMLINK_NOFOLLOW)
		switch {
		case errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR):
			s.asked.gone = append(s.asked.gone, p) // tracked, but deleted
			continue
		case err != nil:
			return nil, pathError("read", p, err)
		case st.Mode&unix.S_IFMT != unix.S_IFDIR:
			paths = append(paths, p)
			continue
		}
		nested, err := s.nested(at, name)
		if err != nil {
			return nil, err
		}
		paths = append(paths, nested...)
	}
	return paths, nil
}

// nested lists a directory that git names in one piece, below the working tree at: a submodule, or a repository that nobody told
// git about. Of a directory where git tracks a file there is nothing to list: git names what is in it by itself.
func (s *snapshot) nested(at, name string) ([]string, error) {
	dir := path.Join(at, name)
	if s.files.leftOut(dir) {
		return nil, nil
	}
	link, err := os.ReadFile(filepath.Join(s.files.root, filepath.FromSlash(dir), ".git"))
	if errors.Is(err, fs.ErrNotExist) {
		module, err := s.files.isSubmodule(at, name)
		if err != nil {
			return nil, err
		}
		if !module {
			s.asked.gone = append(s.asked.gone, dir)
			return nil, nil
		}
		s.asked.pieces = append(s.asked.pieces, dir)
		s.empty[dir] = true // an error for whoever wants what is in it
		return []string{dir}, nil
	}
	s.asked.pieces = append(s.asked.pieces, dir)
	if err == nil && filepath.Base(filepath.Dir(strings.TrimSpace(string(link)))) == "worktrees" {
		return nil, nil // a second working tree of some repository is no part of this one
	}
	return s.gitFiles(dir)
}

// isSubmodule reports whether what git tracks by that name in the working tree at is a commit of another repository.
func (f *Files) isSubmodule(at, name string) (bool, error) {
	staged, err := f.git(at, "", "ls-files", "-z", "--stage", "--", ":(literal)"+strings.TrimSuffix(name, "/"))
	return slices.ContainsFunc(staged, func(line string) bool { return strings.HasPrefix(line, "160000 ") }), err
}

// lsFiles asks git for the files of a working tree.
func (f *Files) lsFiles(at string) ([]string, error) {
	return f.git(at, "", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
}

// git asks git, in a directory below the root, for an answer whose parts end in NUL.
func (f *Files) git(at, stdin string, args ...string) ([]string, error) {
	said, err := f.gitOutput(at, stdin, args...)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(said, "\x00")
	return parts[:len(parts)-1], nil
}

func (f *Files) gitOutput(at, stdin string, args ...string) (string, error) {
	// Looking runs nothing and leaves nothing running: a monitor that the repository's settings name would be asked, or started.
	cmd := exec.Command("git", append([]string{"-c", "core.fsmonitor="}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	cmd.Dir = filepath.Join(f.root, filepath.FromSlash(at))
	// In a git hook GIT_DIR and its kin speak of another repository or index.
	for _, v := range cmd.Environ() {
		if !strings.HasPrefix(v, "GIT_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := effect.Before(effect.OpStart, cmd.Path); err != nil {
		return "", fmt.Errorf("list project files: %w", err)
	}
	out, err := cmd.Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", errors.New("list project files: the root is a git working tree, but there is no git program\nhint: install git, or use workspace mode \"inputs\"")
	}
	if err != nil {
		return "", fmt.Errorf("list project files: git %s: %w: %s", args[0], err, strings.TrimSpace(stderr.String()))
	}
	return string(out), nil
}

package source

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/stamp"
)

// project is a repository with a submodule, another repository that git was not told of, a second working tree, ignored
// files, and a campaign in a directory of it.
type project struct {
	t               *testing.T
	base, top, root string
	r               *rand.Rand
	written         int
}

func newProject(t *testing.T, root string) *project {
	base := t.TempDir()
	p := &project{t: t, base: base, top: filepath.Join(base, "top"), root: filepath.Join(base, root), r: rand.New(rand.NewPCG(7, 7))}
	t.Setenv("HOME", filepath.Join(base, "home"))
	t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(base, "home", ".gitconfig"))
	p.put("home/.gitconfig", "[user]\nname = a\nemail = a@b\n[protocol \"file\"]\nallow = always\n[core]\nexcludesFile = ~/excludes\n[include]\npath = more\n")
	p.put("home/others", "fresh\nnew\n")
	p.put("lib/code.c", "lib")
	p.git("lib", "init", "-q")
	p.git("lib", "add", ".")
	p.git("lib", "commit", "-qm", "lib")
	p.put("top/.gitignore", "*.log\nbuild/\n")
	p.put("top/README", "readme")
	p.put("top/audit/src/a", "a")
	p.put("top/audit/src/deep/b", "b")
	p.put("top/audit/build/made", "m")
	p.put("top/audit/out/o", "o")
	p.put("top/audit/.ufbuild/journal.log", "j")
	p.git("top", "init", "-q")
	p.git("top", "submodule", "--quiet", "add", filepath.Join(base, "lib"), "audit/sub")
	p.git("top", "add", ".")
	p.git("top", "commit", "-qm", "all")
	p.git("top", "worktree", "add", "-q", "-b", "second", "../second")
	p.git("top/audit", "init", "-q", "own")
	p.put("top/audit/own/x", "x")
	p.mkdir("top/audit/empty/er")
	p.put("top/audit/quiet/.gitignore", ".gitignore\nx\n")
	p.put("top/audit/quiet/x", "x")
	p.put("top/audit/loose/x.log", "x")
	p.mkdir("top/audit/dir.log")
	return p
}

func (p *project) path(name string) string { return filepath.Join(p.base, name) }

// mkdir and put leave alone what other edits left in their way.
func (p *project) mkdir(name string) { _ = os.MkdirAll(p.path(name), 0o755) }

func (p *project) put(name, text string) {
	p.mkdir(filepath.Dir(name))
	_ = os.WriteFile(p.path(name), []byte(text), 0o644)
}

// try is for edits that need something that another one may have taken away.
func (p *project) try(dir string, args ...string) {
	_ = exec.Command("git", append([]string{"-C", p.path(dir)}, args...)...).Run()
}

func (p *project) git(dir string, args ...string) {
	out, err := exec.Command("git", append([]string{"-C", p.path(dir)}, args...)...).CombinedOutput()
	require.NoError(p.t, err, "%v: %s", args, out)
}

func (p *project) files() *Files {
	f := Open(p.root, "")
	f.LeaveOut("out", ".ufbuild", "audit/out", "audit/.ufbuild")
	return f
}

// kept is a stamp of a snapshot, and the snapshot; nil when there is none.
func (p *project) kept() (*stamp.Kept, []File) {
	var seen []stamp.Observation
	var list []File
	ok := false
	for begun := time.Now(); !ok && time.Since(begun) < 5*time.Second; {
		f := p.files()
		f.cacheFile = filepath.Join(p.base, "stat")
		f.Watch()
		var err error
		if list, err = f.Repo(nil, nil); err == nil {
			require.NoError(p.t, f.Save())
			seen, ok = f.Observed()
		}
		require.NoError(p.t, f.Close())
		if err != nil {
			return nil, nil
		}
	}
	require.True(p.t, ok, "nothing is written, and there is still no stamp")
	k, err := stamp.Decode((&stamp.Stamp{Seen: seen}).Encode())
	require.NoError(p.t, err)
	return k, list
}

// snapshot is what Repo says to somebody who knows nothing.
func (p *project) snapshot() ([]File, error) {
	f := p.files()
	defer f.Close()
	return f.Repo(nil, nil)
}

// edit is something that people do. What it says of the snapshot is found out, not told.
type edit struct {
	name string
	do   func(p *project)
	same bool // stat has to see that nothing changed
}

func writing(name string) func(*project) {
	return func(p *project) { p.written++; p.put(name, fmt.Sprint(p.written)) }
}

func removing(name string) func(*project) {
	return func(p *project) { require.NoError(p.t, os.RemoveAll(p.path(name))) }
}

func running(dir string, args ...string) func(*project) {
	return func(p *project) { p.try(dir, args...) }
}

// later puts files of a repository that is not one yet in place without a change of the directory around it.
func later(p *project) {
	if _, err := os.Stat(p.path("top/audit/loose/.git")); err == nil {
		p.try("top/audit/loose", "init", "-q")
		return
	}
	p.mkdir("top/audit/loose/.git")
}

var edits = []edit{
	{"an untracked file", writing("top/audit/src/new"), false},
	{"an untracked file in a directory that was empty", writing("top/audit/empty/er/new"), false},
	{"an untracked file in a new directory", writing("top/audit/fresh/new"), false},
	{"an untracked file is gone", removing("top/audit/src/new"), false},
	{"a file that is ignored", writing("top/audit/build/more"), true},
	{"a file in the state of ufbuild", writing("top/audit/.ufbuild/more"), true},
	{"a file of outputs", writing("top/audit/out/more"), true},
	{"git add of what is ignored", running("top", "add", "-f", "audit/build/made"), false},
	{"what is ignored and tracked is gone", removing("top/audit/build/made"), false},
	{"what is ignored and tracked is back", writing("top/audit/build/made"), false},
	{"a tracked directory becomes a link to what is ignored", func(p *project) {
		removing("top/audit/src/deep")(p)
		_ = os.Symlink("../dir.log", p.path("top/audit/src/deep"))
	}, false},
	{"a file where that leads", writing("top/audit/dir.log/b"), false},
	{"the directory is back", func(p *project) { removing("top/audit/src/deep")(p); p.try("top", "checkout", "-q", ".") }, false},
	{"a file beside the campaign", writing("top/other/file"), false},
	{"an edit", writing("top/audit/src/a"), false},
	{"an edit of as many bytes", func(p *project) { p.put("top/audit/src/a", fmt.Sprintf("%08d", p.r.IntN(1e8))) }, false},
	{"another file of the same size and time", func(p *project) {
		st, err := os.Stat(p.path("top/audit/src/deep/b"))
		if err != nil {
			return
		}
		p.put("top/audit/src/deep/b.new", fmt.Sprint(p.r.IntN(10)))
		_ = os.Chtimes(p.path("top/audit/src/deep/b.new"), st.ModTime(), st.ModTime())
		_ = os.Rename(p.path("top/audit/src/deep/b.new"), p.path("top/audit/src/deep/b"))
	}, false},
	{"chmod", func(p *project) { _ = os.Chmod(p.path("top/audit/src/a"), os.FileMode(0o700+p.r.IntN(2)*0o44)) }, false},
	{"a file becomes a link", func(p *project) {
		_ = os.Remove(p.path("top/audit/src/a"))
		_ = os.Symlink("deep/b", p.path("top/audit/src/a"))
	}, false},
	{"a directory becomes a file", func(p *project) { removing("top/audit/fresh")(p); writing("top/audit/fresh")(p) }, false},
	{"a file becomes a directory", func(p *project) { removing("top/audit/fresh")(p); p.mkdir("top/audit/fresh") }, false},
	{"a tracked file is removed", removing("top/audit/src/deep"), false},
	{"all is checked out again", running("top", "checkout", "-q", "."), false},
	{".gitignore at the top", writing("top/.gitignore"), false},
	{".gitignore ignores the sources", func(p *project) { p.put("top/.gitignore", "new\n") }, false},
	{".gitignore of the campaign", func(p *project) { p.put("top/audit/.gitignore", "empty\nown\n") }, false},
	{".gitignore in a directory", func(p *project) { p.put("top/audit/src/.gitignore", "new\ndeep\n") }, false},
	{"no .gitignore of the campaign", removing("top/audit/.gitignore"), false},
	{"no .gitignore at the top", removing("top/.gitignore"), false},
	{"info/exclude", func(p *project) { p.put("top/.git/info/exclude", "new\n") }, false},
	{"no info/exclude", removing("top/.git/info"), false},
	{"an untracked file once more", writing("top/audit/src/new"), false},
	{"an untracked file in a directory once more", writing("top/audit/empty/er/new"), false},
	{"core.excludesFile", func(p *project) { p.put("home/excludes", "er\n") }, false},
	{"no core.excludesFile", removing("home/excludes"), false},
	{"settings without an excludes file", func(p *project) { p.put("home/.gitconfig", "[include]\npath = more\n") }, false},
	{"an excludes file where git looks unasked", func(p *project) { p.put("home/.config/git/ignore", "er\nsrc\n") }, false},
	{"an included setting", func(p *project) { p.put("home/more", "[core]\nexcludesFile = "+p.path("home/others")+"\n") }, false},
	{"what an included setting names", func(p *project) { p.put("home/others", "er\n") }, false},
	{"a setting of the repository", running("top", "config", "core.excludesFile", "../home/others"), false},
	{"no setting of the repository", running("top", "config", "--unset", "core.excludesFile"), false},
	{"git add", running("top", "add", "audit/src/new"), false},
	{"a second working tree within", running("top", "worktree", "add", "-qf", "--detach", "audit/tree"), false},
	{"which is none any more", removing("top/audit/tree/.git"), false},
	{"git rm --cached", running("top", "rm", "-rq", "--cached", "audit/src", "audit/build"), false},
	{"git reset", running("top", "reset", "-q"), false},
	{"a commit that changes no file", running("top", "commit", "-q", "--allow-empty", "-m", "x"), false},
	{"git status", running("top", "status"), false},
	{"sparse checkout", running("top", "sparse-checkout", "set", "--no-cone", "/audit/src/"), false},
	{"no sparse checkout", running("top", "sparse-checkout", "disable"), false},
	{"a branch", running("top", "checkout", "-qf", "-B", "other"), false},
	{"a file of the submodule", writing("top/audit/sub/new"), false},
	{"git add in the submodule", running("top/audit/sub", "add", "."), false},
	{"an exclude of the submodule", func(p *project) { p.put("top/.git/modules/audit/sub/info/exclude", "new\n") }, false},
	{"a file of the repository in it", writing("top/audit/own/y"), false},
	{"the repository in it is none", removing("top/audit/own/.git"), false},
	{"the beginning of a repository", later, false},
	{"a repository", later, false},
	{"the inside of a repository", func(p *project) {
		p.mkdir("top/audit/objects")
		p.mkdir("top/audit/refs")
		p.put("top/audit/HEAD", "ref: refs/heads/main\n")
	}, false},
	{"no inside of a repository", removing("top/audit/refs"), false},
	{".gitignore that ignores itself", func(p *project) { p.put("top/audit/quiet/.gitignore", ".gitignore\n") }, false},
	{".gitignore that takes directories back", func(p *project) { p.put("top/audit/.gitignore", "*\n!*/\n!*.go\n") }, false},
	{"a directory that is taken back", func(p *project) { p.mkdir("top/audit/back/deep") }, false},
	{"a file in it that is not", writing("top/audit/back/deep/x"), false},
	{"a file in it that is taken back", writing("top/audit/back/deep/x.go"), false},
	{"nothing is taken back", removing("top/audit/.gitignore"), false},
	{"attributes", func(p *project) { p.put("top/audit/.gitattributes", "*.bin filter=lfs\n") }, false},
	{"nothing at all", func(*project) {}, true},
	{"a look at the files", func(p *project) { _, _ = os.ReadDir(p.root) }, true},
	{"files of other people", writing("elsewhere/file"), true},
}

// TestStatSeesWhatGitSays proves, for each edit from a known state, that a stamp of a snapshot that still holds means the same
// snapshot, and that it holds where it has to.
func TestStatSeesWhatGitSays(t *testing.T) {
	for _, root := range []string{"top/audit", "top", "second/audit", "top/audit/sub", "top/audit/src"} {
		t.Run(root, func(t *testing.T) {
			p := newProject(t, root)
			for _, e := range edits {
				require.True(t, p.round(e) || !e.same, e.name)
			}
		})
	}
}

// TestStatSeesWhatGitSaysInAnyOrder does the same with edits in random order.
func TestStatSeesWhatGitSaysInAnyOrder(t *testing.T) {
	p := newProject(t, "top/audit")
	n := 100
	if testing.Short() {
		n = 30
	}
	held := 0
	for range n {
		e := edits[p.r.IntN(len(edits))]
		if p.round(e) {
			held++
		}
	}
	require.NotZero(t, held)
	require.Less(t, held, n)
}

// round makes one edit, and reports whether a stamp from before it holds.
func (p *project) round(e edit) bool {
	k, before := p.kept()
	if k == nil {
		e.do(p) // there is trouble with the snapshot
		return true
	}
	e.do(p)
	if !stamp.Holds(k, p.root) {
		return false
	}
	after, err := p.snapshot()
	require.NoError(p.t, err, e.name)
	require.Equal(p.t, before, after, e.name)
	return true
}

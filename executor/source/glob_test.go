package source

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestGlob(t *testing.T) {
	root := lay(t, "a.txt", "b.txt", "c.md", "src/x.go", "src/deep/y.go", "src/deep/z.txt", ".hidden",
		"out/i/a.txt", "out2/k", ".git/config", ".ufbuild/j", ".ufbuild-new", "src/.ufbuild-export-1", "src/.git", "empty/", "with space@+ü", "skip.txt",
		"link->a.txt", "src/up->../a.txt", "src/ldir->deep", "br{ace")
	require.NoError(t, unix.Mkfifo(filepath.Join(root, "pipe"), 0o644))
	f := Open(root, "")
	defer f.Close()
	f.LeaveOut("out/", "skip.txt")

	for _, c := range []struct {
		globs, excludes, want []string
	}{
		{[]string{"*.txt"}, nil, []string{"a.txt", "b.txt"}},
		{[]string{"b.txt", "a.txt", "*.txt", "./a.txt"}, nil, []string{"a.txt", "b.txt"}},
		{[]string{"src/*"}, nil, []string{"src/ldir->deep", "src/up", "src/x.go"}},
		{[]string{"src/**"}, nil, []string{"src/deep/y.go", "src/deep/z.txt", "src/ldir->deep", "src/up", "src/x.go"}},
		{[]string{"src/*/*"}, nil, []string{"src/deep/y.go", "src/deep/z.txt"}},
		{[]string{"src/ldir/*.go"}, nil, []string{"src/ldir/y.go"}},
		{[]string{"**/*.{go,md}"}, nil, []string{"c.md", "src/deep/y.go", "src/x.go"}},
		{[]string{"{src/deep,out2}/*"}, nil, []string{"out2/k", "src/deep/y.go", "src/deep/z.txt"}},
		{[]string{"**"}, []string{"src", "*.txt", "[l-v]*"}, []string{".hidden", "br{ace", "c.md", "with space@+ü"}},
		{[]string{"**"}, []string{"src/", "**/*.txt", "out2/**", "c.md"}, []string{".hidden", "br{ace", "link", "with space@+ü"}},
		{[]string{"out/**", "out/i/*", ".git/*", ".ufbuild/*"}, nil, []string{}},
		{[]string{"out/i/a.txt"}, nil, []string{"out/i/a.txt"}},
		{[]string{"link", "a.txt"}, nil, []string{"a.txt", "link->a.txt"}},
		{[]string{"link"}, nil, []string{"link"}},
		{[]string{"none", "none/*", "a.txt/*", "empty/*", "empty/**"}, nil, []string{}},
		{[]string{`br\{*`}, nil, []string{"br{ace"}},
		{[]string{"?.txt"}, nil, []string{"a.txt", "b.txt"}},
		{nil, nil, []string{}},
	} {
		got, err := f.Glob(c.globs, c.excludes)
		require.NoError(t, err, c.globs)
		require.Equal(t, c.want, names(got), "%q less %q", c.globs, c.excludes)
	}
	for glob, want := range map[string]string{
		"../*": "leaves", "/etc/*": "absolute", "a/../../b": "leaves", "[": "malformed", "src": "hint: name its files, as in src/**",
		"pipe": "named pipe", "": "empty",
	} {
		_, err := f.Glob([]string{glob}, nil)
		require.ErrorContains(t, err, want, glob)
	}
	_, err := f.Glob([]string{"a.txt"}, []string{"../x"})
	require.ErrorContains(t, err, "leaves")
}

// Membership is asked anew each time, whatever was listed before.
func TestGlobSeesNewFiles(t *testing.T) {
	root := lay(t, "d/a", "d/e/b")
	f := Open(root, "")
	defer f.Close()
	see := func(want ...string) {
		t.Helper()
		got, err := f.Glob([]string{"d/**"}, nil)
		require.NoError(t, err)
		require.Equal(t, want, names(got))
	}
	see("d/a", "d/e/b")
	tick()
	see("d/a", "d/e/b")
	write(t, root, "d/e/c")
	see("d/a", "d/e/b", "d/e/c")
	require.NoError(t, os.Remove(filepath.Join(root, "d/a")))
	see("d/e/b", "d/e/c")
	a, err := os.ReadFile(filepath.Join(root, "d/e/b"))
	require.NoError(t, err)
	write(t, root, "d/e/b=d/e/c")
	write(t, root, "d/e/c="+string(a))
	got, err := f.Glob([]string{"d/**"}, nil)
	require.NoError(t, err)
	require.NotEqual(t, got[0].Digest, got[1].Digest)
}

func TestLinkOutOfRoot(t *testing.T) {
	elsewhere := lay(t, "secret")
	root := lay(t, "l->"+elsewhere+"/secret", "ok", "disk->"+elsewhere)
	f := Open(root, "")
	defer f.Close()
	_, err := f.Glob([]string{"*"}, nil)
	require.ErrorContains(t, err, "the link leaves the campaign root")
	_, err = f.Glob([]string{"disk/*"}, nil)
	require.ErrorContains(t, err, "the link leaves the campaign root")
	_, err = f.File("disk/secret")
	require.ErrorContains(t, err, "the link leaves the campaign root")
	f.LeadOut("disk")
	got, err := f.File("disk/secret")
	require.NoError(t, err)
	require.Equal(t, "disk/secret", got.Path)
}

func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "protocol.file.allow=always", "-c", "user.name=t", "-c", "user.email=t@t"}, args...)...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

func repoNames(t *testing.T, root string, include, exclude []string, leaveOut ...string) []string {
	t.Helper()
	f := Open(root, "")
	defer f.Close()
	f.LeaveOut(leaveOut...)
	files, err := f.Repo(include, exclude)
	require.NoError(t, err)
	return names(files)
}

func TestRepoWithoutGit(t *testing.T) {
	root := lay(t, "a", "d/b", "out/x", ".ufbuild/y", "campaign.hcl", ".gitignore=d", "l->a", "ld->d")
	require.Equal(t, []string{".gitignore", "a", "d/b", "l->a", "ld->d"}, repoNames(t, root, nil, nil, "out", "campaign.hcl"))
	require.Equal(t, []string{"d/b"}, repoNames(t, root, []string{"d"}, nil))
	require.Equal(t, []string{"a"}, repoNames(t, root, []string{"a", "d/**"}, []string{"d"}))
}

func TestRepoWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	top := lay(t, ".gitignore=*.log\n", "tracked", "gone", "new ü", "x.log", "sub/campaign.hcl", "sub/f", "sub/g.log", "sub/l->f", "out/z")
	git(t, top, "init", "-q")
	git(t, top, "add", ".gitignore", "tracked", "gone", "sub")
	require.NoError(t, os.Remove(filepath.Join(top, "gone")))
	t.Setenv("GIT_DIR", "/nowhere")
	require.Equal(t, []string{".gitignore", "new ü", "sub/campaign.hcl", "sub/f", "sub/l->f", "tracked"}, repoNames(t, top, nil, nil, "out"))
	require.Equal(t, []string{"f", "l->f"}, repoNames(t, filepath.Join(top, "sub"), nil, nil, "campaign.hcl"))

	// An ignored file that is named is a source like any other.
	f := Open(top, "")
	defer f.Close()
	got, err := f.Glob([]string{"*.log"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"x.log"}, names(got))
}

func TestRepoSubmodules(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	lib := lay(t, "lib.sol")
	git(t, lib, "init", "-q")
	git(t, lib, "add", ".")
	git(t, lib, "commit", "-q", "-m", "x")
	top := lay(t, "a", "nested/n")
	git(t, top, "init", "-q")
	git(t, top, "submodule", "add", "-q", lib, "lib/dep")
	git(t, filepath.Join(top, "nested"), "init", "-q")
	git(t, top, "add", "a")
	git(t, top, "commit", "-q", "-m", "x")
	git(t, top, "worktree", "add", "-q", ".wt/second")
	write(t, top, "lib/dep/uncommitted")
	require.Equal(t, []string{".gitmodules", "a", "lib/dep/lib.sol", "lib/dep/uncommitted", "nested/n"}, repoNames(t, top, nil, nil))

	second := filepath.Join(top, ".wt/second")
	f := Open(second, "")
	_, err := f.Repo(nil, nil)
	f.Close()
	require.ErrorContains(t, err, "submodule lib/dep: it is not initialised")
	git(t, second, "submodule", "update", "-q", "--init")
	require.Equal(t, []string{".gitmodules", "a", "lib/dep/lib.sol"}, repoNames(t, second, nil, nil))
}

// One build sees one snapshot, whatever is edited meanwhile.
func TestRepoIsASnapshot(t *testing.T) {
	root := lay(t, "a=1", "b=1")
	f := Open(root, "")
	defer f.Close()
	first, err := f.Repo(nil, []string{"b"})
	require.NoError(t, err)
	write(t, root, "a=2")
	write(t, root, "c=2")
	second, err := f.Repo(nil, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, names(second))
	require.Equal(t, first[0], second[0])
}

func BenchmarkNoChange(b *testing.B) {
	root := b.TempDir()
	var globs []string
	for i := range 10000 {
		name := filepath.Join("d"+string(rune('a'+i%26)), "f"+string(rune('a'+i/26%26))+string(rune('a'+i/676)))
		write(b, root, name)
		globs = append(globs, name)
	}
	tick()
	cacheFile := filepath.Join(b.TempDir(), "stat")
	f := Open(root, cacheFile)
	_, err := f.Glob(globs, nil)
	require.NoError(b, err)
	require.NoError(b, f.Save())
	f.Close()
	b.Run("load", func(b *testing.B) {
		for b.Loop() {
			f := Open(root, cacheFile)
			require.NoError(b, f.ready())
			f.Close()
		}
	})
	b.Run("singly", func(b *testing.B) {
		for b.Loop() {
			f := Open(root, cacheFile)
			for _, g := range globs {
				if _, err := f.File(g); err != nil {
					b.Fatal(err)
				}
			}
			require.Zero(b, f.Hashed())
			require.NoError(b, f.Save())
			f.Close()
		}
	})
	b.Run("together", func(b *testing.B) {
		for b.Loop() {
			f := Open(root, cacheFile)
			_, err := f.Glob([]string{"**"}, nil)
			require.NoError(b, err)
			require.Zero(b, f.Hashed())
			f.Close()
		}
	})
}

// TestGlobSeen wants files that were looked at a moment ago taken as they were, and links looked at, since they were not followed then.
func TestGlobSeen(t *testing.T) {
	root := t.TempDir()
	for _, name := range []string{"a", "b", "c"} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(name), 0o644))
	}
	require.NoError(t, os.Mkdir(filepath.Join(root, "in"), 0o755))
	require.NoError(t, os.Symlink("../a", filepath.Join(root, "in/link")))
	f := Open(root, "")
	defer f.Close()
	seen, now, err := f.RepoNow(nil, []string{"b"})
	require.NoError(t, err)
	require.True(t, now)
	require.Len(t, seen, 3)
	require.NoError(t, os.WriteFile(filepath.Join(root, "a"), []byte("later"), 0o644))
	got, err := f.GlobSeen([]string{"*", "in/*"}, nil, seen)
	require.NoError(t, err)
	want, err := f.Glob([]string{"*", "in/*"}, nil)
	require.NoError(t, err)
	require.Equal(t, seen[0], got[0], "as it was")
	require.NotEqual(t, want[0], got[0])
	require.Equal(t, want[1:], got[1:])
	require.Equal(t, "in/link", got[3].Path)
	require.Equal(t, "../a", got[3].Target, "what it leads to is given too")
	got, err = f.GlobSeen([]string{"in/*"}, nil, seen)
	require.NoError(t, err)
	require.Empty(t, got[0].Target, "a link alone counts as its bytes")
	_, now, err = f.RepoNow(nil, nil)
	require.NoError(t, err)
	require.False(t, now, "some were looked at before")
}

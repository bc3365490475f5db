package source

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestProjectChanges(t *testing.T) {
	for _, git := range []bool{true, false} {
		top := t.TempDir()
		root := filepath.Join(top, "audit")
		put := func(name, text string) {
			p := filepath.Join(top, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
			require.NoError(t, os.WriteFile(p, []byte(text), 0o644))
		}
		if git {
			out, err := exec.Command("git", "init", "-q", top).CombinedOutput()
			require.NoError(t, err, string(out))
		}
		put(".gitignore", "*.log\n")
		put("README", "x")
		put("audit/src/a", "a")
		put("audit/src/gone", "g")
		put("audit/build.log", "l")
		put("audit/out/x/o", "o")
		put("audit/.ufbuild/journal.log", "j")
		f := Open(root, "")
		defer f.Close()
		p, err := f.Project("out", ".ufbuild")
		require.NoError(t, err)
		same, err := p.Changes()
		require.NoError(t, err)
		require.Empty(t, same)

		before := time.Now().Add(-time.Second)
		put("README", "xy")
		put("audit/src/a", "aa")
		put("audit/src/new", "n")
		require.NoError(t, os.Remove(filepath.Join(root, "src/gone")))
		put("audit/out/x/o", "changed")
		put("audit/.ufbuild/journal.log", "more")
		if git {
			put(".git/hooks/pre-commit", "#!/bin/sh\n")
		}
		put("audit/build.log", "more")
		got, err := p.Changes()
		require.NoError(t, err)
		var words []string
		for _, c := range got {
			words = append(words, c.What+" "+c.Path)
			require.True(t, c.At.After(before) && c.At.Before(time.Now().Add(time.Second)), c.Path)
		}
		if git {
			require.Equal(t, []string{"made ../.git/hooks/pre-commit", "changed ../README", "changed src/a", "removed src/gone", "made src/new"}, words)
		} else { // without a repository the campaign's directory is the project
			require.Equal(t, []string{"changed build.log", "changed src/a", "removed src/gone", "made src/new"}, words)
		}
	}
}

func TestPairs(t *testing.T) {
	file := func(path string, ino uint64) projectFile { return projectFile{path, signature{Ino: ino}} }
	none := projectFile{}
	a := []projectFile{file("a", 1), file("b", 1), file("d", 1)}
	b := []projectFile{file("0", 2), file("b", 2), file("c", 2), file("d", 2), file("e", 2)}
	var got [][2]projectFile
	for was, is := range pairs(a, b) {
		got = append(got, [2]projectFile{was, is})
	}
	require.Equal(t, [][2]projectFile{{none, b[0]}, {a[0], none}, {a[1], b[1]}, {none, b[2]}, {a[2], b[3]}, {none, b[4]}}, got)
	for range pairs(nil, nil) {
		t.Fatal("of nothing")
	}
}

// TestProjectOfListedFiles wants a look that begins with a list which somebody made earlier to find what one of its own would: what came
// in between was there before, and what comes later is new.
func TestProjectOfListedFiles(t *testing.T) {
	for _, git := range []bool{true, false} {
		root := t.TempDir()
		put := func(name string) {
			p := filepath.Join(root, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(p), 0o755))
			require.NoError(t, os.WriteFile(p, []byte(name), 0o644))
		}
		if git {
			out, err := exec.Command("git", "init", "-q", root).CombinedOutput()
			require.NoError(t, err, string(out))
		}
		put("a")
		put("gone")
		put("out/x")
		put("left")
		f := Open(root, "")
		f.LeaveOut("left") // of snapshots, and not of what is watched
		_, err := f.Repo(nil, nil)
		require.NoError(t, err)
		put("between")
		require.NoError(t, os.Remove(filepath.Join(root, "gone")))
		info, err := os.Stat(filepath.Join(root, "between"))
		require.NoError(t, err)
		for begun := time.Now(); coarseNow() <= info.ModTime().UnixNano(); { // stamps may be finer than the clock
			require.Less(t, time.Since(begun), time.Minute)
		}
		p, err := f.Project("out")
		require.NoError(t, err)
		require.Equal(t, git, p.older)
		same, err := p.Changes()
		require.NoError(t, err)
		require.Empty(t, same)
		put("new")
		put("out/y")
		require.NoError(t, os.WriteFile(filepath.Join(root, "left"), []byte("changed"), 0o644))
		var words []string
		got, err := p.Changes()
		require.NoError(t, err)
		for _, c := range got {
			words = append(words, c.What+" "+c.Path)
		}
		require.Equal(t, []string{"changed left", "made new"}, words)
		again, err := f.Project("out")
		require.NoError(t, err)
		require.False(t, again.older, "a list is for one look")
		require.NoError(t, f.Close())
	}
}

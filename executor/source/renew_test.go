package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func pathsOf(files []File) []string {
	var out []string
	for _, f := range files {
		out = append(out, f.Path)
	}
	return out
}

// TestRenew wants one snapshot for all who ask, until somebody finds that it does not hold: then another one, as a whole, and once.
func TestRenew(t *testing.T) {
	for _, git := range []bool{false, true} {
		root := t.TempDir()
		put := func(name, text string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
		}
		put("a", "a")
		put("b", "b")
		put("c", "c")
		if git {
			p := &project{t: t, base: root}
			p.git(".", "init", "-q")
		}
		f := Open(root, "")
		defer f.Close()
		f.Watch()
		first, err := f.Repo(nil, nil)
		require.NoError(t, err)
		put("a", "other")
		put("new", "new")
		require.NoError(t, os.Remove(filepath.Join(root, "b")))
		again, err := f.Repo(nil, nil)
		require.NoError(t, err)
		require.Equal(t, first, again, "one build sees one snapshot")
		f.Renew("new") // it is no part of the snapshot
		f.Renew("c")   // as it was
		again, err = f.Repo(nil, nil)
		require.NoError(t, err)
		require.Equal(t, first, again)

		f.Renew("b")
		then, err := f.Repo(nil, nil)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "c", "new"}, pathsOf(then))
		require.NotEqual(t, first[0], then[0])
		_, ok := f.Observed()
		require.False(t, ok, "what was answered before is of another snapshot")

		s := f.repo.Load()
		f.Renew("a") // whoever was told of the former one comes late
		f.Renew("b")
		require.Same(t, s, f.repo.Load())
	}
}

// TestTrackedFileBecameADirectory wants the files that lie there now: it is no submodule.
func TestTrackedFileBecameADirectory(t *testing.T) {
	p := newProject(t, "top/audit")
	p.put("top/audit/src/kept.log", "tracked")
	p.git("top", "add", "-f", "audit/src/kept.log")
	for _, name := range []string{"audit/src/a", "audit/src/kept.log"} {
		require.NoError(t, os.Remove(p.path("top/"+name)))
	}
	p.mkdir("top/audit/src/a")
	p.put("top/audit/src/a/one", "1")
	p.put("top/audit/src/a/x.log", "ignored")
	p.mkdir("top/audit/src/kept.log") // empty
	f := Open(p.root, "")
	defer f.Close()
	files, err := f.Repo([]string{"src/**"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"src/a/one", "src/deep/b"}, pathsOf(files))

	p.git("top", "submodule", "--quiet", "deinit", "-f", "audit/sub")
	f = Open(p.root, "")
	defer f.Close()
	_, err = f.Repo([]string{"src/**"}, nil)
	require.NoError(t, err)
	_, err = f.Repo(nil, nil)
	require.ErrorContains(t, err, "read submodule sub: it is not initialised")
}

// TestNoMonitorIsRun wants files listed without the help of a program that the settings of the repository name.
func TestNoMonitorIsRun(t *testing.T) {
	p := newProject(t, "top/audit")
	ran := p.path("ran")
	p.git("top", "config", "core.fsmonitor", "touch '"+ran+"'; false")
	require.NoError(t, os.RemoveAll(ran))
	f := Open(p.root, "")
	defer f.Close()
	files, err := f.Repo(nil, nil)
	require.NoError(t, err)
	require.Contains(t, pathsOf(files), "src/a")
	require.NoFileExists(t, ran)
}

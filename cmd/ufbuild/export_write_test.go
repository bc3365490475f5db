package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
)

// killed is what ends an export in the middle of it.
type killed struct{}

// project is a directory with two files, and an export that updates them and adds two.
func project(t *testing.T) (*os.Root, *mem.Store, []exportFile) {
	dir := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "docs"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docs/a"), []byte("old a"), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "b"), []byte("old b"), 0o644))
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	t.Cleanup(func() { _ = root.Close() })
	store := mem.New("")
	var files []exportFile
	for _, to := range []string{"b", "docs/a", "docs/new/c"} {
		d, err := cache.PutBytes(store, []byte("new "+filepath.Base(to)))
		require.NoError(t, err)
		x := exportFile{to: to, entry: cache.Entry{Path: to, Kind: cache.File, Mode: 0o755, Digest: d}, state: exportUpdate}
		if have, err := projectEntry(root, to); err == nil {
			was := contentOf(have)
			x.was = &was
		}
		files = append(files, x)
	}
	files = append(files, exportFile{to: "docs/link", entry: cache.Entry{Path: "docs/link", Kind: cache.Link, Target: "a"}, state: exportNew})
	return root, store, files
}

// contents lists every file below a root.
func contents(t *testing.T, root *os.Root) map[string]string {
	out := map[string]string{}
	require.NoError(t, fs.WalkDir(root.FS(), ".", func(p string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		if d.Type()&fs.ModeSymlink != 0 {
			target, err := root.Readlink(p)
			out[p] = "-> " + target
			return err
		}
		if !d.IsDir() {
			text, err := root.ReadFile(p)
			require.NoError(t, err)
			out[p] = string(text)
		}
		return nil
	}))
	return out
}

// TestKilledExports kills an export at every step. Whoever comes next finds it done or not begun, without a trace.
func TestKilledExports(t *testing.T) {
	before := map[string]string{"docs/a": "old a", "b": "old b"}
	after := map[string]string{"docs/a": "new a", "b": "new b", "docs/new/c": "new c", "docs/link": "-> a"}
	ended := map[string]int{}
	for at := 1; ; at++ {
		root, store, files := project(t)
		steps := 0
		e := &exporter{root: root, cas: store, step: func(string) {
			if steps++; steps == at {
				panic(killed{})
			}
		}}
		finished := func() (done bool) {
			defer func() {
				if r := recover(); r != nil && r != any(killed{}) {
					panic(r)
				}
			}()
			require.NoError(t, e.write(files))
			return true
		}()
		again := &exporter{root: root, cas: store}
		said, err := again.resume()
		require.NoError(t, err)
		now := contents(t, root)
		if finished {
			require.Empty(t, said)
			require.Equal(t, after, now)
			break
		}
		switch {
		case strings.Contains(said, "taken back"):
			require.Equal(t, before, now, "killed at step %d", at)
			ended["taken back"]++
		case strings.Contains(said, "finished"):
			require.Equal(t, after, now, "killed at step %d", at)
			ended["finished"]++
		default:
			require.Fail(t, "nothing was said", "killed at step %d", at)
		}
		said, err = again.resume()
		require.NoError(t, err)
		require.Empty(t, said)
	}
	require.Equal(t, map[string]int{"taken back": 5, "finished": 5}, ended)
}

// TestEditBetweenKillAndResume wants nobody's edit to be overwritten by what an export that was killed left to do.
func TestEditBetweenKillAndResume(t *testing.T) {
	root, store, files := project(t)
	e := &exporter{root: root, cas: store, step: func(what string) {
		if what == "moved" {
			panic(killed{})
		}
	}}
	require.PanicsWithValue(t, killed{}, func() { _ = e.write(files) })
	require.NoError(t, root.WriteFile("docs/a", []byte("mine"), 0o644))
	said, err := (&exporter{root: root, cas: store}).resume()
	require.NoError(t, err)
	require.Contains(t, said, "but for what was edited since: docs/a")
	require.Equal(t, map[string]string{"docs/a": "mine", "b": "new b", "docs/new/c": "new c", "docs/link": "-> a"}, contents(t, root))
}

// TestExportNotesAreNotBelieved gives notes that would write elsewhere.
func TestExportNotesAreNotBelieved(t *testing.T) {
	for _, move := range []string{
		`{"temp": "docs/.ufbuild-export-0", "to": ".git/config"}`, `{"temp": "x/.ufbuild-export-0", "to": "../x"}`,
		`{"temp": "b", "to": "docs/a"}`, `{"temp": "docs/b", "to": "docs/a"}`, `nonsense`,
	} {
		root, store, _ := project(t)
		require.NoError(t, root.Mkdir(".ufbuild", 0o755))
		require.NoError(t, root.WriteFile(exportNote, []byte(fmt.Sprintf(`{"complete": true, "moves": [%s]}`, move)), 0o644))
		_, err := (&exporter{root: root, cas: store}).resume()
		require.ErrorContains(t, err, "hint: remove it", move)
		now := contents(t, root)
		delete(now, exportNote)
		require.Equal(t, map[string]string{"docs/a": "old a", "b": "old b"}, now)
	}
}

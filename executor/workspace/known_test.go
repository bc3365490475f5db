package workspace

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/mem"
)

// TestCaptureKnowsWhatDirectoriesHold compares what is captured where directories that stayed as they were are not listed with what is where
// all are, after changes that come right after the laying out and hide what they can of themselves.
func TestCaptureKnowsWhatDirectoriesHold(t *testing.T) {
	cas := mem.New("")
	bytes := []byte("laid")
	spec := Spec{
		Files:  []File{{"src/a", bytes, 0o644}, {"src/deep/b", bytes, 0o644}, {"src/deep/.git/c", bytes, 0o644}, {"src2/a", bytes, 0o644}, {"top", bytes, 0o644}},
		Mounts: []Mount{{Path: ".uf/in/x/o", Digest: put(t, cas, "mount"), Mode: 0o644}},
	}
	outputs := []Output{{Name: "tree", Tree: []string{"src/**", "src2/*"}}}
	for name, do := range map[string]func(ws string) error{
		"nothing":                             func(string) error { return nil },
		"a file":                              func(ws string) error { return os.WriteFile(ws+"/src/new", []byte("n"), 0o644) },
		"a file below a directory that stays": func(ws string) error { return os.WriteFile(ws+"/src/deep/new", []byte("n"), 0o644) },
		"a link":                              func(ws string) error { return os.Symlink("a", ws+"/src/new") },
		"a directory":                         func(ws string) error { return os.MkdirAll(ws+"/src/deep/new/er", 0o755) },
		"one file less":                       func(ws string) error { return os.Remove(ws + "/src/deep/b") },
		"another name":                        func(ws string) error { return os.Rename(ws+"/src/a", ws+"/src/z") },
		"another place":                       func(ws string) error { return os.Rename(ws+"/src/deep", ws+"/src2/deep") },
		"other bytes":                         func(ws string) error { return os.WriteFile(ws+"/src/deep/b", []byte("BYTE"), 0o644) },
		"a file in its place": func(ws string) error {
			return errors.Join(os.RemoveAll(ws+"/src"), os.WriteFile(ws+"/src", nil, 0o644))
		},
		"a link in its place":  func(ws string) error { return errors.Join(os.Rename(ws+"/src", ws+"/s"), os.Symlink("s", ws+"/src")) },
		"another in its place": func(ws string) error { return errors.Join(os.RemoveAll(ws+"/src"), os.Mkdir(ws+"/src", 0o755)) },
		"a closed one":         func(ws string) error { return os.Chmod(ws+"/src/deep", 0) },
		"nothing at all":       func(ws string) error { return os.RemoveAll(ws + "/src") },
	} {
		t.Run(name, func(t *testing.T) {
			hidden := func(ws string) error { // with the times that it had
				var st unix.Stat_t
				err := errors.Join(unix.Stat(ws+"/src", &st), do(ws))
				_ = unix.UtimesNanoAt(unix.AT_FDCWD, ws+"/src", []unix.Timespec{st.Atim, st.Mtim}, unix.AT_SYMLINK_NOFOLLOW)
				return err
			}
			take := func(at string, laid *Laid) Captured {
				require.NoError(t, hidden(filepath.Join(at, Dir)))
				got, err := Capture(t.Context(), at, cas, laid, outputs, nil)
				require.NoError(t, err)
				return got
			}
			plain := attempt(t)
			laid, err := Materialize(plain, cas, spec)
			require.NoError(t, err)
			want := take(plain, laid)

			var spares Spares
			defer spares.Close()
			dir := t.TempDir()
			for n := range 3 { // made anew, and of one that was
				at := filepath.Join(dir, itoa(n))
				laid, err := spares.Materialize(at, cas, spec)
				require.NoError(t, err)
				begin(t, at, laid, "")
				if spares.exact {
					require.Len(t, laid.ours, 4)
				} else {
					require.Empty(t, laid.ours)
				}
				require.Equal(t, want, take(at, laid))
				require.True(t, spares.Offer(at, laid))
			}
		})
	}
}

// TestCaptureListsOnlyWhatChanged wants nothing but the workspace to be opened for its names.
func TestCaptureListsOnlyWhatChanged(t *testing.T) {
	cas := mem.New("")
	var spares Spares
	defer spares.Close()
	at := filepath.Join(t.TempDir(), "0")
	laid, err := spares.Materialize(at, cas, Spec{Files: []File{{"src/a", nil, 0o644}, {"src/deep/b", nil, 0o644}}})
	require.NoError(t, err)
	defer laid.Close()
	if !spares.exact {
		t.Skip("stamps tell less here")
	}
	laid.files = laid.files[:1] // what is not listed is what it is told to be
	s := scanner{laid: laid, enter: func(string) bool { return true }}
	s.dir, err = openDir(filepath.Join(at, Dir))
	require.NoError(t, err)
	defer unix.Close(s.dir)
	require.NoError(t, s.scan())
	var paths []string
	for i := range s.found {
		paths = append(paths, s.found[i].path)
	}
	require.Equal(t, []string{"src", "src/a", "src/deep"}, paths)
}

// TestCaptureOpensWhatWasLaidClosed inherits directories that a task closed to its own user: they are laid as they were, and what is in them
// is captured as where all directories are listed.
func TestCaptureOpensWhatWasLaidClosed(t *testing.T) {
	bound(t)
	cas := mem.New("")
	spec := Spec{Trees: []Mount{{Tree: true, Digest: putTreeOf(t, cas,
		file(t, cas, "listed/f", "1", 0o644), dir("listed", 0o600),
		file(t, cas, "open/shut/deep/f", "2", 0o644), file(t, cas, "open/shut/f", "3", 0o644), dir("open/shut", 0), dir("open/shut/empty", 0o755),
		file(t, cas, "searched/f", "4", 0o644), dir("searched", 0o311), file(t, cas, "z", "5", 0o644),
	)}}}
	outputs := []Output{{Name: "tree", Tree: []string{"**"}}}
	take := func(at string, laid *Laid) Captured {
		got, err := Capture(t.Context(), at, cas, laid, outputs, nil)
		require.NoError(t, err)
		return got
	}
	plain := attempt(t)
	laid, err := Materialize(plain, cas, spec)
	require.NoError(t, err)
	want := take(plain, laid)
	require.Empty(t, want.Problems)
	require.Equal(t, spec.Trees[0].Digest, want.Outputs[0].Digest)

	var spares Spares
	defer spares.Close()
	dir := t.TempDir()
	for n := range 2 {
		at := filepath.Join(dir, itoa(n))
		laid, err := spares.Materialize(at, cas, spec)
		require.NoError(t, err)
		begin(t, at, laid, "")
		require.Equal(t, want, take(at, laid))
		require.True(t, spares.Offer(at, laid))
	}
}

// TestChildren has names that sort between a directory and what is in it.
func TestChildren(t *testing.T) {
	laid := &Laid{}
	for _, p := range []string{"a", "d", "d-/f", "d.x", "d/-", "d/e.x", "d/e/f", "d/z", "d0/f", "e"} {
		laid.files = append(laid.files, laidFile{path: p})
	}
	for _, p := range []string{"d-", "d", "d/e", "d/e/g", "d/f", "d0"} {
		laid.ours = append(laid.ours, laidDir{path: p})
	}
	slices.SortFunc(laid.ours, func(a, b laidDir) int { return strings.Compare(a.path, b.path) })
	for dir, want := range map[string][]string{
		"d": {"d/-", "d/e.x", "d/z", "d/e", "d/f"}, "d/e": {"d/e/f", "d/e/g"}, "d-": {"d-/f"}, "d0": {"d0/f"}, "d/f": nil, "e": nil, "z": nil,
	} {
		require.Equal(t, want, slices.Collect(laid.children(dir)), dir)
	}
}

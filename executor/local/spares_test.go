package local

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/source"
)

// TestSpares wants the directory of a command that ended by itself to become that of the next one, and no other to do so.
func TestSpares(t *testing.T) {
	for name, tc := range map[string]struct {
		script string
		change func(*executor.Invocation)
		kept   bool
	}{
		"a command":                  {"echo m > made; test ! -e old", nil, true},
		"a command that failed":      {"echo m > made; exit 3", nil, true},
		"something had to be killed": {"sleep 1000 &", nil, false},
		"it cost money":              {":", func(inv *executor.Invocation) { inv.Paid = true }, false},
		"it has files of another task": {":", func(inv *executor.Invocation) {
			inv.Trees = []executor.Mount{{Tree: true, Digest: inv.Sources[0].Digest}}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			store := mem.New(t.TempDir())
			r := New(store, Options{Spares: true})
			first := invocation(t, tc.script)
			first.Sources = []source.File{placed(t, first.Root, "src/a", "first")}
			if tc.change != nil {
				tc.change(first)
			}
			if len(first.Trees) > 0 {
				require.False(t, r.spareable(first))
				return
			}
			_, err := r.Run(t.Context(), first, nil)
			require.NoError(t, err)
			r.Reap(first.Dir)
			r.removal.Wait()
			if !tc.kept {
				require.NoDirExists(t, first.Dir)
			} else {
				require.DirExists(t, first.Dir)
			}
			next := invocation(t, "cat src/*; ls -A . ..")
			next.Sources = []source.File{placed(t, next.Root, "src/b", "second\n")}
			got, err := r.Run(t.Context(), next, nil)
			require.NoError(t, err)
			require.Equal(t, "second\n.:\nsrc\n\n..:\nlog\nws\n", text(t, store, got.Log))
			require.NoDirExists(t, first.Dir, "it became the other one's")
			r.Reap(next.Dir)
			require.NoError(t, r.Close())
			require.NoDirExists(t, next.Dir)
		})
	}
}

// placed writes a source below root.
func placed(t *testing.T, root, path, text string) source.File {
	t.Helper()
	at := filepath.Join(root, path)
	require.NoError(t, os.MkdirAll(filepath.Dir(at), 0o755))
	require.NoError(t, os.WriteFile(at, []byte(text), 0o644))
	return source.File{Path: path, Digest: digest.Of([]byte(text)), Mode: 0o644}
}

// TestReapAside wants every directory gone when the runner is closed, whoever removed it, and its caller not to wait for the first.
func TestReapAside(t *testing.T) {
	r := New(mem.New(t.TempDir()), Options{})
	dir := t.TempDir()
	var all []string
	for _, name := range []string{"a", "b", "c"} {
		at := filepath.Join(dir, name)
		all = append(all, at)
		for i := range 200 {
			sub := filepath.Join(at, strconv.Itoa(i%10))
			require.NoError(t, os.MkdirAll(sub, 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(sub, strconv.Itoa(i)), nil, 0o644))
		}
	}
	<-r.remover // somebody removes
	r.Reap(all[0])
	require.NoDirExists(t, all[0], "then each removes its own")
	r.remover <- struct{}{}
	for _, at := range all[1:] {
		r.Reap(at)
	}
	require.NoError(t, r.Close())
	for _, at := range all {
		require.NoDirExists(t, at)
	}
}

package stamp_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/stamp"
)

var asked = digest.Of([]byte("what is asked"))

func same(string) digest.Digest { return asked }

// scene is a root with a file, a directory that was listed, and a path that was looked for in vain.
func scene(t *testing.T) (root, path string, s *stamp.Stamp) {
	root = t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "dir"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "dir", "a.txt"), []byte("a"), 0o644))
	require.NoError(t, os.Symlink("dir/a.txt", filepath.Join(root, "link")))
	f := source.Open(root, "")
	f.Watch()
	_, err := f.Glob([]string{"dir/*.txt"}, nil)
	require.NoError(t, err)
	_, err = f.File("link")
	require.NoError(t, err)
	require.False(t, f.IsRegular("absent"))
	seen, ok := f.Observed()
	require.True(t, ok)
	path = filepath.Join(t.TempDir(), "fresh")
	return root, path, &stamp.Stamp{Store: "/store", Question: asked, Nodes: 7, Seen: seen}
}

// save writes the stamp once the clock of the file system has moved on.
func save(t *testing.T, path string, s *stamp.Stamp) {
	require.Eventually(t, func() bool {
		require.NoError(t, stamp.Save(path, s))
		_, err := os.Stat(path)
		return err == nil
	}, 10*time.Second, time.Millisecond)
}

func TestStampHoldsUntilAnythingChanges(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, root string){
		"bytes": func(t *testing.T, root string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "dir/a.txt"), []byte("b"), 0o644))
		},
		"mode": func(t *testing.T, root string) { require.NoError(t, os.Chmod(filepath.Join(root, "dir/a.txt"), 0o755)) },
		"a new neighbour": func(t *testing.T, root string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "dir/b.txt"), nil, 0o644))
		},
		"gone": func(t *testing.T, root string) { require.NoError(t, os.Remove(filepath.Join(root, "dir/a.txt"))) },
		"what was absent": func(t *testing.T, root string) {
			require.NoError(t, os.WriteFile(filepath.Join(root, "absent"), nil, 0o644))
		},
		"a link": func(t *testing.T, root string) {
			require.NoError(t, os.Remove(filepath.Join(root, "link")))
			require.NoError(t, os.Symlink("dir", filepath.Join(root, "link")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root, path, s := scene(t)
			save(t, path, s)
			n, ok := stamp.LoadIf(path, root, same)
			require.True(t, ok)
			require.Equal(t, 7, n)
			_, ok = stamp.LoadIf(path, root, func(string) digest.Digest { return digest.Of([]byte("another question")) })
			require.False(t, ok)
			change(t, root)
			_, ok = stamp.LoadIf(path, root, same)
			require.False(t, ok)
		})
	}
}

// TestYoungFilesAreNotTrusted proves the racy rule: a file of the stamp's own tick makes no stamp.
func TestYoungFilesAreNotTrusted(t *testing.T) {
	root, path, s := scene(t)
	future := time.Now().Add(time.Hour)
	require.NoError(t, os.Chtimes(filepath.Join(root, "dir/a.txt"), future, future))
	f := source.Open(root, "")
	f.Watch()
	_, err := f.File("dir/a.txt")
	require.NoError(t, err)
	s.Seen, _ = f.Observed()
	require.NoError(t, stamp.Save(path, s))
	require.NoFileExists(t, path)
}

// TestAPathSeenInTwoStates proves that answers taken before and after a change make no stamp.
func TestAPathSeenInTwoStates(t *testing.T) {
	root, path, s := scene(t)
	f := source.Open(root, "")
	f.Watch()
	_, err := f.File("dir/a.txt")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(root, "dir/a.txt"), []byte("other"), 0o644))
	_, err = f.File("dir/a.txt")
	require.NoError(t, err)
	s.Seen, _ = f.Observed()
	require.NoError(t, stamp.Save(path, s))
	require.NoFileExists(t, path)
}

func TestDamageIsNoAnswer(t *testing.T) {
	root, path, s := scene(t)
	save(t, path, s)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	for i := range b {
		bad := append([]byte(nil), b...)
		bad[i] ^= 0x40
		require.NoError(t, os.WriteFile(path, bad, 0o644))
		_, ok := stamp.LoadIf(path, root, same)
		require.False(t, ok, "byte %d", i)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("ufbuild fresh 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := stamp.Decode(b); err == nil {
			require.Equal(t, b, s.Encode())
		}
	})
}

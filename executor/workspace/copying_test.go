package workspace

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor/source"
)

// volume mounts a new file system of a kind, and skips the test where that cannot be had.
func volume(t *testing.T, kind string, flags ...string) string {
	mkfs, err := exec.LookPath("mkfs." + kind)
	if os.Geteuid() != 0 || err != nil || testing.Short() {
		t.Skip("needs root and mkfs." + kind)
	}
	dir := t.TempDir()
	image, at := filepath.Join(dir, "image"), filepath.Join(dir, "at")
	require.NoError(t, os.WriteFile(image, nil, 0o600))
	require.NoError(t, os.Truncate(image, 400<<20)) // sparse: it takes what is written to it
	require.NoError(t, os.Mkdir(at, 0o755))
	if out, err := exec.Command(mkfs, append(flags, image)...).CombinedOutput(); err != nil {
		t.Skipf("mkfs.%s: %v: %s", kind, err, out)
	}
	if out, err := exec.Command("mount", "-o", "loop", image, at).CombinedOutput(); err != nil {
		t.Skipf("mount: %v: %s", err, out)
	}
	t.Cleanup(func() { require.NoError(t, unix.Unmount(at, 0)) })
	return at
}

// largeSource is a project with one file that is worth a reflink.
func largeSource(t *testing.T, root string) (source.File, []byte) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 512<<10) // 8 MiB
	require.NoError(t, os.MkdirAll(root, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "large"), body, 0o644))
	return source.File{Path: "large", Digest: digest.Of(body), Mode: 0o644}, body
}

// Materialize makes the same of every way to copy: the bytes are there, checked, and not those of the project.
func TestCopyingOnManyFileSystems(t *testing.T) {
	plain := t.TempDir()
	for name, c := range map[string]struct {
		want []string
		root func(t *testing.T) (root, attempt string)
	}{
		"btrfs": {[]string{ByReflink}, func(t *testing.T) (string, string) { v := volume(t, "btrfs", "-q"); return v, v }},
		"xfs":   {[]string{ByReflink}, func(t *testing.T) (string, string) { v := volume(t, "xfs", "-q"); return v, v }},
		"ext4":  {[]string{ByKernel}, func(t *testing.T) (string, string) { v := volume(t, "ext4", "-q"); return v, v }},
		"across": {[]string{ByKernel, ByReading}, func(t *testing.T) (string, string) {
			return volume(t, "btrfs", "-q"), plain
		}},
		"here": {[]string{ByReflink, ByKernel, ByReading}, func(t *testing.T) (string, string) { d := t.TempDir(); return d, d }},
	} {
		t.Run(name, func(t *testing.T) {
			root, attempt := c.root(t)
			root, attempt = filepath.Join(root, "project"), filepath.Join(attempt, "attempt-"+name)
			file, body := largeSource(t, root)
			require.NoError(t, os.Mkdir(attempt, 0o700))
			how, err := Copying(filepath.Join(root, "large"), attempt)
			require.NoError(t, err)
			require.Contains(t, c.want, how)
			store := mem.New(t.TempDir())
			before := free(t, attempt)
			laid, err := Materialize(attempt, store, Spec{Root: root, Sources: []source.File{file}})
			require.NoError(t, err)
			if how == ByReflink && name != "here" {
				require.Less(t, before-free(t, attempt), int64(len(body)/2), "the copy shares its blocks")
			}
			ws := filepath.Join(attempt, Dir, "large")
			got, err := os.ReadFile(ws)
			require.NoError(t, err)
			require.True(t, bytes.Equal(body, got))
			taken, err := Capture(context.Background(), attempt, store, laid, nil, nil)
			require.NoError(t, err)
			require.True(t, taken.Leftovers.IsZero())

			f, err := os.OpenFile(ws, os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteAt([]byte("spoiled"), 1<<20)
			require.NoError(t, err)
			require.NoError(t, f.Close())
			got, err = os.ReadFile(filepath.Join(root, "large"))
			require.NoError(t, err)
			require.True(t, bytes.Equal(body, got), "what a task writes does not reach the project")

			other := file
			other.Digest = digest.Of(append([]byte("x"), body[1:]...))
			_, err = Materialize(attempt+"-2", store, Spec{Root: root, Sources: []source.File{other}})
			var changed *Changed
			require.ErrorAs(t, err, &changed, "a copy is checked however it was made")
		})
	}
}

// free is the room on the disk that path is on, once what was written has arrived there.
func free(t *testing.T, path string) int64 {
	h, err := os.Open(path)
	require.NoError(t, err)
	defer h.Close()
	require.NoError(t, unix.Syncfs(int(h.Fd())))
	var st unix.Statfs_t
	require.NoError(t, unix.Fstatfs(int(h.Fd()), &st))
	return int64(st.Bfree) * st.Bsize
}

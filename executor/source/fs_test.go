package source

import (
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestFSIsTheDirectory compares what is told of paths with what package os says.
func TestFSIsTheDirectory(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	require.NoError(t, os.MkdirAll(at("dir/.git"), 0o755))
	require.NoError(t, os.Mkdir(at(".ufbuild"), 0o700))
	require.NoError(t, os.WriteFile(at("dir/file"), []byte("five!"), 0o640))
	require.NoError(t, os.WriteFile(at("set"), nil, 0o755))
	require.NoError(t, os.Chmod(at("set"), 0o755|fs.ModeSetuid|fs.ModeSetgid|fs.ModeSticky))
	require.NoError(t, os.Symlink("dir/file", at("link")))
	require.NoError(t, os.Symlink("nowhere", at("dangling")))
	require.NoError(t, unix.Mkfifo(at("pipe"), 0o600))
	socket, err := net.Listen("unix", at("socket"))
	require.NoError(t, err)
	defer socket.Close()

	f := Open(root, "")
	defer f.Close()
	f.Watch()
	disk := os.DirFS(root)
	for _, name := range []string{".", "dir", "dir/file", "set", "link", "dangling", "pipe", "socket", ".ufbuild", "dir/.git", "absent", "dir/file/below", "/dir", "dir/", "../x", ""} {
		for how, ask := range map[string]func(fs.FS, string) (fs.FileInfo, error){"stat": fs.Stat, "lstat": fs.Lstat} {
			want, wantErr := ask(disk, name)
			got, err := ask(f.FS(), name)
			require.Equal(t, wantErr, err, "%s %q", how, name)
			if err != nil {
				continue
			}
			require.Equal(t, want.Mode(), got.Mode(), "%s %q", how, name)
			require.Equal(t, want.Size(), got.Size(), "%s %q", how, name)
			require.True(t, want.ModTime().Equal(got.ModTime()), "%s %q", how, name)
			if name != "." {
				require.Equal(t, want.Name(), got.Name(), how)
			}
		}
	}
}

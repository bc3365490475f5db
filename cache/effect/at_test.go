package effect

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestNamesBelowADirectory holds the calls by names to those of package unix, for names that are short, that are long, that the kernel
// refuses and that are none, and proves that a short one is not copied to the heap (by Fstatat where that is ours).
func TestNamesBelowADirectory(t *testing.T) {
	root := t.TempDir()
	dir, err := unix.Open(root, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(dir)
	deep := strings.Repeat(strings.Repeat("d", 100)+"/", 3)
	require.NoError(t, os.MkdirAll(filepath.Join(root, deep), 0o755))
	for _, name := range []string{"a", deep + "long", strings.Repeat("x", 255), strings.Repeat("x", 256), deep + strings.Repeat("y", 255), "a\x00b", "", "none/a"} {
		want := unix.Mkdirat(dir, name, 0o750)
		var before, after unix.Stat_t
		lookedBefore := unix.Fstatat(dir, name, &before, unix.AT_SYMLINK_NOFOLLOW)
		require.Equal(t, lookedBefore, Fstatat(dir, name, &after, unix.AT_SYMLINK_NOFOLLOW), "%q", name)
		require.Equal(t, before, after, "%q", name)
		if want == nil {
			require.ErrorIs(t, Mkdirat(dir, name, 0o750), unix.EEXIST, "%q", name)
			require.ErrorIs(t, Unlinkat(dir, name, 0), unix.EISDIR, "%q", name)
			require.NoError(t, Unlinkat(dir, name, unix.AT_REMOVEDIR), "%q", name)
		}
		require.Equal(t, want, Mkdirat(dir, name, 0o750), "%q", name)
		if want = unix.Renameat(dir, name, dir, "to"); want == nil {
			require.NoError(t, Renameat(dir, "to", dir, name), "%q", name)
		} else {
			require.Equal(t, want, Renameat(dir, name, dir, "to"), "%q", name)
		}
		how := &unix.OpenHow{Flags: unix.O_DIRECTORY | unix.O_CLOEXEC}
		fd, err := Openat2(dir, name, how)
		_, asked := unix.Openat2(dir, name, how)
		require.Equal(t, asked, err, "%q", name)
		if err == nil {
			require.NoError(t, unix.Fstat(fd, &after))
			require.NoError(t, unix.Fstatat(dir, name, &before, 0))
			require.Equal(t, before.Ino, after.Ino, "%q", name)
			require.NoError(t, unix.Close(fd))
		}
	}
	var st unix.Stat_t
	require.Zero(t, testing.AllocsPerRun(10, func() {
		if runtime.GOARCH == "amd64" {
			_ = Fstatat(dir, "a", &st, 0)
		}
		_ = Renameat(dir, "a", dir, "b")
		_ = Renameat(dir, "b", dir, "a")
		_ = Mkdirat(dir, "a", 0o700)
	}))
	fd, err := Openat(dir, "file", unix.O_CREAT|unix.O_EXCL|unix.O_WRONLY|unix.O_CLOEXEC, 0o640)
	require.NoError(t, err)
	require.NoError(t, unix.Fstat(fd, &st))
	require.Equal(t, uint32(0o640), st.Mode&0o777)
	require.NoError(t, unix.Close(fd))
	require.ErrorIs(t, Renameat2(dir, "file", dir, "a", unix.RENAME_NOREPLACE), unix.EEXIST)
}

package effect

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// catch lets a test decide about effects until it ends.
func catch(t *testing.T, decide func(Effect) *Fault) {
	t.Helper()
	Intercept(decide)
	t.Cleanup(func() { Intercept(nil) })
}

func TestEveryEffectIsAskedForFirst(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(at("file"), []byte("x"), 0o600))
	h, err := os.OpenFile(at("file"), os.O_RDWR, 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	f := Wrap(h)
	root, err := os.OpenRoot(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, root.Close()) }()
	d, err := os.Open(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	fd := int(d.Fd())

	var seen []Op
	catch(t, func(e Effect) *Fault {
		require.NotEmpty(t, e.Path)
		seen = append(seen, e.Op)
		return &Fault{Err: syscall.EIO}
	})
	first := func(_ any, err error) error { return err }
	for _, tc := range []struct {
		op Op
		do func() error
	}{
		{OpCreate, func() error { return first(OpenFile(at("new"), os.O_WRONLY|os.O_CREATE, 0o600)) }},
		{OpCreate, func() error { return first(CreateTemp(dir, "new-*")) }},
		{OpCreate, func() error { return first(OpenIn(root, "new", os.O_WRONLY|os.O_CREATE, 0o600)) }},
		{OpCreate, func() error { return first(Openat(fd, "new", os.O_WRONLY|os.O_CREATE, 0o600)) }},
		{OpCreate, func() error { return WriteFile(at("new"), nil, 0o600) }},
		{OpWrite, func() error { return first(f.Write([]byte("yy"))) }},
		{OpWrite, func() error { return first(f.WriteString("yy")) }},
		{OpWrite, func() error { return first(f.WriteAt([]byte("yy"), 0)) }},
		{OpRewrite, func() error { return first(f.RewriteAt([]byte("yy"), 0)) }},
		{OpWrite, func() error { return first(f.ReadFrom(strings.NewReader("yy"))) }},
		{OpWrite, func() error { return first(WriteFd(int(h.Fd()), []byte("yy"), "file")) }},
		{OpTouch, func() error { return Futimens(int(h.Fd()), 5, "file") }},
		{OpTruncate, func() error { return f.Truncate(0) }},
		{OpTruncate, func() error { return Ftruncate(int(h.Fd()), 0, "file") }},
		{OpSync, f.Sync},
		{OpSync, func() error { return Datasync(h) }},
		{OpChmod, func() error { return f.Chmod(0o777) }},
		{OpChmod, func() error { return Fchmod(int(h.Fd()), 0o777, "file") }},
		{OpChmod, func() error { return Fchmodat(fd, "file", 0o777, 0) }},
		{OpChmod, func() error { return Chmod(at("file"), 0o777) }},
		{OpMkdir, func() error { return Mkdir(at("new"), 0o700) }},
		{OpMkdir, func() error { return MkdirAll(at("new/new"), 0o700) }},
		{OpMkdir, func() error { return MkdirAllIn(root, "new/new", 0o700) }},
		{OpMkdir, func() error { return first(MkdirTemp(dir, "new-*")) }},
		{OpMkdir, func() error { return Mkdirat(fd, "new", 0o700) }},
		{OpRename, func() error { return Rename(at("file"), at("new")) }},
		{OpRename, func() error { return RenameIn(root, "file", "new") }},
		{OpRename, func() error { return Renameat(fd, "file", fd, "new") }},
		{OpRename, func() error { return Renameat2(fd, "file", fd, "new", 0) }},
		{OpLink, func() error { return Link(at("file"), at("new")) }},
		{OpLink, func() error { return Linkat(int(h.Fd()), fd, "new") }},
		{OpSymlink, func() error { return Symlink("file", at("new")) }},
		{OpSymlink, func() error { return SymlinkIn(root, "file", "new") }},
		{OpSymlink, func() error { return Symlinkat("file", fd, "new") }},
		{OpRemove, func() error { return Remove(at("file")) }},
		{OpRemove, func() error { return RemoveIn(root, "file") }},
		{OpRemove, func() error { return Unlinkat(fd, "file", 0) }},
		{OpRemove, func() error { return RemoveAll(at("file")) }},
		{OpRemove, func() error { return RemoveOpen(fd, ".", fd) }},
		{OpStart, func() error { return first(ForkExec("/bin/true", []string{"true"}, nil, -1)) }},
		{OpStart, func() error { return Do(OpStart, "true", func() error { return errors.New("it ran") }) }},
	} {
		seen = nil
		require.ErrorIs(t, tc.do(), syscall.EIO, tc.op)
		require.Equal(t, []Op{tc.op}, seen)
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "something was done all the same")
	b, err := os.ReadFile(at("file"))
	require.NoError(t, err)
	require.Equal(t, "x", string(b))
}

func TestHalfIsDoneBeforeTheFault(t *testing.T) {
	dir := t.TempDir()
	died := 0
	catch(t, func(e Effect) *Fault {
		if e.Op == OpCreate {
			return nil
		}
		return &Fault{Half: true, Die: func() { died++ }, Err: syscall.ENOSPC}
	})
	require.ErrorIs(t, WriteFile(filepath.Join(dir, "a"), []byte("abcdef"), 0o600), syscall.ENOSPC)
	b, err := os.ReadFile(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Equal(t, "abc", string(b))
	require.ErrorIs(t, RemoveAll(dir), syscall.ENOSPC)
	require.NoFileExists(t, filepath.Join(dir, "a"))
	require.DirExists(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a"), nil, 0o600))
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.ErrorIs(t, RemoveOpen(unix.AT_FDCWD, dir, fd), syscall.ENOSPC)
	require.NoFileExists(t, filepath.Join(dir, "a"))
	require.DirExists(t, dir)
	require.Equal(t, 3, died)
}

func TestWhatIsLetThroughHappens(t *testing.T) {
	dir := t.TempDir()
	n := 0
	catch(t, func(Effect) *Fault { n++; return nil })
	require.NoError(t, MkdirAll(dir, 0o700), "it is there")
	require.Zero(t, n)
	require.NoError(t, WriteFile(filepath.Join(dir, "a"), []byte("abc"), 0o600))
	require.NoError(t, Rename(filepath.Join(dir, "a"), filepath.Join(dir, "b")))
	require.NoError(t, RemoveAll(filepath.Join(dir, "b")))
	require.Equal(t, 4, n)
}

// TestRemoveAll removes what its maker closed, and nothing that a link leads to.
func TestRemoveAll(t *testing.T) {
	keep := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(keep, "kept"), nil, 0o600))
	top := filepath.Join(t.TempDir(), "top")
	deep := filepath.Join(top, "closed", "deep")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	for i := range 1000 {
		require.NoError(t, os.WriteFile(filepath.Join(deep, strings.Repeat("n", 200)+strconv.Itoa(i)), nil, 0o600))
	}
	require.NoError(t, os.Symlink(keep, filepath.Join(deep, "link")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(deep, "pipe"), 0o600))
	require.NoError(t, os.Chmod(deep, 0o555))
	require.NoError(t, os.Chmod(filepath.Dir(deep), 0))
	require.NoError(t, RemoveAll(top))
	require.NoDirExists(t, top)
	require.FileExists(t, filepath.Join(keep, "kept"))
	require.NoError(t, RemoveAll(top), "it is gone")

	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(keep, link))
	require.NoError(t, RemoveAll(link))
	require.FileExists(t, filepath.Join(keep, "kept"))
	require.NoError(t, RemoveAll(filepath.Join(keep, "kept")))
	require.NoFileExists(t, filepath.Join(keep, "kept"))
}

// TestRemoveOpen removes an open directory, whose directories it does not take for empty ones when they are not.
func TestRemoveOpen(t *testing.T) {
	keep := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(keep, "empty"), 0o755))
	top := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(top, "d", "empty"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(top, "d", "full", "deep"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(top, "d", "full", "f"), nil, 0o600))
	require.NoError(t, os.Symlink(filepath.Join(keep, "empty"), filepath.Join(top, "d", "link")))
	require.NoError(t, os.Symlink(keep, filepath.Join(top, "d", "full", "link")))
	dir, err := unix.Open(top, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(dir)
	fd, err := Openat(dir, "d", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	defer unix.Close(fd)
	require.NoError(t, RemoveOpen(dir, "d", fd))
	require.NoDirExists(t, filepath.Join(top, "d"))
	require.DirExists(t, filepath.Join(keep, "empty"))
}

// TestInterruptedCallsAreMadeAgain: a signal that comes while a network file system works is no fault of the disk.
func TestInterruptedCallsAreMadeAgain(t *testing.T) {
	calls := 0
	err := again(func() error {
		if calls++; calls < 3 {
			return syscall.EINTR
		}
		return syscall.EIO
	})
	require.Equal(t, syscall.EIO, err)
	require.Equal(t, 3, calls)
}

func TestReadDir(t *testing.T) {
	dir := t.TempDir()
	want := map[string]byte{}
	for i := range 300 { // more than one reading takes
		name := strings.Repeat("n", 200) + strconv.Itoa(i)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
		want[name] = syscall.DT_REG
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "d"), 0o700))
	require.NoError(t, os.Symlink("d", filepath.Join(dir, "l")))
	want["d"], want["l"] = syscall.DT_DIR, syscall.DT_LNK
	h, err := os.Open(dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, h.Close()) }()
	entries, err := ReadDir(int(h.Fd()))
	require.NoError(t, err)
	got := map[string]byte{}
	for _, e := range entries {
		got[e.Name] = e.Kind
	}
	require.Equal(t, want, got)
	file, err := os.Open(filepath.Join(dir, "l"))
	require.NoError(t, err)
	require.NoError(t, file.Close())
	_, err = ReadDir(int(file.Fd()))
	require.Error(t, err)
}

// TestTakeRoom wants room that is really taken: blocks, all zero, also over what was there.
func TestTakeRoom(t *testing.T) {
	at := filepath.Join(t.TempDir(), "room")
	require.NoError(t, os.WriteFile(at, []byte("before"), 0o600))
	require.NoError(t, TakeRoom(at, 100_000, 0o600))
	b, err := os.ReadFile(at)
	require.NoError(t, err)
	require.Equal(t, make([]byte, 100_000), b)
	var st unix.Stat_t
	require.NoError(t, unix.Stat(at, &st))
	require.GreaterOrEqual(t, st.Blocks*512, int64(100_000))
}

package raw

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The layout of the kernel's answer is the one that package syscall knows; where it is not, this does not compile.
var (
	_ [unsafe.Sizeof(kernelStat{})]byte = [unsafe.Sizeof(syscall.Stat_t{})]byte{}
	_ [unsafe.Sizeof(lock{})]byte       = [unsafe.Sizeof(syscall.Flock_t{})]byte{}
	_ [directory]byte                   = [syscall.O_DIRECTORY]byte{}
	_ [sysOpenAt]byte                   = [syscall.SYS_OPENAT]byte{}
	_ [sysClose]byte                    = [syscall.SYS_CLOSE]byte{}
	_ [sysRead]byte                     = [syscall.SYS_READ]byte{}
	_ [sysStat]byte                     = [syscall.SYS_FSTAT]byte{}
	_ [sysControl]byte                  = [syscall.SYS_FCNTL]byte{}
	_ [sysWorkDir]byte                  = [syscall.SYS_GETCWD]byte{}
	_ [sysList]byte                     = [syscall.SYS_GETDENTS64]byte{}
	_ [sysMap]byte                      = [syscall.SYS_MMAP]byte{}
	_ [readWrite]byte                   = [syscall.PROT_READ | syscall.PROT_WRITE]byte{}
	_ [private | ofNoFile | now]byte    = [syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS | syscall.MAP_POPULATE]byte{}
	_ [sysIoctl]byte                    = [syscall.SYS_IOCTL]byte{}
	_ [getTerminal]byte                 = [syscall.TCGETS]byte{}
	_ [noTerminal]byte                  = [syscall.O_NOCTTY]byte{}
	_ [nonBlock]byte                    = [syscall.O_NONBLOCK]byte{}
	_ [closeOnExec]byte                 = [syscall.O_CLOEXEC]byte{}
	_ [NotThere]byte                    = [syscall.ENOENT]byte{}
	_ [interrupted]byte                 = [syscall.EINTR]byte{}
	_ [invalid]byte                     = [syscall.EINVAL]byte{}
	_ [sysLimit]byte                    = [unix.SYS_PRLIMIT64]byte{}
	_ [limitOfFiles]byte                = [syscall.RLIMIT_NOFILE]byte{}
	_ [unlocked]byte                    = [syscall.F_UNLCK]byte{}
	_ [forWriting]byte                  = [syscall.F_WRLCK]byte{}
)

// TestLook compares with package syscall, of everything that can lie at a path.
func TestLook(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "file"), []byte("12345"), 0o640))
	require.NoError(t, os.Symlink("file", filepath.Join(dir, "link")))
	require.NoError(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	fd, err := OpenDir(Here, dir)
	require.NoError(t, err)
	defer Close(fd)
	for _, name := range []string{"file", "link", "dangling", "pipe", ".", "absent", "file/below", "/etc"} {
		for _, follow := range []bool{false, true} {
			path := name
			if !filepath.IsAbs(name) {
				path = dir + "/" + name
			}
			var st syscall.Stat_t
			ask := syscall.Lstat
			if follow {
				ask = syscall.Stat
			}
			var want Stat
			if ask(path, &st) == nil {
				want = Stat{Dev: st.Dev, Ino: st.Ino, Size: st.Size, Mode: st.Mode, Mtime: st.Mtim.Nano(), Change: st.Ctim.Nano()}
			}
			got := Look(fd, []byte(name+"\x00"), follow)
			require.Equal(t, want, got, "%s %v", name, follow)
			require.Equal(t, want, LookAlone(fd, []byte(name+"\x00"), follow), "%s %v", name, follow)
			require.Equal(t, want.Mode&syscall.S_IFMT == syscall.S_IFREG, got.IsRegular())
			require.Equal(t, want.Mode&syscall.S_IFMT == syscall.S_IFLNK, got.IsLink())
		}
	}
	_, err = StatPath(filepath.Join(dir, "absent"))
	require.ErrorIs(t, err, NotThere)
	_, err = OpenDir(fd, "file")
	require.Error(t, err)
}

func TestReadFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	for _, size := range []int{0, 1, 4096, 1 << 20} {
		want := strings.Repeat("x", size)
		require.NoError(t, os.WriteFile(path, []byte(want), 0o600))
		for _, more := range []int{0, 1, 4096} {
			got, err := ReadFile(path, func(n int) []byte { return make([]byte, n+more) })
			require.NoError(t, err)
			require.Equal(t, want, string(got))
		}
	}
	got, err := ReadFile("/proc/self/limits", Space) // stat says that it is empty
	require.NoError(t, err)
	want, err := os.ReadFile("/proc/self/limits")
	require.NoError(t, err)
	require.Equal(t, string(want), string(got))
	_, err = ReadFile(filepath.Dir(path), Space)
	require.Error(t, err)
	_, err = ReadFile(path+".absent", Space)
	require.ErrorIs(t, err, NotThere)
	require.Contains(t, err.Error(), path+".absent")
	pipe := path + ".pipe"
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	_, err = ReadFile(pipe, Space) // and does not wait for who writes it
	require.Error(t, err)
}

func TestNames(t *testing.T) {
	dir := t.TempDir()
	_, err := Names(dir + "/absent")
	require.ErrorIs(t, err, NotThere)
	for i := range 300 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%0*d", 1+i*254/299, i)), nil, 0o600))
		if i%50 != 0 {
			continue
		}
		var want []string
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		for _, e := range entries {
			want = append(want, e.Name())
		}
		got, err := Names(dir)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestWorkDir(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	gone := filepath.Join(dir, "gone")
	require.NoError(t, os.Mkdir(gone, 0o700))
	t.Chdir(gone)
	got, err := WorkDir()
	require.NoError(t, err)
	require.Equal(t, gone, got)
	require.NoError(t, os.Remove(gone))
	_, err = WorkDir()
	require.Error(t, err)
}

func TestIsTerminal(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("no terminal can be made here")
	}
	defer terminal.Close()
	require.True(t, IsTerminal(int(terminal.Fd())))
	file, err := os.Open(os.DevNull)
	require.NoError(t, err)
	defer file.Close()
	require.False(t, IsTerminal(int(file.Fd())))
	require.False(t, IsTerminal(-1))
}

func TestSpace(t *testing.T) {
	b := Space(3 << 20)
	require.Len(t, b, 3<<20)
	require.Equal(t, make([]byte, 3<<20), b)
	b[0], b[len(b)-1] = 1, 2
	require.Empty(t, Space(0))
}

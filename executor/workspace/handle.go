package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// openFlags keep a pipe or terminal from holding us up, and our files from every child.
const openFlags = unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY

// openDir opens a directory as the root of everything done below it.
func openDir(dir string) (int, error) { return openDirAs(dir, unix.O_RDONLY) }

// openDirAs is openDir with other flags.
func openDirAs(dir string, flags int) (int, error) {
	for {
		fd, err := unix.Open(dir, flags|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if err == nil {
			return fd, nil
		}
		if !errors.Is(err, unix.EINTR) {
			return -1, &os.PathError{Op: "open", Path: dir, Err: err}
		}
	}
}

// readBeside reads a file that this program wrote beside the workspace of attempt. A task may have put something else in its place, such as a
// pipe in which nobody writes, or a link: that is no file of ours.
func readBeside(attempt, name string) ([]byte, error) {
	fd, err := unix.Open(filepath.Join(attempt, name), unix.O_RDONLY|unix.O_NOFOLLOW|openFlags, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: filepath.Join(attempt, name), Err: err}
	}
	f := os.NewFile(uintptr(fd), filepath.Join(attempt, name))
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: f.Name(), Err: errors.Join(err, errStrange)}
	}
	return io.ReadAll(f)
}

// errStrange says that something lies where this program left a file.
var errStrange = errors.New("it is no regular file")

// openBeneath opens path below dir. Links are followed as long as they stay below it, unless resolve
// says more.
func openBeneath(dir int, path string, flags int, mode uint32, resolve uint64) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags | unix.O_CLOEXEC),
		Mode:    uint64(mode),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | resolve,
	}
	if flags&unix.O_CREAT != 0 {
		if err := effect.Before(effect.OpCreate, path); err != nil {
			return -1, err
		}
	}
	for {
		fd, err := effect.Openat2(dir, path, &how)
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			return fd, err
		}
	}
}

// writeAll writes b at the end of what was written to fd.
func writeAll(fd int, b []byte) error {
	for len(b) > 0 {
		n, err := effect.WriteFd(fd, b, "workspace")
		if err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}

// umask is that of this process. Reading it by setting it would be seen by other goroutines.
var umask = sync.OnceValue(func() uint32 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0o777 // trust no mode given to open: each is set afterwards
	}
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "Umask:"); ok {
			if m, err := strconv.ParseUint(strings.TrimSpace(v), 8, 32); err == nil {
				return uint32(m)
			}
		}
	}
	return 0o777
})

// readlink returns the target of the link at path.
func readlink(dir int, path string) (string, error) {
	for size := 256; ; size *= 2 {
		buf := make([]byte, size)
		n, err := unix.Readlinkat(dir, path, buf)
		if err != nil {
			return "", err
		}
		if n < size {
			return string(buf[:n]), nil
		}
	}
}

// wrap gives a system error a verb and an object.
func wrap(verb, path string, err error) error {
	if err == nil {
		return nil
	}
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return fmt.Errorf("%s %s: %w\nhint: free space where the store lies; nothing that is stored is lost", verb, path, err)
	}
	return fmt.Errorf("%s %s: %w", verb, path, err)
}

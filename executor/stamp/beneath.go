package stamp

import (
	"errors"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// openBeneath is OpenBeneath, but for an absolute path, which has no such directory.
func openBeneath(dir int, path string, flags int) (fd int, err error) {
	if strings.HasPrefix(path, "/") {
		return unix.Openat(dir, path, flags, 0)
	}
	return OpenBeneath(dir, path, flags)
}

// OpenBeneath opens what lies at a relative path below an open directory, and goes through no link that leads out of that directory: that
// is EXDEV.
func OpenBeneath(dir int, path string, flags int) (fd int, err error) {
	how := unix.OpenHow{Flags: uint64(flags), Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err = effect.Openat2(dir, path, &how)
		switch {
		case errors.Is(err, unix.ENOSYS): // a kernel before 5.6, and valgrind, in which instructions are counted
			return openByName(dir, path, flags)
		case !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN): // EAGAIN: a directory on the way is being renamed
			return fd, err
		}
	}
}

// openByName is openBeneath that goes through no link at all, one name after the other.
func openByName(dir int, path string, flags int) (fd int, err error) {
	at := dir
	for {
		name, rest, more := strings.Cut(path, "/")
		if name == ".." {
			err = unix.EXDEV
		} else if !more {
			fd, err = unix.Openat(at, name, flags|unix.O_NOFOLLOW, 0)
		} else {
			fd, err = unix.Openat(at, name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		}
		if at != dir {
			unix.Close(at)
		}
		if err != nil || !more {
			return fd, err
		}
		at, path = fd, rest
	}
}

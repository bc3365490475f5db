package workspace

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// Ways to copy a large file, the better ones first. The kernel is asked for the best once for each pair of file systems: a project may
// lie on several.
const (
	ByReflink = "reflink" // the copy shares its blocks until one of the two is written
	ByKernel  = "kernel"  // copied, without taking the bytes through this process
	ByReading = "reading" // read and written
)

// Copying tries by which of the ways files that lie beside from, a file that is not empty, are copied into dir. It
// leaves nothing.
func Copying(from, dir string) (string, error) {
	src, err := unix.Open(from, unix.O_RDONLY|openFlags, 0)
	if err != nil {
		return "", wrap("read", from, err)
	}
	defer unix.Close(src)
	to, err := unix.Open(dir, unix.O_TMPFILE|unix.O_RDWR|unix.O_CLOEXEC, 0o600)
	if errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.EISDIR) {
		return "", fmt.Errorf("try to copy into %s: it takes no file without a name", dir)
	}
	if err != nil {
		return "", wrap("try to copy into", dir, err)
	}
	defer unix.Close(to)
	if unix.IoctlFileClone(to, src) == nil {
		return ByReflink, nil
	}
	var at int64
	if n, err := unix.CopyFileRange(src, &at, to, nil, 1, 0); err == nil && n == 1 {
		return ByKernel, nil
	}
	return ByReading, nil
}

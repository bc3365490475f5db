package effect

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// RemoveAll removes what is at path with everything in it, also where its maker took the permission to. What is not
// there is removed already. Links are removed, never followed.
func RemoveAll(path string) error {
	if f := fault(OpRemove, path); f != nil {
		if f.Half {
			removeHalf(path)
		}
		return &os.PathError{Op: "remove", Path: path, Err: f.strike()}
	}
	return removeAt(unix.AT_FDCWD, path, unix.DT_DIR, path)
}

// removeHalf removes every other entry of a directory.
func removeHalf(path string) {
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for i, e := range entries {
		if i%2 == 0 {
			_ = os.RemoveAll(path + "/" + e.Name())
		}
	}
}

// removeAt removes one entry of a directory. kind is what it was listed as; path is what messages call it.
func removeAt(dir int, name string, kind byte, path string) error {
	if kind != unix.DT_DIR {
		err := unlink(dir, name, 0)
		if err == nil || errors.Is(err, unix.ENOENT) {
			return nil
		}
		if !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) { // EPERM is how POSIX refuses a directory
			return &os.PathError{Op: "unlinkat", Path: path, Err: err}
		}
	}
	fd, err := openOwn(dir, name)
	switch {
	case errors.Is(err, unix.ENOENT):
		return nil
	case errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		if err := unlink(dir, name, 0); err != nil && !errors.Is(err, unix.ENOENT) {
			return &os.PathError{Op: "unlinkat", Path: path, Err: err}
		}
		return nil
	case err != nil:
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	for try := 1; ; try++ {
		bad := removeIn(fd, path)
		err := unlink(dir, name, unix.AT_REMOVEDIR)
		switch {
		case err == nil || errors.Is(err, unix.ENOENT):
			return nil
		case bad != nil:
			return bad
		case !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) || try == emptyTries:
			return &os.PathError{Op: "unlinkat", Path: path, Err: err}
		}
		if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
			return &os.PathError{Op: "seek", Path: path, Err: err}
		}
	}
}

// emptyTries bounds how often a directory is emptied to which somebody else adds meanwhile.
const emptyTries = 5

// removeIn empties an open directory as far as that is possible, and returns the first trouble.
func removeIn(fd int, path string) error {
	entries, err := list(fd)
	if err != nil {
		return &os.PathError{Op: "readdirent", Path: path, Err: err}
	}
	var bad error
	opened := false
	for _, e := range entries {
		err := removeAt(fd, e.name, e.kind, path+"/"+e.name)
		if errors.Is(err, os.ErrPermission) && !opened {
			opened = true
			if unix.Fchmod(fd, 0o700) == nil {
				err = removeAt(fd, e.name, e.kind, path+"/"+e.name)
			}
		}
		if bad == nil {
			bad = err
		}
	}
	return bad
}

// openOwn opens a directory, never through a link; one that its maker closed is opened to us first.
func openOwn(dir int, name string) (int, error) {
	const flags = unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := openNow(dir, name, unix.O_RDONLY|flags)
	if !errors.Is(err, unix.EACCES) {
		return fd, err
	}
	at, pathErr := openNow(dir, name, unix.O_PATH|flags)
	if pathErr != nil {
		return -1, err
	}
	defer unix.Close(at)
	if unix.Chmod("/proc/self/fd/"+strconv.Itoa(at), 0o700) != nil {
		return -1, err
	}
	return openNow(dir, name, unix.O_RDONLY|flags)
}

func openNow(dir int, name string, flags int) (int, error) {
	for {
		fd, err := unix.Openat(dir, name, flags, 0)
		if !errors.Is(err, unix.EINTR) {
			return fd, err
		}
	}
}

func unlink(dir int, name string, flags int) error {
	for {
		err := unix.Unlinkat(dir, name, flags)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// entry is one name in a directory.
type entry struct {
	name string
	kind byte // unix.DT_DIR and its like; DT_UNKNOWN where the file system does not say
}

var listBuffers = sync.Pool{New: func() any { b := make([]byte, 16<<10); return &b }}

// list reads an open directory.
func list(fd int) ([]entry, error) {
	buf := listBuffers.Get().(*[]byte)
	defer listBuffers.Put(buf)
	var out []entry
	for {
		n, err := unix.Getdents(fd, *buf)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n == 0 {
			return out, err
		}
		out = appendEntries(out, (*buf)[:n])
	}
}

// Where the fields of a directory entry lie, as getdents64 gives them.
const (
	direntLen  = 16
	direntKind = 18
	direntName = 19
)

func appendEntries(out []entry, b []byte) []entry {
	for len(b) > direntName {
		size := int(binary.NativeEndian.Uint16(b[direntLen:]))
		if size < direntName || size > len(b) {
			break
		}
		name, _, _ := bytes.Cut(b[direntName:size], []byte{0})
		if s := string(name); s != "." && s != ".." {
			out = append(out, entry{s, b[direntKind]})
		}
		b = b[size:]
	}
	return out
}

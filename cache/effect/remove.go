package effect

import (
	"errors"
	"os"
	"strconv"

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
	entries, err := ReadDir(fd)
	if err != nil {
		return &os.PathError{Op: "readdirent", Path: path, Err: err}
	}
	var bad error
	opened := false
	for _, e := range entries {
		err := removeAt(fd, e.Name, e.Kind, path+"/"+e.Name)
		if errors.Is(err, os.ErrPermission) && !opened {
			opened = true
			if unix.Fchmod(fd, 0o700) == nil {
				err = removeAt(fd, e.Name, e.Kind, path+"/"+e.Name)
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
	fd, err := openNow(dir, name, unix.O_RDONLY|flags, 0)
	if !errors.Is(err, unix.EACCES) {
		return fd, err
	}
	at, pathErr := openNow(dir, name, unix.O_PATH|flags, 0)
	if pathErr != nil {
		return -1, err
	}
	defer unix.Close(at)
	if unix.Chmod("/proc/self/fd/"+strconv.Itoa(at), 0o700) != nil {
		return -1, err
	}
	return openNow(dir, name, unix.O_RDONLY|flags, 0)
}

func openNow(dir int, name string, flags int, mode uint32) (fd int, err error) {
	err = again(func() error {
		fd, err = unix.Openat(dir, name, flags, mode)
		return err
	})
	return fd, err
}

func unlink(dir int, name string, flags int) error {
	return again(func() error { return unix.Unlinkat(dir, name, flags) })
}

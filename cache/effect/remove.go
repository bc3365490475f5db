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
	return removeOpen(dir, name, fd, path, false)
}

// RemoveOpen removes the directory name of dir, which is open for reading as fd and was not read yet, with everything in it. Directories
// in it are taken for empty ones, which spares opening them; those that are not go all the same.
func RemoveOpen(dir int, name string, fd int) error {
	if f := fault(OpRemove, name); f != nil {
		if f.Half {
			removeHalf("/proc/self/fd/" + strconv.Itoa(fd))
		}
		return &os.PathError{Op: "remove", Path: name, Err: f.strike()}
	}
	return removeOpen(dir, name, fd, name, true)
}

// emptyTries bounds how often a directory is emptied to which somebody else adds meanwhile.
const emptyTries = 5

// removeOpen removes a directory that is open as fd. That it goes shows that it was read to its end, which one of a few entries need not
// show by another reading.
func removeOpen(dir int, name string, fd int, path string, hollow bool) error {
	e := emptying{fd: fd, path: path, hollow: hollow}
	for try := 1; ; {
		end := e.some()
		err := unlink(dir, name, unix.AT_REMOVEDIR)
		full := errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, unix.EEXIST)
		switch {
		case err == nil || errors.Is(err, unix.ENOENT):
			return nil
		case full && !end:
			continue
		case e.bad != nil:
			return e.bad
		case !full || try == emptyTries:
			return &os.PathError{Op: "unlinkat", Path: path, Err: err}
		}
		try++
		if _, err := unix.Seek(fd, 0, unix.SEEK_SET); err != nil {
			return &os.PathError{Op: "seek", Path: path, Err: err}
		}
	}
}

// emptying removes what is in an open directory, as far as that is possible.
type emptying struct {
	fd     int
	path   string
	hollow bool  // directories in it are probably empty
	opened bool  // to its owner, who may not have been allowed to remove anything
	bad    error // the first trouble
}

// fewEntries is how many are removed before all were listed: of more, some file systems forget where the listing was.
const fewEntries = 50

// some removes what is listed next, and reports whether the end of the list was read.
func (e *emptying) some() (end bool) {
	entries, end, err := readSome(e.fd, nil)
	if err == nil && len(entries) > fewEntries {
		end = true
		var rest []DirEntry
		rest, err = ReadDir(e.fd)
		entries = append(entries, rest...)
	}
	if err != nil && e.bad == nil {
		e.bad = &os.PathError{Op: "readdirent", Path: e.path, Err: err}
	}
	for _, entry := range entries {
		err := e.one(entry)
		if errors.Is(err, os.ErrPermission) && !e.opened {
			e.opened = true
			if unix.Fchmod(e.fd, 0o700) == nil {
				err = e.one(entry)
			}
		}
		if e.bad == nil {
			e.bad = err
		}
	}
	return end || err != nil
}

func (e *emptying) one(entry DirEntry) error {
	if e.hollow && entry.Kind == unix.DT_DIR && unlink(e.fd, entry.Name, unix.AT_REMOVEDIR) == nil {
		return nil
	}
	return removeAt(e.fd, entry.Name, entry.Kind, e.path+"/"+entry.Name)
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
		fd, err = openat(dir, name, flags, mode)
		return err
	})
	return fd, err
}

func unlink(dir int, name string, flags int) error {
	return again(func() error { return unlinkat(dir, name, flags) })
}

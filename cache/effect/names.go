package effect

import (
	"errors"
	"os"
	slash "path" // package filepath comes up late, and what answers before the program starts changes the world by this one
	"strconv"

	"golang.org/x/sys/unix"
)

// Rename is os.Rename.
func Rename(from, to string) error {
	if err := Before(OpRename, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return os.Rename(from, to)
}

// RenameIn is root.Rename.
func RenameIn(root *os.Root, from, to string) error {
	if err := Before(OpRename, to); err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return root.Rename(from, to)
}

// Renameat is the system call.
func Renameat(fromDir int, from string, toDir int, to string) error {
	if err := Before(OpRename, to); err != nil {
		return err
	}
	return again(func() error { return renameat2(fromDir, from, toDir, to, 0) })
}

// Renameat2 is the system call.
func Renameat2(fromDir int, from string, toDir int, to string, flags uint) error {
	if err := Before(OpRename, to); err != nil {
		return err
	}
	return again(func() error { return renameat2(fromDir, from, toDir, to, flags) })
}

// Link is os.Link.
func Link(from, to string) error {
	if err := Before(OpLink, to); err != nil {
		return &os.LinkError{Op: "link", Old: from, New: to, Err: err}
	}
	return os.Link(from, to)
}

// Linkat gives the open file from another name.
func Linkat(from, toDir int, to string) error {
	if err := Before(OpLink, to); err != nil {
		return err
	}
	name := "/proc/self/fd/" + strconv.Itoa(from)
	return again(func() error { return unix.Linkat(unix.AT_FDCWD, name, toDir, to, unix.AT_SYMLINK_FOLLOW) })
}

// Symlink is os.Symlink.
func Symlink(target, path string) error {
	if err := Before(OpSymlink, path); err != nil {
		return &os.LinkError{Op: "symlink", Old: target, New: path, Err: err}
	}
	return os.Symlink(target, path)
}

// SymlinkIn is root.Symlink.
func SymlinkIn(root *os.Root, target, path string) error {
	if err := Before(OpSymlink, path); err != nil {
		return &os.LinkError{Op: "symlink", Old: target, New: path, Err: err}
	}
	return root.Symlink(target, path)
}

// Symlinkat is the system call.
func Symlinkat(target string, dir int, path string) error {
	if err := Before(OpSymlink, path); err != nil {
		return err
	}
	return again(func() error { return unix.Symlinkat(target, dir, path) })
}

// Mkdir is os.Mkdir.
func Mkdir(path string, mode os.FileMode) error {
	if err := Before(OpMkdir, path); err != nil {
		return &os.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return os.Mkdir(path, mode)
}

// MkdirAll is os.MkdirAll. A directory that is there already is no effect.
func MkdirAll(path string, mode os.FileMode) error {
	if intercept != nil && !isDir(path) {
		if err := Before(OpMkdir, path); err != nil {
			return &os.PathError{Op: "mkdir", Path: path, Err: err}
		}
	}
	return os.MkdirAll(path, mode)
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// MkdirAllIn is root.MkdirAll.
func MkdirAllIn(root *os.Root, path string, mode os.FileMode) error {
	if err := Before(OpMkdir, path); err != nil {
		return &os.PathError{Op: "mkdir", Path: path, Err: err}
	}
	return root.MkdirAll(path, mode)
}

// MkdirTemp is os.MkdirTemp.
func MkdirTemp(dir, pattern string) (string, error) {
	if err := Before(OpMkdir, dir+"/"+pattern); err != nil {
		return "", &os.PathError{Op: "mkdir", Path: dir, Err: err}
	}
	return os.MkdirTemp(dir, pattern)
}

// Mkdirat is the system call.
func Mkdirat(dir int, path string, mode uint32) error {
	if err := Before(OpMkdir, path); err != nil {
		return err
	}
	return again(func() error { return mkdirat(dir, path, mode) })
}

// Remove is os.Remove.
func Remove(path string) error {
	if err := Before(OpRemove, path); err != nil {
		return &os.PathError{Op: "remove", Path: path, Err: err}
	}
	return os.Remove(path)
}

// RemoveIn is root.Remove.
func RemoveIn(root *os.Root, path string) error {
	if err := Before(OpRemove, path); err != nil {
		return &os.PathError{Op: "remove", Path: path, Err: err}
	}
	return root.Remove(path)
}

// Unlinkat is the system call.
func Unlinkat(dir int, path string, flags int) error {
	if err := Before(OpRemove, path); err != nil {
		return err
	}
	return unlink(dir, path, flags)
}

// Chmod is os.Chmod.
func Chmod(path string, mode os.FileMode) error {
	if err := Before(OpChmod, path); err != nil {
		return &os.PathError{Op: "chmod", Path: path, Err: err}
	}
	return os.Chmod(path, mode)
}

// Fchmodat is the system call.
func Fchmodat(dir int, path string, mode uint32, flags int) error {
	if err := Before(OpChmod, path); err != nil {
		return err
	}
	return again(func() error { return unix.Fchmodat(dir, path, mode, flags) })
}

// Replace makes the file at path hold b, mode 0600, in one step: a reader sees what was there before or all of b. It is not synced. The
// file it grows in lies beside path, and its name begins with "." and the name of path and "-". A crash may leave it; the next Replace of
// path clears it away, and so does SweepTemp.
func Replace(path string, b []byte) error { return replace(path, "."+slash.Base(path)+"-", b, false) }

// ReplaceDurably is Replace, synced before it gets its name. The file it grows in is called as path with "." and more behind.
func ReplaceDurably(path string, b []byte) error {
	return replace(path, slash.Base(path)+".", b, true)
}

func replace(path, temp string, b []byte, sync bool) error {
	SweepTemp(slash.Dir(path), temp)
	f, err := HeldTemp(slash.Dir(path), temp)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil && sync {
		err = f.Sync()
	}
	if err == nil { // before it is closed, and not held any more
		err = Rename(f.Name(), path)
	}
	if err != nil {
		_ = Remove(f.Name())
	}
	return errors.Join(err, f.Close())
}

// WriteFile is os.WriteFile.
func WriteFile(path string, b []byte, mode os.FileMode) error {
	f, err := OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}

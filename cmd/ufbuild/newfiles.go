package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// newFile is a file of a new campaign.
type newFile struct {
	path string // below its directory, with slashes
	data []byte
	mode os.FileMode
}

// newFileName is what a file is called until it is whole. It is one name in each directory, so that who comes after a
// process that was killed writes over what that left.
const newFileName = ".ufbuild-new"

// createFiles writes all files below dir. When one is there already that is not as it would be written, or when all are
// there, it writes none. So what was killed half-way is finished by the same command.
func createFiles(what, dir string, files []newFile, hint string) error {
	var other, same []string
	var missing []newFile
	for _, f := range files {
		target := filepath.Join(dir, filepath.FromSlash(f.path))
		if _, err := os.Lstat(target); err != nil {
			missing = append(missing, f)
		} else if have, err := os.ReadFile(target); err == nil && bytes.Equal(have, f.data) {
			same = append(same, f.path)
		} else {
			other = append(other, f.path)
		}
	}
	if len(missing) == 0 {
		other = append(other, same...)
	}
	if len(other) > 0 {
		return usageErrorf("%s: nothing was written, since these are there already: %s\nhint: %s", what, strings.Join(other, ", "), hint)
	}
	for _, f := range missing {
		if err := createFile(filepath.Join(dir, filepath.FromSlash(f.path)), f.data, f.mode); err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
	}
	return nil
}

// createFile writes a file that must not be there, whole or not at all.
func createFile(target string, data []byte, mode os.FileMode) error {
	if err := effect.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return err
	}
	temp := filepath.Join(filepath.Dir(target), newFileName)
	f, err := effect.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC|unix.O_NOFOLLOW, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = nameNew(temp, target)
	}
	if err != nil {
		_ = effect.Remove(temp) // if it stays, the next one writes over it
	}
	return err
}

// nameNew gives a file its name unless something has it: even what appeared a moment ago is not overwritten.
func nameNew(temp, target string) error {
	err := effect.Renameat2(unix.AT_FDCWD, temp, unix.AT_FDCWD, target, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // a file system that cannot
		if err = effect.Link(temp, target); err == nil {
			err = effect.Remove(temp)
		}
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", target, err)
	}
	return nil
}

// replaceFile writes a file beside its place, under a name that begins with temp, and then moves it there: whoever looks sees the old
// file or the new one, and a full disk or a crash leaves the old one. What a crash left under such a name before is removed. It returns
// the size in bytes.
func replaceFile(file, temp string, mode os.FileMode, write func(io.Writer) error) (size int64, err error) {
	effect.SweepTemp(filepath.Dir(file), temp)
	f, err := effect.HeldTemp(filepath.Dir(file), temp)
	if err != nil {
		return 0, err
	}
	b := bufio.NewWriterSize(f, 1<<20)
	err = errors.Join(write(b), b.Flush())
	if info, statErr := f.Stat(); statErr == nil {
		size = info.Size()
	}
	if err = errors.Join(err, f.Chmod(mode), f.Sync()); err == nil {
		err = effect.Rename(f.Name(), file)
	}
	if err != nil {
		_ = effect.Remove(f.Name())
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return 0, err
	}
	return size, nil
}

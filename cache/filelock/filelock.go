// Package filelock takes kernel locks on ranges of an open file.
//
// A lock belongs to the open file description, not to the process: two handles of one process exclude each other like
// two processes do, and closing some other handle of the file gives nothing up. The kernel releases it when the last
// descriptor is closed, so a dead process holds nothing and no lock file is ever cleared by hand.
//
// Danger: the locks are advisory, and a child that inherits the descriptor keeps them. Files opened by package os are
// closed on exec.
package filelock

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/raw"
)

// Try locks length bytes of f from offset for writing and reports whether it succeeded; false means that another handle
// holds a part of the range. A length of 0 reaches to the end of any size. It never waits. f must be writable.
func Try(f *os.File, offset, length int64) (bool, error) { return try(f, unix.F_WRLCK, offset, length) }

// TryShared locks the range for reading: several handles may, and none of them while another has it by Try. A range that this
// handle has by Try becomes a shared one. f must be readable.
func TryShared(f *os.File, offset, length int64) (bool, error) {
	return try(f, unix.F_RDLCK, offset, length)
}

func try(f *os.File, kind int16, offset, length int64) (bool, error) {
	err := set(f, kind, offset, length)
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	return true, nil
}

// Unlock releases the range, however it was locked. One that is not locked is released already.
func Unlock(f *os.File, offset, length int64) error {
	if err := set(f, unix.F_UNLCK, offset, length); err != nil {
		return fmt.Errorf("unlock %s: %w", f.Name(), err)
	}
	return nil
}

func set(f *os.File, kind int16, offset, length int64) error {
	lock := unix.Flock_t{Type: kind, Whence: 0, Start: offset, Len: length}
	for {
		err := unix.FcntlFlock(f.Fd(), unix.F_OFD_SETLK, &lock)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// Free reports whether no other handle holds a part of the range. It takes nothing and changes nothing.
func Free(f *os.File, offset, length int64) (bool, error) {
	is, err := raw.Unlocked(int(f.Fd()), offset, length)
	if err != nil {
		return false, fmt.Errorf("ask lock %s: %w", f.Name(), err)
	}
	return is, nil
}

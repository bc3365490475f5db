// Package free asks whether a range of a file is locked, without taking it.
//
// It is a part of package filelock that is read by a program which has not started yet, so it is a package of its own and
// imports next to nothing.
package free

import (
	"os"
	"syscall"
)

// ofdGetLock is F_OFD_GETLK, which package syscall does not name.
const ofdGetLock = 36

// Range reports whether no other handle holds a part of the range; a length of 0 reaches to the end of any size. It changes
// nothing.
func Range(f *os.File, offset, length int64) (bool, error) {
	lock := syscall.Flock_t{Type: syscall.F_WRLCK, Start: offset, Len: length}
	for {
		switch err := syscall.FcntlFlock(f.Fd(), ofdGetLock, &lock); err {
		case nil:
			return lock.Type == syscall.F_UNLCK, nil
		case syscall.EINTR:
		default:
			return false, &os.PathError{Op: "ask lock", Path: f.Name(), Err: err}
		}
	}
}

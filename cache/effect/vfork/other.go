//go:build !amd64

package vfork

import "syscall"

// Start is syscall.ForkExec.
func Start(path string, argv []string, attr *syscall.ProcAttr) (pid int, err error) {
	return syscall.ForkExec(path, argv, attr)
}

// Starting reports whether a process is one that a Start which has not returned yet made. Here nobody knows.
func Starting(pid int) bool { return false }

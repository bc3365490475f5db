//go:build !amd64

package vfork

import "syscall"

// Start is syscall.ForkExec, and needs no descriptor of the directory.
func Start(path string, argv []string, attr *syscall.ProcAttr, dir int) (pid int, err error) {
	return syscall.ForkExec(path, argv, attr)
}

// Starting reports whether a process is one that a Start which has not returned yet made. Here nobody knows.
func Starting(pid int) bool { return false }

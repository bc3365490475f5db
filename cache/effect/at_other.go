//go:build !amd64

package effect

import "golang.org/x/sys/unix"

// Fstatat is the system call, whose number and form are others for each architecture.
func Fstatat(dir int, path string, st *unix.Stat_t, flags int) error {
	return unix.Fstatat(dir, path, st, flags)
}

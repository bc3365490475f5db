package effect

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Fstatat is the system call.
func Fstatat(dir int, path string, st *unix.Stat_t, flags int) error {
	var room nameRoom
	name, err := room.spell(path)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(dir), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(st)), uintptr(flags), 0, 0)
	return failed(errno)
}

package effect

import (
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A build makes dozens of system calls for each task that take a name below an open directory. Those of package unix copy each name to
// the heap for it. These are the same calls with a name that is copied to the stack, if it is short, as nearly all are.

// roomForName is enough for a name below an attempt's or an instance's directory, with that of the instance.
const roomForName = 256

// nameRoom is where a name is spelled as the kernel takes it.
type nameRoom [roomForName]byte

// spell returns a name with a zero behind it; EINVAL for one with a zero in it.
func (room *nameRoom) spell(name string) (*byte, error) {
	if len(name) >= len(room) || strings.IndexByte(name, 0) >= 0 {
		return unix.BytePtrFromString(name)
	}
	room[copy(room[:], name)] = 0
	return &room[0], nil
}

// Openat2 is the system call, which makes nothing unless how says so: then the caller has to ask Before first.
func Openat2(dir int, path string, how *unix.OpenHow) (fd int, err error) {
	var room nameRoom
	name, err := room.spell(path)
	if err != nil {
		return -1, err
	}
	r, _, errno := unix.Syscall6(unix.SYS_OPENAT2, uintptr(dir), uintptr(unsafe.Pointer(name)), uintptr(unsafe.Pointer(how)), unix.SizeofOpenHow, 0, 0)
	return handle(r, errno)
}

func openat(dir int, path string, flags int, mode uint32) (fd int, err error) {
	var room nameRoom
	name, err := room.spell(path)
	if err != nil {
		return -1, err
	}
	r, _, errno := unix.Syscall6(unix.SYS_OPENAT, uintptr(dir), uintptr(unsafe.Pointer(name)), uintptr(flags|unix.O_LARGEFILE), uintptr(mode), 0, 0)
	return handle(r, errno)
}

func handle(r uintptr, errno unix.Errno) (int, error) {
	if errno != 0 {
		return -1, errno
	}
	return int(r), nil
}

func renameat2(fromDir int, from string, toDir int, to string, flags uint) error {
	var fromRoom, toRoom nameRoom
	a, err := fromRoom.spell(from)
	if err != nil {
		return err
	}
	b, err := toRoom.spell(to)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall6(unix.SYS_RENAMEAT2, uintptr(fromDir), uintptr(unsafe.Pointer(a)), uintptr(toDir), uintptr(unsafe.Pointer(b)), uintptr(flags), 0)
	return failed(errno)
}

func mkdirat(dir int, path string, mode uint32) error {
	return named(unix.SYS_MKDIRAT, dir, path, uintptr(mode))
}

func unlinkat(dir int, path string, flags int) error {
	return named(unix.SYS_UNLINKAT, dir, path, uintptr(flags))
}

// named is a system call about a name, which nothing comes of.
func named(call uintptr, dir int, path string, more uintptr) error {
	var room nameRoom
	name, err := room.spell(path)
	if err != nil {
		return err
	}
	_, _, errno := unix.Syscall(call, uintptr(dir), uintptr(unsafe.Pointer(name)), more)
	return failed(errno)
}

func failed(errno unix.Errno) error {
	if errno != 0 {
		return errno
	}
	return nil
}

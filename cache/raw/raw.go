// Package raw asks the kernel for files, directories and locks before packages os and syscall can.
//
// It is for the answers that are given while the program is not initialised yet. Package os comes up after 20 others, and gives each
// file that it opens to the poller, which takes ten system calls; package syscall comes up after a dozen, for its name. So this one
// imports next to nothing, and has what it needs of them: one function, linked to by name, and the numbers of a few calls.
package raw

import (
	"slices"
	"strconv"
	"unsafe"
)

// syscall6 is a system call that may take long.
//
//go:linkname syscall6 syscall.Syscall6
func syscall6(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2, errno uintptr)

// rawSyscall6 is one that Go's scheduler is not told of: what else there is to run waits for it, and so does the collector.
//
//go:linkname rawSyscall6 syscall.RawSyscall6
func rawSyscall6(trap, a1, a2, a3, a4, a5, a6 uintptr) (r1, r2, errno uintptr)

// Errno is what the kernel says is wrong.
type Errno uintptr

// The reasons that callers ask for, the same on every platform of Linux.
const (
	NotThere    Errno = 2
	interrupted Errno = 4
	invalid     Errno = 22
)

func (e Errno) Error() string { return "the kernel says error " + strconv.Itoa(int(e)) }

// Error says what could not be done; package fmt would come up first.
type Error struct {
	Op, Path string
	Err      Errno
}

func (e *Error) Error() string { return e.Op + " " + e.Path + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// call makes a system call of a handle, a pointer and a number, again when a signal interrupts it. The pointer becomes a number
// in the very call: until then what it points to may move with the stack.
func call(trap uintptr, fd int, p unsafe.Pointer, n int) (int, Errno) {
	for {
		r, _, errno := syscall6(trap, uintptr(fd), uintptr(p), uintptr(n), 0, 0, 0)
		if Errno(errno) != interrupted {
			return int(r), Errno(errno)
		}
	}
}

// Here is the directory from which relative paths go where no handle says another.
const Here = -0x64

// What the platforms agree upon.
const (
	formatMask, Regular, Link = 0o170000, 0o100000, 0o120000

	closeOnExec, nonBlock, noTerminal = 0x80000, 0x800, 0x100
	byPath                            = 0x200000
	noFollow                          = 0x100
)

// Stat is what stat says of a path, with times in nanoseconds. The zero Stat is that of a path that is not there.
type Stat struct {
	Dev, Ino            uint64
	Size, Mtime, Change int64
	Mode                uint32
}

// IsRegular reports whether it is a file.
func (s Stat) IsRegular() bool { return s.Mode&formatMask == Regular }

// IsLink reports whether it is a symbolic link.
func (s Stat) IsLink() bool { return s.Mode&formatMask == Link }

// Look returns what stat says of a path below the open directory dir. The path ends with a zero byte: it is copied nowhere,
// which halves what a look costs. What cannot be looked at is not there.
func Look(dir int, path []byte, follow bool) Stat {
	s, _ := look(dir, path, follow)
	return s
}

// LookAlone is Look for a program that has nothing else to do: on a file system that does not answer all of it waits. It takes a
// twentieth less.
func LookAlone(dir int, path []byte, follow bool) (s Stat) {
	var st kernelStat
	for {
		_, _, errno := rawSyscall6(sysStatAt, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&st)), lookFlags(follow), 0, 0)
		if done := st.answer(&s, Errno(errno)); done {
			return s
		}
	}
}

func look(dir int, path []byte, follow bool) (s Stat, _ Errno) {
	var st kernelStat
	for {
		_, _, errno := syscall6(sysStatAt, uintptr(dir), uintptr(unsafe.Pointer(&path[0])), uintptr(unsafe.Pointer(&st)), lookFlags(follow), 0, 0)
		if done := st.answer(&s, Errno(errno)); done {
			return s, Errno(errno)
		}
	}
}

func lookFlags(follow bool) uintptr {
	if follow {
		return 0
	}
	return noFollow
}

// answer takes what came of a look, and reports whether that is all: one that a signal interrupts is made again.
func (k *kernelStat) answer(s *Stat, errno Errno) (done bool) {
	if errno == 0 {
		k.tell(s)
	}
	return errno != interrupted
}

// StatPath follows links, and says why there is nothing to say.
func StatPath(path string) (Stat, error) {
	s, errno := look(Here, zero(path), true)
	if errno != 0 {
		return s, &Error{"stat", path, errno}
	}
	return s, nil
}

// zero is a path as the kernel wants it.
func zero(path string) []byte {
	b := make([]byte, len(path)+1)
	copy(b, path)
	return b
}

// Open opens a file for reading. It waits for nobody and takes no terminal.
func Open(path string) (int, error) {
	return open(Here, path, nonBlock|noTerminal)
}

// OpenDir opens a directory to look at what is in it.
func OpenDir(dir int, path string) (int, error) {
	return open(dir, path, byPath|directory)
}

func open(dir int, path string, flags int) (int, error) {
	b := zero(path)
	fd, errno := call(sysOpenAt, dir, unsafe.Pointer(&b[0]), flags|closeOnExec)
	if errno != 0 {
		return -1, &Error{"open", path, errno}
	}
	return fd, nil
}

// Close gives up what Open and OpenDir returned.
func Close(fd int) { syscall6(sysClose, uintptr(fd), 0, 0, 0, 0, 0) }

// ReadFile returns the bytes of a regular file, in a place of at least so many bytes that space gives.
func ReadFile(path string, space func(size int) []byte) ([]byte, error) {
	fd, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer Close(fd)
	var st kernelStat
	if _, errno := call(sysStat, fd, unsafe.Pointer(&st), 0); errno != 0 {
		return nil, &Error{"stat", path, errno}
	}
	var s Stat
	st.tell(&s)
	if !s.IsRegular() {
		return nil, &Error{"read", path, invalid}
	}
	buf := space(int(s.Size) + 1) // one more, to see whether it grew
	for n := 0; ; {
		if n == len(buf) {
			buf = append(buf, make([]byte, n)...)
		}
		k, errno := call(sysRead, fd, unsafe.Pointer(&buf[n]), len(buf)-n)
		if errno != 0 {
			return nil, &Error{"read", path, errno}
		}
		if n += k; k == 0 || n == int(s.Size) {
			return buf[:n], nil
		}
	}
}

// Names returns the names in a directory, sorted.
func Names(path string) ([]string, error) {
	fd, err := open(Here, path, directory)
	if err != nil {
		return nil, err
	}
	defer Close(fd)
	var names []string
	buf := make([]byte, 512) // on the stack, which then need not grow: the directories asked for are short
	for {
		n, errno := call(sysList, fd, unsafe.Pointer(&buf[0]), len(buf))
		if errno != 0 {
			return nil, &Error{"list", path, errno}
		}
		if n == 0 {
			slices.Sort(names)
			return names, nil
		}
		names = appendNames(names, buf[:n])
	}
}

// Where the fields of a directory's entry are: the length of the entry is two bytes, the name ends with a zero byte.
const (
	entrySize = 16
	entryName = 19
)

func appendNames(names []string, entries []byte) []string {
	for len(entries) > entryName {
		size := int(*(*uint16)(unsafe.Pointer(&entries[entrySize])))
		name := entries[entryName:size]
		for i, c := range name {
			if c == 0 {
				name = name[:i]
				break
			}
		}
		if s := string(name); s != "." && s != ".." {
			names = append(names, s)
		}
		entries = entries[size:]
	}
	return names
}

// WorkDir returns the path of the working directory without links.
func WorkDir() (string, error) {
	buf := make([]byte, 4<<10)
	n, _, errno := syscall6(sysWorkDir, uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)), 0, 0, 0, 0)
	if errno != 0 {
		return "", &Error{"ask for", ".", Errno(errno)}
	}
	if n == 0 || buf[0] != '/' {
		return "", &Error{"ask for", ".", NotThere} // it is no longer below the root
	}
	return string(buf[:n-1]), nil
}

// IsTerminal reports whether an open file is a terminal.
func IsTerminal(fd int) bool {
	var settings [64]byte // struct termios is smaller
	_, _, errno := syscall6(sysIoctl, uintptr(fd), getTerminal, uintptr(unsafe.Pointer(&settings[0])), 0, 0, 0)
	return errno == 0
}

// lock is struct flock of the platforms with 64 bits.
type lock struct {
	kind, whence  int16
	start, length int64
	pid           int32
}

// How a lock is asked for.
const (
	ofdGetLock = 36
	forWriting = 1
	unlocked   = 2
)

// Unlocked reports whether no other handle of the open file fd holds a part of the range; a length of 0 reaches to the end of any
// size. It changes nothing.
func Unlocked(fd int, offset, length int64) (bool, error) {
	l := lock{kind: forWriting, start: offset, length: length}
	for {
		switch _, _, errno := syscall6(sysControl, uintptr(fd), ofdGetLock, uintptr(unsafe.Pointer(&l)), 0, 0, 0); Errno(errno) {
		case 0:
			return l.kind == unlocked, nil
		case interrupted:
		default:
			return false, Errno(errno)
		}
	}
}

// The limit of open files when the program began, before package syscall comes up, which raises it.
var softLimit, hardLimit = limit()

// FileLimit is how many files this process might open when it began, and how many it may let itself; 0 and 0 when the kernel does not say.
func FileLimit() (soft, hard uint64) { return softLimit, hardLimit }

const limitOfFiles = 7

func limit() (soft, hard uint64) {
	var both [2]uint64
	if _, _, errno := rawSyscall6(sysLimit, 0, limitOfFiles, 0, uintptr(unsafe.Pointer(&both)), 0, 0); errno != 0 {
		return 0, 0
	}
	return both[0], both[1]
}

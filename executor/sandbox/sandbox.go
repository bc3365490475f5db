// Package sandbox limits what a process and all that it starts can do, as far as this machine lets us.
//
// The nouns: a [Level] is how much is limited. Off is nothing. Writes means that files can be made, changed and
// removed only below listed directories; everything can still be read, and the network is as it was. Strict is
// a level of the language that no machine enforces yet.
//
// The promises: [Check] says before anything runs whether a level can be enforced, and why not. [Restrict]
// either enforces it or fails; nothing ever runs with less than what was asked for. A limit cannot be taken
// off again by the process or its children.
//
// The dangers: Linux's Landlock, which does it, guards files by path at the time they are opened. What is open
// already stays writable, and so do sockets of daemons that write on somebody's behalf. Modes, times and
// extended attributes of files outside can be changed by who owns them.
package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Level is how much is limited.
type Level string

// The levels, as the language writes them.
const (
	Off    Level = "off"
	Writes Level = "writes"
	Strict Level = "strict"
)

// Rights over files that Landlock grants or withholds.
const (
	// onFiles are those that a rule about a single file may grant.
	onFiles = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE

	// writes are all ways to change what is on a disk.
	writes = onFiles | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
)

// minVersion of Landlock knows truncation; before it a file could be emptied that cannot be written. It came with
// Linux 6.2.
const minVersion = 3

// devices can be written without changing a disk. Shared memory is none of them: somebody's files may lie there.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// Check returns nil when this machine can enforce a level, else why not.
func Check(level Level) error {
	switch level {
	case Off, "":
		return nil
	case Writes:
		return checkVersion()
	}
	return fmt.Errorf("enforce sandbox %q: this version enforces %q at most", string(level), string(Writes))
}

func checkVersion() error {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS, errno == unix.EOPNOTSUPP:
		return fmt.Errorf("enforce sandbox %q: this kernel has no Landlock, or does not use it", string(Writes))
	case errno != 0:
		return fmt.Errorf("enforce sandbox %q: ask the kernel for Landlock: %w", string(Writes), errno)
	case version < minVersion:
		return fmt.Errorf("enforce sandbox %q: this kernel's Landlock is of version %d, and %d is needed (Linux 6.2)", string(Writes), version, minVersion)
	}
	return nil
}

// Restrict lets the calling thread write only at or below the paths, which must exist, and to devices. The
// goroutine must be locked to its thread; the program that it then executes, and all that one starts, have the
// same limit. Other threads have not.
func Restrict(writable []string) error {
	if err := checkVersion(); err != nil {
		return err
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: writes}
	// The first field alone, which every version knows.
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr.Handled_access_fs), 0)
	if errno != 0 {
		return fmt.Errorf("make sandbox: %w", errno)
	}
	rules := int(fd)
	defer func() { _ = unix.Close(rules) }()
	for _, p := range writable {
		if err := allow(rules, p, writes); err != nil {
			return fmt.Errorf("make sandbox: let %s be written: %w", p, err)
		}
	}
	for _, d := range devices {
		if err := allow(rules, d, onFiles); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("make sandbox: let %s be written: %w", d, err)
		}
	}
	// Without it a program could get other rights than ours by being executed, and the kernel refuses the limit.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("make sandbox: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, fd, 0, 0); errno != 0 {
		return fmt.Errorf("make sandbox: %w", errno)
	}
	return nil
}

// allow adds a rule for what is at or below a path.
func allow(rules int, path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= onFiles
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(rules), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

// Package sandbox limits what a process and all that it starts can do, as far as this machine lets us.
//
// The nouns: a [Level] is how much of the file system is limited. Off is nothing. Writes means that files can be
// made, changed and removed only below listed directories; everything can still be read. Strict means that they
// can be read and executed only there, below further listed ones, and below those of the system. [Limits] are a
// level, its lists, and whether there is a network.
//
// The promises: [Check] says before anything runs whether a level can be enforced, and why not. [Restrict]
// either enforces it or fails; nothing ever runs with less than what was asked for. A limit cannot be taken
// off again by the process or its children. What was enforced, and by what, is said by [Limits.Enforced].
//
// The dangers: Linux's Landlock, which does it, guards files by path at the time they are opened. What is open
// already stays as it is, and so do sockets of daemons that act on somebody's behalf. Names, sizes and times of
// files elsewhere can be asked for at any level, and who owns a file can change its mode, times and extended
// attributes.
package sandbox

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Level is how much of the file system is limited.
type Level string

// The levels, as the language writes them.
const (
	Off    Level = "off"
	Writes Level = "writes"
	Strict Level = "strict"
)

// Limits are everything that is withheld from a process. It is plain data, and it is passed as JSON to the process
// that limits itself.
type Limits struct {
	Level Level `json:"level,omitempty"`
	// Writable are paths that may be read, written and executed from, with all that is below them. They must exist.
	Writable []string `json:"writable,omitempty"`
	// Readable are paths that may be read and executed from besides. They must exist. Only Strict heeds them.
	Readable []string `json:"readable,omitempty"`
	// NoNetwork says that the process is in a network of its own, in which there is nothing but itself.
	NoNetwork bool `json:"no_network,omitempty"`
}

// None reports whether nothing is limited.
func (l *Limits) None() bool { return !l.files() && !l.NoNetwork }

func (l *Limits) files() bool { return l.Level != Off && l.Level != "" }

// Rights over files that Landlock grants or withholds.
const (
	// writesFile and readsFile are those that a rule about a single file may grant.
	writesFile = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	readsFile  = unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_EXECUTE

	// writes are all ways to change what is on a disk.
	writes = writesFile | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER

	// reads are all ways to learn what is in a file or a directory.
	reads = readsFile | unix.LANDLOCK_ACCESS_FS_READ_DIR
)

// Versions of Landlock. Truncation is known from 3 on: before it a file could be emptied that cannot be written.
// Signals are from 6 on, and stay unlimited before: no level promises them.
const (
	minVersion  = 3 // Linux 6.2
	SignalsFrom = 6 // of a version that keeps signals inside too; Linux 6.12
)

// Version returns the version of Landlock that the kernel offers, or why it offers none.
func Version() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch {
	case errno == unix.ENOSYS, errno == unix.EOPNOTSUPP:
		return 0, errors.New("this kernel has no Landlock, or does not use it")
	case errno != 0:
		return 0, fmt.Errorf("ask the kernel for Landlock: %w", errno)
	case version < minVersion:
		return 0, fmt.Errorf("this kernel's Landlock is of version %d, and %d is needed (Linux 6.2)", version, minVersion)
	}
	return int(version), nil
}

// Check returns nil when this machine can enforce a level, else why not. Whether it can keep a process from the
// network is for the caller to try.
func Check(level Level) error {
	switch level {
	case Off, "":
		return nil
	case Writes, Strict:
		if _, err := Version(); err != nil {
			return fmt.Errorf("enforce sandbox %q: %w", string(level), err)
		}
		return nil
	}
	return fmt.Errorf("enforce sandbox %q: there is no such level", string(level))
}

// Enforced says what is enforced, and by what, one phrase each, for a machine on which Check said yes.
func (l *Limits) Enforced() []string {
	if l.None() {
		return nil
	}
	var out []string
	if version, err := Version(); err == nil && l.files() {
		what := "writes"
		if l.Level == Strict {
			what = "reads and writes"
		}
		out = append(out, fmt.Sprintf("%s by Landlock %d", what, version))
		if version >= SignalsFrom {
			out = append(out, fmt.Sprintf("signals by Landlock %d", version))
		}
	}
	if l.NoNetwork {
		out = append(out, "no network by a namespace")
	}
	return out
}

// Restrict sets the limits over files for the calling thread. The goroutine must be locked to its thread; the
// program that it then executes, and all that one starts, have the same limits. Other threads have not. It does
// nothing about the network.
func Restrict(l *Limits) error {
	if !l.files() {
		return nil
	}
	version, err := Version()
	if err != nil {
		return fmt.Errorf("enforce sandbox %q: %w", string(l.Level), err)
	}
	set, err := newRuleset(l.Level, version)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(set.fd) }()
	if err := set.fill(l); err != nil {
		return err
	}
	if err := dropCapabilities(); err != nil {
		return fmt.Errorf("make sandbox: %w", err)
	}
	// Without it a program could get other rights than ours by being executed, and the kernel refuses the limit.
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("make sandbox: %w", err)
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(set.fd), 0, 0); errno != 0 {
		return fmt.Errorf("make sandbox: %w", errno)
	}
	return nil
}

// ruleset is a list of rules in the making.
type ruleset struct {
	fd      int
	handled uint64 // rights that are withheld unless a rule grants them
}

func newRuleset(level Level, version int) (*ruleset, error) {
	attr := unix.LandlockRulesetAttr{Handled_access_fs: writes}
	if level == Strict {
		attr.Handled_access_fs |= reads
	}
	// The first field alone is what every version knows.
	size := unsafe.Sizeof(attr.Handled_access_fs)
	if version >= SignalsFrom {
		size = unsafe.Offsetof(attr.Quiet_access_fs)
		attr.Scoped = unix.LANDLOCK_SCOPE_SIGNAL
		if level == Strict { // a socket without a file is a way to read what is elsewhere
			attr.Scoped |= unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET
		}
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), size, 0)
	if errno != 0 {
		return nil, fmt.Errorf("make sandbox: %w", errno)
	}
	return &ruleset{fd: int(fd), handled: attr.Handled_access_fs}, nil
}

// fill adds the rules.
func (s *ruleset) fill(l *Limits) error {
	for _, p := range l.Writable {
		if err := s.allow(p, writes|reads); err != nil {
			return fmt.Errorf("make sandbox: let %s be written: %w", p, err)
		}
	}
	for _, d := range Devices {
		if err := s.allow(d, writesFile|reads); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("make sandbox: let %s be written: %w", d, err)
		}
	}
	if l.Level != Strict {
		return nil
	}
	for _, p := range l.Readable {
		if err := s.allow(p, reads); err != nil {
			return fmt.Errorf("make sandbox: let %s be read: %w", p, err)
		}
	}
	for _, p := range System {
		if err := s.allow(p, reads); err != nil && !missing(err) {
			return fmt.Errorf("make sandbox: let %s be read: %w", p, err)
		}
	}
	return nil
}

// allow adds a rule for what is at or below a path.
func (s *ruleset) allow(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	rights &= s.handled
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= writesFile | readsFile
	}
	attr := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}
	_, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(s.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&attr)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}

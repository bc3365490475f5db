package vfork

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/raw"
)

// unable says that this kernel, or who filters its system calls, does not make processes as they are made here.
var unable atomic.Bool

// Start is syscall.ForkExec. dir is a descriptor of the directory that attr names, which is then not looked up; -1 for none.
func Start(path string, argv []string, attr *syscall.ProcAttr, dir int) (pid int, err error) {
	if unable.Load() || !simple(attr) {
		return syscall.ForkExec(path, argv, attr)
	}
	hush()
	way := bornAside
	if programs.answers(path) && (attr.Dir == "" || answers(attr.Dir, dir)) {
		way = born
	}
	pid, err = with(way, path, argv, attr, dir)
	if errors.Is(err, errUnable) {
		unable.Store(true)
		return syscall.ForkExec(path, argv, attr)
	}
	return pid, err
}

// hush lets nobody be told that a child ended. Go's runtime has the kernel call it for each, on a thread that may have to be woken for it,
// and does nothing then unless somebody asked package os/signal for SIGCHLD, which nobody here does: who waits for a child has other ways.
// Without a handler the kernel sends no signal, and keeps what is to be waited for all the same.
var hush = sync.OnceFunc(func() {
	var none [4]uint64 // struct sigaction: the default, no flags, an empty mask
	_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(syscall.SIGCHLD), uintptr(unsafe.Pointer(&none)), 0, unsafe.Sizeof(none[0]), 0, 0)
})

var errUnable = errors.New("the kernel makes no such process")

// with starts a program in one of the two ways.
func with(way func(*list), path string, argv []string, attr *syscall.ProcAttr, dir int) (pid int, err error) {
	l, err := write(path, argv, attr, dir)
	if err != nil {
		return 0, err
	}
	if pid, err = finish(l, way); err == nil && attr.Sys != nil && attr.Sys.PidFD != nil {
		*attr.Sys.PidFD = int(l.pidfd)
	}
	return pid, err
}

// births are the lists that are being gone through: a few at once.
var births struct {
	sync.Mutex
	lists []*list
}

func enroll(l *list) {
	births.Lock()
	births.lists = append(births.lists, l)
	births.Unlock()
}

func strike(l *list) {
	births.Lock()
	i := slices.Index(births.lists, l)
	births.lists = slices.Delete(births.lists, i, i+1)
	births.Unlock()
}

// Starting reports whether a process is one that a Start which has not returned yet made. The thread that made it stands still, so that
// nobody else knows its number. It may be false for a moment after the process came to be.
func Starting(pid int) bool {
	births.Lock()
	defer births.Unlock()
	return slices.ContainsFunc(births.lists, func(l *list) bool { return int(atomic.LoadInt32(&l.born)) == pid })
}

// finish makes the process of a list, and buries it when it did not become the program.
func finish(l *list, way func(*list)) (pid int, err error) {
	enroll(l)
	defer strike(l)
	way(l)
	errno := syscall.Errno(l.errno)
	switch {
	case errno == 0:
		return int(l.pid), nil
	case l.pid == 0 && (errno == syscall.ENOSYS || errno == syscall.EPERM || errno == syscall.EINVAL):
		return 0, errUnable
	case l.pid == 0:
		return 0, errno
	}
	for {
		if _, err := syscall.Wait4(int(l.pid), nil, 0, nil); err != syscall.EINTR {
			break
		}
	}
	if l.pidfd >= 0 {
		unix.Close(int(l.pidfd))
	}
	return 0, errno
}

// maxFiles is how many files a process gets at most; package syscall gives more.
const maxFiles = 6

// simple reports whether a process is asked for that a list can make.
func simple(attr *syscall.ProcAttr) bool {
	if attr == nil || len(attr.Files) > maxFiles {
		return false
	}
	if attr.Sys == nil {
		return true
	}
	other := *attr.Sys
	other.Setsid, other.Setpgid, other.Pgid, other.Pdeathsig, other.PidFD = false, false, 0, 0, nil
	return isZero(&other)
}

// isZero looks at the few fields that somebody may set, and the many that nobody does.
func isZero(s *syscall.SysProcAttr) bool {
	return s.Chroot == "" && s.Credential == nil && !s.Ptrace && !s.Setctty && !s.Noctty && s.Ctty == 0 && !s.Foreground &&
		s.Cloneflags == 0 && s.Unshareflags == 0 && s.UidMappings == nil && s.GidMappings == nil && !s.GidMappingsEnableSetgroups &&
		s.AmbientCaps == nil && !s.UseCgroupFD && s.CgroupFD == 0
}

// maxCalls is enough for a process with maxFiles files, each of which is moved twice.
const maxCalls = 5 + 2*maxFiles + 2

// call is a system call and what may come of it.
type call struct {
	number uintptr
	args   [4]uintptr
	expect uintptr
}

// What may come of a call.
const (
	anything   = iota // its error too
	noError           // an error is the end of the process
	thisParent        // anything but the number of the process that wrote the list is the end
)

// cloneArgs is the kernel's struct clone_args.
type cloneArgs struct {
	flags, pidfd, childTID, parentTID, exitSignal, stack, stackSize, tls, setTID, setTIDSize, cgroup uint64
}

// list is how a process is made, and what it does then, the last of which is to become the program. The assembly knows its form.
type list struct {
	clone  cloneArgs
	pid    uintptr // of the process; 0 when there is none
	errno  uintptr // why there is none, or why it ended
	parent uintptr
	n      uintptr
	calls  [maxCalls]call

	pidfd          int32
	born           int32 // the number of the process, which the kernel leaves here before it runs; see Starting
	path, dir      *byte // what calls point to
	argv, environs []*byte
	limit          *unix.Rlimit
}

func (l *list) add(expect, number uintptr, args ...uintptr) {
	c := &l.calls[l.n]
	c.number, c.expect = number, expect
	copy(c.args[:], args)
	l.n++
}

// self is the number of this process.
var self = uintptr(syscall.Getpid())

// write makes the list of a process.
func write(path string, argv []string, attr *syscall.ProcAttr, dir int) (l *list, err error) {
	l = &list{parent: self, pidfd: -1}
	if l.path, err = syscall.BytePtrFromString(path); err != nil {
		return nil, err
	}
	if l.argv, err = syscall.SlicePtrFromStrings(argv); err != nil {
		return nil, err
	}
	if l.environs, err = syscall.SlicePtrFromStrings(attr.Env); err != nil {
		return nil, err
	}
	l.clone = cloneArgs{
		flags:      unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_CLEAR_SIGHAND | unix.CLONE_PARENT_SETTID,
		exitSignal: uint64(syscall.SIGCHLD),
		parentTID:  uint64(uintptr(unsafe.Pointer(&l.born))),
	}
	if sys := attr.Sys; sys != nil {
		if sys.PidFD != nil {
			l.clone.flags |= unix.CLONE_PIDFD
			l.clone.pidfd = uint64(uintptr(unsafe.Pointer(&l.pidfd)))
		}
		if sys.Setsid {
			l.add(noError, unix.SYS_SETSID)
		}
		if sys.Setpgid {
			l.add(noError, unix.SYS_SETPGID, 0, uintptr(sys.Pgid))
		}
	}
	if attr.Dir != "" && dir >= 0 {
		l.add(noError, unix.SYS_FCHDIR, uintptr(dir))
	} else if attr.Dir != "" {
		if l.dir, err = syscall.BytePtrFromString(attr.Dir); err != nil {
			return nil, err
		}
		l.add(noError, unix.SYS_CHDIR, uintptr(unsafe.Pointer(l.dir)))
	}
	if attr.Sys != nil && attr.Sys.Pdeathsig != 0 {
		l.add(noError, unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(attr.Sys.Pdeathsig))
		l.add(thisParent, unix.SYS_GETPPID) // which may have died before that
	}
	l.files(attr.Files)
	l.limits()
	l.add(noError, unix.SYS_EXECVE, uintptr(unsafe.Pointer(l.path)), uintptr(unsafe.Pointer(&l.argv[0])), uintptr(unsafe.Pointer(&l.environs[0])))
	return l, nil
}

// files gives the process its files: first those go out of the way that are where another one belongs.
func (l *list) files(files []uintptr) {
	var at [maxFiles]int
	free := len(files)
	for i, f := range files {
		at[i] = int(f)
		free = max(free, at[i]+1)
	}
	for i := range files {
		if at[i] >= 0 && at[i] < i {
			l.add(noError, unix.SYS_DUP3, uintptr(at[i]), uintptr(free), unix.O_CLOEXEC)
			at[i] = free
			free++
		}
	}
	for i := range files {
		switch at[i] {
		case -1:
			l.add(anything, unix.SYS_CLOSE, uintptr(i))
		case i:
			l.add(noError, unix.SYS_FCNTL, uintptr(i), unix.F_SETFD, 0)
		default:
			l.add(noError, unix.SYS_DUP3, uintptr(at[i]), uintptr(i), 0)
		}
	}
	for i := len(files); i < 3; i++ {
		l.add(anything, unix.SYS_CLOSE, uintptr(i))
	}
}

// limits gives the process the number of files that this one might open when it began, which package syscall raises for itself alone.
// It knows that it did by a number that nobody else is likely to choose.
func (l *list) limits() {
	soft, hard := raw.FileLimit()
	if hard == 0 || soft >= hard-1 {
		return
	}
	var now unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &now) == nil && now.Cur == hard-1 && now.Max == hard {
		l.limit = &unix.Rlimit{Cur: soft, Max: hard}
		l.add(anything, unix.SYS_PRLIMIT64, 0, unix.RLIMIT_NOFILE, uintptr(unsafe.Pointer(l.limit)), 0)
	}
}

// answers reports whether a path, which may be open, is on a file system that is known to answer: one of this machine.
func answers(path string, fd int) bool {
	var fs unix.Statfs_t
	var err error
	if fd >= 0 {
		err = unix.Fstatfs(fd, &fs)
	} else {
		err = unix.Statfs(path, &fs)
	}
	if err != nil {
		return false
	}
	switch fs.Type {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.F2FS_SUPER_MAGIC, unix.SQUASHFS_MAGIC:
		return true
	}
	return false
}

// asked are paths that were asked for lately, with the answers.
type asked struct {
	sync.Mutex
	paths map[string]bool // nil until the first, and again when they are forgotten
}

var programs asked

// askedAnew is how long an answer holds. Nearly all tasks start one of a few programs, and somebody may mount another file system there.
const askedAnew = time.Second

// answers asks without the lock: nobody else waits for a file system that does not answer.
func (a *asked) answers(path string) bool {
	a.Lock()
	yes, known := a.paths[path]
	a.Unlock()
	if known {
		return yes
	}
	yes = answers(path, -1)
	a.Lock()
	defer a.Unlock()
	if a.paths == nil {
		a.paths = map[string]bool{}
		time.AfterFunc(askedAnew, a.forget)
	}
	a.paths[path] = yes
	return yes
}

func (a *asked) forget() {
	a.Lock()
	defer a.Unlock()
	a.paths = nil
}

// bornAside is born as a system call that may take long: meanwhile another thread has this one's processor of Go's scheduler. That
// takes a fifteenth of what a start takes in this process.
//
//go:nosplit
//go:norace
func bornAside(l *list) {
	enterSyscall()
	born(l)
	exitSyscall()
}

// born makes the process. The thread stands still until it is the program or has ended, and so does what waits for the thread's
// processor. It uses no stack: the process has the same.
func born(l *list)

//go:linkname enterSyscall runtime.entersyscall
func enterSyscall()

//go:linkname exitSyscall runtime.exitsyscall
func exitSyscall()

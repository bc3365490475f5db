package workspace

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// Close gives up what was laid as something to make another workspace of. It may be called again, and of nil.
func (l *Laid) Close() {
	if l == nil {
		return
	}
	l.closeDir()
	for _, fd := range []*int{&l.at, &l.logFD} {
		if *fd > 0 {
			unix.Close(*fd)
			*fd = 0
		}
	}
}

// closeDir closes the workspace, where no program was started in it.
func (l *Laid) closeDir() {
	if fd := l.TakeDir(); fd > 0 {
		unix.Close(fd)
	}
}

// TakeDir gives the caller the open workspace, for a program to be started in; -1 where it is not open. The caller closes it.
func (l *Laid) TakeDir() int {
	if l == nil || l.ws == 0 {
		return -1
	}
	fd := l.ws
	l.ws = 0
	return fd
}

const logFlags, logMode = unix.O_WRONLY | unix.O_APPEND | unix.O_CLOEXEC, 0o600

// OpenLog makes the log of an attempt, of which laid is what lies in its workspace; nil where that is nobody's. What is written goes to
// its end.
func OpenLog(attempt string, laid *Laid) (*effect.File, error) {
	path := attempt + "/" + Log
	if laid == nil || laid.at == 0 {
		return effect.OpenFile(path, logFlags|unix.O_CREAT, logMode)
	}
	fd := laid.logFD
	if laid.logFD = 0; fd == 0 {
		var err error
		if fd, err = effect.Openat(laid.at, Log, logFlags|unix.O_CREAT, logMode); err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		// What cannot be looked at now is as nothing that it is compared with.
		laid.log, _ = stampOf(fd)
		laid.beside, _ = stampOf(laid.at)
	}
	return effect.Wrap(os.NewFile(uintptr(fd), path)), nil
}

// KeepLog says that nobody wrote to the log, whose file is closed: it can be that of the attempt which the directory becomes.
func (l *Laid) KeepLog() { l.silent = true }

// takeLog opens the log of the attempt that ended as that of the new one, when it is as it was made, and nobody else has it open.
// It is known to be in its place. It returns false when there has to be another one.
func (r *refit) takeLog(at int) bool {
	if !r.from.silent {
		return false
	}
	fd, err := openBeneath(at, Log, logFlags, 0, unix.RESOLVE_NO_SYMLINKS) // with the flags that a new one has: the program sees them
	if err != nil {
		return false
	}
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Nlink != 1 || st.Size != 0 || stampFrom(&st) != r.from.log || !alone(fd) {
		unix.Close(fd)
		return false
	}
	r.laid.log, r.laid.logFD = r.from.log, fd
	return true
}

// isAt reports whether the open directory of the attempt is still in its place.
func (l *Laid) isAt(attempt string) bool {
	dir, path := unix.AT_FDCWD, attempt
	if l.work > 0 {
		dir, path = l.work, filepath.Base(attempt)
	}
	now, err := stampAt(dir, path)
	return err == nil && now.ino == l.beside.ino
}

// HasTmp reports whether the attempt has its empty directory for temporary files already.
func (l *Laid) HasTmp() bool { return l != nil && l.tmp != stamp{} }

package workspace

import (
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// Spares keeps directories of attempts that ended and makes them into those of new ones. The file system then has fewer
// inodes to make and to give back, which is most of what a short task costs on some.
//
// An attempt gets nothing that another one could have left its mark on. Its ws is always made for it, and every directory in it
// but those of mounts: somebody may hold one of an attempt that ended, a container that mounts it for one, and nobody can tell. Of
// mounts it gets directories in which nobody has changed anything since they were laid, by what stat says and, where that may not tell
// all, by what is in them; nobody may write there, whoever holds them. And it gets files of which the same is true, which have one name,
// and which nobody has open. Those are written over and cut to their length. Whoever had such a file open under another name or in
// another process keeps what is gone. All that is looked at right before it is used, not when it is offered.
//
// The zero value is ready. Its methods may be called concurrently.
type Spares struct {
	mu     sync.Mutex
	free   []spare
	closed bool
	root   openedDir // that of sources which was opened last
	work   openedDir // that which the directories of attempts are in

	asked  sync.Once
	exact  bool        // see exactStamps
	humble atomic.Bool // permissions bind this process: it is not root
}

// Bounds of what is kept: as many as tasks usually run at once, and small enough that looking through one takes less than
// making it anew.
const (
	maxSpares     = 8
	maxSpareFiles = 256      // with directories of mounts
	maxSpareSize  = 64 << 10 // of a file: of larger ones the bytes are what takes time
	maxSpareLeft  = 16 << 20 // bytes that an attempt left in its workspace: they take up room until it is used again
)

// spare is the directory of an attempt that ended, with what was laid there.
type spare struct {
	attempt string
	laid    *Laid
}

// Offer takes the directory of an attempt of which everything was captured and no process lives. It returns false when it
// is not taken: the caller closes laid and removes it.
func (s *Spares) Offer(attempt string, laid *Laid) bool {
	if laid == nil || !laid.spare || laid.at == 0 || len(laid.files)+len(laid.dirs) > maxSpareFiles || laid.left > maxSpareLeft || !emptyTmp(laid.at) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.free) >= maxSpares {
		return false
	}
	laid.closeDir()
	s.free = append(s.free, spare{attempt, laid})
	return true
}

// emptyTmp reports whether an attempt left no temporary files, which could be of any size. Of a directory that was used none is left.
func emptyTmp(at int) bool {
	var st unix.Statx_t
	const want = unix.STATX_BTIME | unix.STATX_MTIME
	err := unix.Statx(at, Tmp, unix.AT_SYMLINK_NOFOLLOW, want, &st)
	if err == unix.ENOENT || err == nil && st.Mask&want == want && st.Mtime == st.Btime {
		return true
	}
	return effect.Unlinkat(at, Tmp, unix.AT_REMOVEDIR) == nil
}

func (s *Spares) take() (spare, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return spare{}, false
	}
	sp := s.free[n-1]
	s.free = s.free[:n-1]
	return sp, true
}

// Close removes what was kept. Nothing is kept any more.
func (s *Spares) Close() {
	s.mu.Lock()
	s.closed = true
	s.root.close()
	s.work.close()
	s.mu.Unlock()
	for sp, ok := s.take(); ok; sp, ok = s.take() {
		sp.laid.Close()
		Reap(sp.attempt)
	}
}

// openedDir is a directory that stays open, since nearly all attempts want the same.
type openedDir struct {
	fd int // 0 for none
	at string
}

func (d *openedDir) close() {
	if d.fd > 0 {
		unix.Close(d.fd)
		d.fd = 0
	}
}

// open opens a directory, which stays open as d if there is none yet. release says that it is not needed any more.
func (s *Spares) open(d *openedDir, path string, flags int) (fd int, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.fd > 0 && d.at == path {
		return d.fd, func() {}, nil
	}
	if fd, err = openDirAs(path, flags); err != nil {
		return -1, nil, err
	}
	if d.fd > 0 || s.closed {
		return fd, func() { unix.Close(fd) }, nil
	}
	d.fd, d.at = fd, path
	return fd, func() {}, nil
}

// kept returns a directory that was opened if it stays open, else 0.
func (s *Spares) kept(d *openedDir, fd int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.fd != fd {
		return 0
	}
	return fd
}

// Materialize is [Materialize] of an attempt whose own directory may become a spare, from a spare if there is one. The caller closes
// what was laid, unless it is offered and taken.
func (s *Spares) Materialize(attempt string, cas cache.CAS, spec Spec) (*Laid, error) {
	sp, ok := s.take()
	if !ok {
		return materialize(attempt, cas, spec, s)
	}
	if laid, err := s.remake(sp, attempt, newLayer(cas, spec)); err == nil {
		return laid, nil
	} // whatever it is, an attempt without a spare meets it too
	sp.laid.Close()
	Reap(sp.attempt)
	return materialize(attempt, cas, spec, s)
}

// remake makes a spare into the directory of an attempt.
func (s *Spares) remake(sp spare, attempt string, l *layer) (*Laid, error) {
	dir, name := filepath.Split(attempt)
	was, old := filepath.Split(sp.attempt)
	if dir != was { // of another build
		return nil, errWorn
	}
	work, release, err := s.open(&s.work, dir, unix.O_PATH) // which is enough where nobody may list it
	if err != nil {
		return nil, err
	}
	defer release()
	l.laid.work = s.kept(&s.work, work)
	r := &refit{layer: l, from: sp.laid, attempt: sp.attempt}
	r.spares, r.refit = s, r
	err = r.lay(work, old)
	if err == nil {
		if r.laid.logFD > 0 {
			_, _ = stampOf(sp.laid.at) // so that the new name has another time than what went before: see guessLaid
		}
		err = effect.Renameat(work, old, work, name)
	}
	if err != nil {
		r.laid.Close()
		return nil, err
	}
	r.laid.at, sp.laid.at = sp.laid.at, 0
	if r.laid.logFD > 0 {
		r.laid.beside, _ = stampOf(r.laid.at)
	}
	return r.laid, nil
}

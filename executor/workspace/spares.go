package workspace

import (
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
	root   int    // the directory of sources that was opened last; 0 for none
	rootAt string // where it is

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
// is not taken: the caller removes it.
func (s *Spares) Offer(attempt string, laid *Laid) bool {
	if laid == nil || !laid.spare || len(laid.files)+len(laid.dirs) > maxSpareFiles || laid.left > maxSpareLeft || !emptyTmp(attempt) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.free) >= maxSpares {
		return false
	}
	s.free = append(s.free, spare{attempt, laid})
	return true
}

// emptyTmp reports whether an attempt left no temporary files, which could be of any size. Of a directory that was used none is left.
func emptyTmp(attempt string) bool {
	var st unix.Statx_t
	const want = unix.STATX_BTIME | unix.STATX_MTIME
	tmp := attempt + "/" + Tmp
	err := unix.Statx(unix.AT_FDCWD, tmp, unix.AT_SYMLINK_NOFOLLOW, want, &st)
	if err == unix.ENOENT || err == nil && st.Mask&want == want && st.Mtime == st.Btime {
		return true
	}
	return effect.Unlinkat(unix.AT_FDCWD, tmp, unix.AT_REMOVEDIR) == nil
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
	if s.root > 0 {
		unix.Close(s.root)
		s.root = 0
	}
	s.mu.Unlock()
	for sp, ok := s.take(); ok; sp, ok = s.take() {
		Reap(sp.attempt)
	}
}

// openRoot opens the directory that sources are below. It stays open: nearly all attempts have the same. release says that it is
// not needed any more.
func (s *Spares) openRoot(path string) (fd int, release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.root > 0 && s.rootAt == path {
		return s.root, func() {}, nil
	}
	if fd, err = openDir(path); err != nil {
		return -1, nil, err
	}
	if s.root > 0 || s.closed {
		return fd, func() { unix.Close(fd) }, nil
	}
	s.root, s.rootAt = fd, path
	return fd, func() {}, nil
}

// Materialize is [Materialize] of an attempt whose own directory may become a spare, from a spare if there is one.
func (s *Spares) Materialize(attempt string, cas cache.CAS, spec Spec) (*Laid, error) {
	sp, ok := s.take()
	if !ok {
		return materialize(attempt, cas, spec, s)
	}
	r := &refit{layer: newLayer(cas, spec), from: sp.laid, attempt: sp.attempt}
	r.spares, r.refit = s, r
	err := r.lay()
	if err == nil {
		err = effect.Renameat(unix.AT_FDCWD, sp.attempt, unix.AT_FDCWD, attempt)
	}
	if err != nil { // whatever it is, an attempt without a spare meets it too
		Reap(sp.attempt)
		return materialize(attempt, cas, spec, s)
	}
	return r.laid, nil
}

package workspace

import (
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// Spares keeps directories of attempts that ended and makes them into those of new ones. The file system then has fewer
// inodes to make and to give back, which is most of what a short task costs on some.
//
// An attempt gets nothing that another one could have left its mark on. Its ws is always made for it, and every directory in it
// but those of mounts: somebody may hold one of an attempt that ended, a container that mounts it for one, and nobody can tell. Of
// mounts it gets directories in which nobody has changed anything since they were laid, by what stat says and by what is in them;
// nobody may write there, whoever holds them. And it gets files of which the same is true, which have one name, and which nobody has
// open. Those are written over and cut to their length. Whoever had such a file open under another name or in another process
// keeps what is gone.
//
// The zero value is ready. Its methods may be called concurrently.
type Spares struct {
	mu     sync.Mutex
	free   []*spare
	closed bool
}

// Bounds of what is kept: as many as tasks usually run at once, and small enough that looking through one takes less than
// making it anew.
const (
	maxSpares     = 8
	maxSpareFiles = 256
	maxSpareSize  = 64 << 10 // of a file: of larger ones the bytes are what takes time
)

// spare is the directory of an attempt that ended.
type spare struct {
	attempt string
	ws      *shelf
}

// shelf is a directory as it was laid, with what is in it. That of a workspace has all files but those of mounts, by their
// paths, and the directory of mounts.
type shelf struct {
	mode   uint32
	dirs   map[string]*shelf
	files  map[string]bool
	spoilt []string // what lies in it and is not as it was laid
}

// Offer takes the directory of an attempt of which everything was captured and no process lives. It returns false when it
// is not taken: the caller removes it.
func (s *Spares) Offer(attempt string, laid *Laid) bool {
	if laid == nil || laid.dirs == nil || len(laid.files) > maxSpareFiles || s.full() {
		return false
	}
	ws, ok := look(attempt, laid)
	if !ok {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.free) >= maxSpares {
		return false
	}
	s.free = append(s.free, &spare{attempt: attempt, ws: ws})
	return true
}

func (s *Spares) full() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed || len(s.free) >= maxSpares
}

func (s *Spares) take() *spare {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.free)
	if n == 0 {
		return nil
	}
	sp := s.free[n-1]
	s.free = s.free[:n-1]
	return sp
}

// Close removes what was kept. Nothing is kept any more.
func (s *Spares) Close() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for sp := s.take(); sp != nil; sp = s.take() {
		Reap(sp.attempt)
	}
}

// Materialize is [Materialize] of an attempt whose own directory may become a spare, from a spare if there is one.
func (s *Spares) Materialize(attempt string, cas cache.CAS, spec Spec) (*Laid, error) {
	sp := s.take()
	if sp == nil {
		return materialize(attempt, cas, spec, true)
	}
	l := newLayer(cas, spec)
	err := l.refit(sp)
	if err == nil {
		err = effect.Rename(sp.attempt, attempt)
	}
	if err != nil { // whatever it is, an attempt without a spare meets it too
		Reap(sp.attempt)
		return materialize(attempt, cas, spec, true)
	}
	return l.laid, nil
}

// look finds what is in the directory of an attempt as it was laid, and removes its log. It is false when there is something in it
// that is not ours.
func look(attempt string, laid *Laid) (*shelf, bool) {
	fd, err := openDir(attempt)
	if err != nil {
		return nil, false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	entries, err := effect.ReadDir(fd)
	if err != nil || unix.Fstat(fd, &st) != nil || st.Mode&0o7777 != 0o700 {
		return nil, false
	}
	for _, e := range entries {
		switch {
		case e.Name == Dir:
		case e.Name == Log && effect.Unlinkat(fd, Log, 0) == nil:
		case e.Name == Tmp && untouchedTmp(fd):
		default:
			return nil, false
		}
	}
	ws, err := openAt(fd, Dir)
	if err != nil {
		return nil, false
	}
	defer unix.Close(ws)
	return laid.shelf(ws), true
}

func openAt(dir int, name string) (int, error) {
	return openBeneath(dir, name, unix.O_RDONLY|unix.O_DIRECTORY, 0, unix.RESOLVE_NO_SYMLINKS)
}

// untouchedTmp reports whether nobody has used the directory for temporary files. Every use changes its times.
func untouchedTmp(attempt int) bool {
	var st unix.Statx_t
	const want = unix.STATX_BTIME | unix.STATX_MTIME | unix.STATX_CTIME | unix.STATX_MODE
	if unix.Statx(attempt, Tmp, unix.AT_SYMLINK_NOFOLLOW, want, &st) != nil || st.Mask&want != want {
		return false
	}
	if st.Mode != unix.S_IFDIR|0o700 || st.Mtime != st.Btime || st.Ctime != st.Btime {
		return false
	}
	fd, err := openAt(attempt, Tmp)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	entries, err := effect.ReadDir(fd)
	return err == nil && len(entries) == 0
}

// shelf finds what is below ws as it was laid. Of ws itself only what was laid in it counts: it is made anew.
func (l *Laid) shelf(ws int) *shelf {
	dirs, files := map[string][]string{}, map[string][]string{}
	for p := range l.dirs {
		if isMount(p) {
			dir, name := shelved(p)
			dirs[dir] = append(dirs[dir], name)
		}
	}
	for p := range l.files {
		dir, name := shelved(p)
		files[dir] = append(files[dir], name)
	}
	var in func(dir string, mode uint32) *shelf
	in = func(dir string, mode uint32) *shelf {
		s := &shelf{mode: mode, dirs: map[string]*shelf{}, files: map[string]bool{}}
		for _, n := range dirs[dir] {
			p := path.Join(dir, n)
			if l.dirIs(ws, p, dirs[p], files[p]) {
				s.dirs[n] = in(p, l.dirs[p].mode&0o777)
			} else {
				s.spoilt = append(s.spoilt, n)
			}
		}
		for _, n := range files[dir] {
			var st unix.Stat_t
			p := path.Join(dir, n)
			if statBeneath(ws, p, &st) == nil && stampFrom(&st) == l.files[p].stamp &&
				st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink == 1 && st.Size <= maxSpareSize {
				s.files[n] = true
			} else {
				s.spoilt = append(s.spoilt, n)
			}
		}
		return s
	}
	return in(".", 0)
}

// isMount reports whether a path is the directory of the mounts, or below it.
func isMount(p string) bool { return p == MountDir || strings.HasPrefix(p, MountDir+"/") }

// shelved says in which shelf a file or a directory of mounts is, and under which name.
func shelved(p string) (dir, name string) {
	if isMount(p) && p != MountDir {
		return path.Dir(p), path.Base(p)
	}
	return ".", p
}

// statBeneath looks at a path below dir, never through a link.
func statBeneath(dir int, p string, st *unix.Stat_t) error {
	fd, err := openBeneath(dir, p, unix.O_PATH|unix.O_NOFOLLOW, 0, unix.RESOLVE_NO_SYMLINKS)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Fstat(fd, st)
}

// dirIs reports whether a directory is as it was laid, and holds exactly what was laid in it. Its times alone would not tell what
// happened within one tick of the clock that stamps files.
func (l *Laid) dirIs(ws int, p string, dirs, files []string) bool {
	fd, err := openAt(ws, p)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if now, err := stampOf(fd); err != nil || now != l.dirs[p] {
		return false
	}
	entries, err := effect.ReadDir(fd)
	if err != nil || len(entries) != len(dirs)+len(files) {
		return false
	}
	slices.SortFunc(entries, func(a, b effect.DirEntry) int { return strings.Compare(a.Name, b.Name) })
	want := slices.Sorted(slices.Values(slices.Concat(dirs, files)))
	return slices.EqualFunc(entries, want, func(e effect.DirEntry, name string) bool { return e.Name == name })
}

// worn is the name of a spare's workspace while what is needed of it moves to the new one.
const worn = "worn"

// refit lays the spec into a spare.
func (l *layer) refit(sp *spare) error {
	l.laid.dirs = map[string]stamp{}
	if err := l.collect(); err != nil {
		return err
	}
	at, err := openDir(sp.attempt)
	if err != nil {
		return err
	}
	defer unix.Close(at)
	if err := effect.Renameat(at, Dir, at, worn); err != nil {
		return err
	}
	if err := effect.Mkdirat(at, Dir, 0o755); err != nil {
		return err
	}
	was, err := openAt(at, worn)
	if err != nil {
		return err
	}
	defer unix.Close(was)
	if l.dir, err = openAt(at, Dir); err != nil {
		return err
	}
	defer unix.Close(l.dir)
	l.plan()
	if err := l.makeOwn(); err != nil {
		return err
	}
	if err := l.fit(filepath.Join(sp.attempt, Dir), was, ".", sp.ws); err != nil {
		return err
	}
	if err := l.layAll(); err != nil {
		return err
	}
	return effect.RemoveAll(filepath.Join(sp.attempt, worn))
}

// plan sorts what is wanted by the directory it lies in.
func (l *layer) plan() {
	l.there, l.reused = map[string]uint32{}, map[string]bool{}
	l.inDirs, l.inFiles = map[string][]string{}, map[string][]string{}
	for d := range l.dirs {
		if isMount(d) {
			dir, name := shelved(d)
			l.inDirs[dir] = append(l.inDirs[dir], name)
		}
	}
	for i := range l.items {
		if it := &l.items[i]; it.kind == cache.File && it.size() <= maxSpareSize {
			dir, name := shelved(it.path)
			l.inFiles[dir] = append(l.inFiles[dir], name)
		}
	}
}

// makeOwn makes the directories that are of no mount.
func (l *layer) makeOwn() error {
	for _, d := range slices.Sorted(maps.Keys(l.dirs)) {
		if isMount(d) {
			continue
		}
		if err := effect.Mkdirat(l.dir, d, 0o755); err != nil {
			return err
		}
		l.there[d] = 0o755 &^ umask()
	}
	return nil
}

// fit makes a directory of the workspace, which is there and has s in it, what is wanted of it, as far as that goes by renaming
// and removing. at is where the workspace is; what s has of the workspace itself lies in the directory from still.
func (l *layer) fit(at string, from int, dir string, s *shelf) error {
	top := dir == "."
	dirs, haveDirs := pair(l.inDirs[dir], s.dirs)
	files, haveFiles := pair(l.inFiles[dir], s.files)
	gone := slices.Concat(s.spoilt, haveDirs, haveFiles)
	if !top && s.mode&0o300 != 0o300 && (len(gone) > 0 || l.changes(dir, dirs, files)) {
		if err := effect.Fchmodat(l.dir, dir, 0o700, 0); err != nil {
			return err
		}
		l.there[dir] = 0o700
	}
	for _, n := range gone {
		if top {
			break // the old one goes as a whole
		}
		if err := effect.RemoveAll(filepath.Join(at, dir, n)); err != nil {
			return err
		}
	}
	move := func(old, name string) (string, error) {
		to := path.Join(dir, name)
		if top {
			return to, effect.Renameat(from, old, l.dir, to)
		}
		if old == name {
			return to, nil
		}
		return to, effect.Renameat(l.dir, path.Join(dir, old), l.dir, to)
	}
	for _, n := range slices.Sorted(maps.Keys(files)) {
		to, err := move(files[n], n)
		if err != nil {
			return err
		}
		l.reused[to] = true
	}
	for _, n := range slices.Sorted(maps.Keys(dirs)) {
		below := s.dirs[dirs[n]]
		if top && below.mode&0o200 == 0 { // to be moved it has to be written, since it names what it is in
			if err := effect.Fchmodat(from, dirs[n], 0o700, 0); err != nil {
				return err
			}
			below.mode = 0o700
		}
		to, err := move(dirs[n], n)
		if err != nil {
			return err
		}
		l.there[to] = below.mode
		if err := l.fit(at, l.dir, to, below); err != nil {
			return err
		}
	}
	return nil
}

// changes reports whether the names in a directory change: some are to be made, or others become them.
func (l *layer) changes(dir string, dirs, files map[string]string) bool {
	if len(dirs) < len(l.inDirs[dir]) || len(files) < len(l.inFiles[dir]) {
		return true
	}
	for _, m := range []map[string]string{dirs, files} {
		for name, old := range m {
			if name != old {
				return true
			}
		}
	}
	return false
}

// pair says for wanted names which of those that are there become them, the same where there is one, and which are left.
func pair[V any](want []string, have map[string]V) (become map[string]string, left []string) {
	become = map[string]string{}
	wanted := make(map[string]bool, len(want))
	for _, n := range want {
		wanted[n] = true
		if _, ok := have[n]; ok {
			become[n] = n
		}
	}
	for n := range have {
		if !wanted[n] {
			left = append(left, n)
		}
	}
	slices.Sort(left)
	for _, n := range slices.Sorted(slices.Values(want)) {
		if _, ok := become[n]; !ok && len(left) > 0 {
			become[n], left = left[0], left[1:]
		}
	}
	return become, left
}

// reopen opens a file that was there before for writing, if nobody else has it open. Else it is removed and made anew.
func (l *layer) reopen(it *item) (int, error) {
	const flags = unix.O_WRONLY | unix.O_NOFOLLOW | openFlags
	fd, err := openBeneath(l.dir, it.path, flags, 0, unix.RESOLVE_NO_SYMLINKS)
	if err == unix.EACCES && effect.Fchmodat(l.dir, it.path, 0o600, 0) == nil {
		fd, err = openBeneath(l.dir, it.path, flags, 0, unix.RESOLVE_NO_SYMLINKS)
	}
	if err == nil && alone(fd) {
		return fd, nil
	}
	if err == nil {
		unix.Close(fd)
	}
	if err := effect.Unlinkat(l.dir, it.path, 0); err != nil {
		return -1, err
	}
	return l.create(it)
}

// refitted makes a file that was written over as long as it has to be, and gives it its mode.
func (l *layer) refitted(fd int, it *item) (stamp, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return stamp{}, wrap("materialize", it.path, err)
	}
	if st.Mode&0o7777 == it.mode && st.Size == it.size() {
		return stampFrom(&st), nil
	}
	if st.Size > it.size() {
		if err := effect.Ftruncate(fd, it.size(), it.path); err != nil {
			return stamp{}, wrap("materialize", it.path, err)
		}
	}
	if err := effect.Fchmod(fd, it.mode, it.path); err != nil {
		return stamp{}, wrap("materialize", it.path, err)
	}
	return stampOf(fd)
}

// alone reports whether no other descriptor of an open file is anywhere: only then the kernel gives a lease for writing.
func alone(fd int) bool {
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}

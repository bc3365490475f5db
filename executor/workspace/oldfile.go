package workspace

import (
	"errors"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// oldFile is a file of the attempt that ended.
type oldFile struct {
	at   string // where it is: below the old workspace, one of mounts below the new one; "" for none
	laid stamp
}

// fits reports whether an item is a file that may be written over another one.
func (it *item) fits() bool { return it.kind == cache.File && it.size() <= maxSpareSize }

// fits reports whether what was laid is a file that may be written over.
func (f *laidFile) fits() bool {
	return f.stamp.mode&unix.S_IFMT == unix.S_IFREG && f.stamp.size <= maxSpareSize
}

// takeSources finds files of the old workspace for those of the new one that are of no mount.
func (r *refit) takeSources() {
	r.old = make([]oldFile, len(r.items))
	var want, have []string
	var items []int
	for i := range r.items {
		if it := &r.items[i]; !isMount(it.path) && it.fits() {
			want, items = append(want, it.path), append(items, i)
		}
	}
	for i := range r.from.files {
		if f := &r.from.files[i]; !isMount(f.path) && f.fits() {
			have = append(have, f.path)
		}
	}
	become, _ := pair(want, have)
	for k, p := range become {
		if p != "" {
			r.old[items[k]] = oldFile{p, r.from.file(p).stamp}
		}
	}
}

// open opens a file that was there before for writing, under the name that an item has, and says what it was like. It returns -1 when
// there is none that can be used.
func (r *refit) open(i int, was *unix.Stat_t) (fd int, err error) {
	old, p := r.old[i], r.items[i].path
	if old.at == "" {
		return -1, nil
	}
	from, mount := r.was, isMount(p)
	if mount {
		from = r.dir
	}
	if fd = r.openOld(from, old, mount, was); fd < 0 {
		if mount {
			err = errWorn // it is where nobody may write
		}
		return -1, err
	}
	if !mount || old.at != p {
		if err := effect.Renameat(from, old.at, r.dir, p); err != nil {
			return -1, errors.Join(err, unix.Close(fd))
		}
	}
	return fd, nil
}

// openOld opens a file for writing if it is as it was laid, has one name, and nobody else has it open; else it returns -1.
func (r *refit) openOld(from int, old oldFile, mount bool, st *unix.Stat_t) int {
	want, unlocked := old.laid, false
	fd, err := -1, error(unix.EACCES)
	if want.mode&0o200 != 0 || !r.spares.humble.Load() {
		fd, err = openWrite(from, old.at)
	}
	if errors.Is(err, unix.EACCES) && mount { // the directories on the way are ours
		if now, err := stampAt(from, old.at); err != nil || now != want {
			return -1
		}
		r.spares.humble.Store(true)
		if effect.Fchmodat(from, old.at, 0o600, 0) != nil {
			return -1
		}
		want.mode, unlocked = unix.S_IFREG|0o600, true
		fd, err = openWrite(from, old.at)
	}
	if err != nil {
		return -1
	}
	if unix.Fstat(fd, st) == nil && st.Nlink == 1 {
		now := stampFrom(st)
		if unlocked {
			want.ctime = now.ctime
		}
		if now == want && alone(fd) {
			return fd
		}
	}
	unix.Close(fd)
	return -1
}

func openWrite(dir int, path string) (int, error) {
	return openBeneath(dir, path, unix.O_WRONLY|unix.O_NOFOLLOW|openFlags, 0, unix.RESOLVE_NO_SYMLINKS)
}

// alone reports whether no other descriptor of an open file is anywhere: only then the kernel gives a lease for writing.
func alone(fd int) bool {
	if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		return false
	}
	_, err := unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_UNLCK)
	return err == nil
}

// trim makes a file that was written over as long as it has to be, and gives it its mode.
func trim(fd int, it *item, was *unix.Stat_t) error {
	if was.Size > it.size() {
		if err := effect.Ftruncate(fd, it.size(), it.path); err != nil {
			return wrap("materialize", it.path, err)
		}
	}
	if was.Mode&0o7777 != it.mode {
		if err := effect.Fchmod(fd, it.mode, it.path); err != nil {
			return wrap("materialize", it.path, err)
		}
	}
	return nil
}

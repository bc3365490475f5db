package workspace

import (
	"errors"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// refit makes of the directory of an attempt that ended that of a new one. What is used again is looked at right before.
type refit struct {
	*layer
	from    *Laid
	attempt string    // where the directory is
	was     int       // the workspace that was in it
	exact   bool      // see exactStamps
	old     []oldFile // by number of the item, what may become it
}

// errWorn says that a directory cannot be used again.
var errWorn = errors.New("the directory cannot be used again")

// worn is the name of the old workspace while what is needed of it moves to the new one.
const worn = "worn"

// lay lays the spec. The directory is to be the one called name in work.
func (r *refit) lay(work int, name string) error {
	r.laid.spare = true
	if err := r.collect(); err != nil {
		return err
	}
	at := r.from.at
	if err := r.clear(at, work, name); err != nil {
		return err
	}
	if err := effect.Renameat(at, Dir, at, worn); err != nil {
		return err
	}
	if err := effect.Mkdirat(at, Dir, 0o755); err != nil {
		return err
	}
	var err error
	if r.was, err = openAt(at, worn); err != nil {
		return err
	}
	defer unix.Close(r.was)
	if r.dir, err = openAt(at, Dir); err != nil {
		return err
	}
	r.laid.ws = r.dir
	if err := r.makeOwn(); err != nil {
		return err
	}
	r.takeSources()
	if err := r.takeMounts(); err != nil {
		return err
	}
	if err := r.layAll(); err != nil {
		return err
	}
	return effect.RemoveOpen(at, worn, r.was)
}

// clear leaves nothing beside the old workspace but an untouched directory for temporary files. It fails when there is something that
// is not ours, or something else is where the directory was.
func (r *refit) clear(at, work int, name string) error {
	var st, named unix.Stat_t
	if err := unix.Fstat(at, &st); err != nil || st.Mode&0o7777 != 0o700 {
		return errors.Join(errWorn, err)
	}
	if err := effect.Fstatat(work, name, &named, unix.AT_SYMLINK_NOFOLLOW); err != nil || named.Dev != st.Dev || named.Ino != st.Ino {
		return errors.Join(errWorn, err)
	}
	r.exact = r.spares.exactly(at)
	if r.exact && stampFrom(&st) == r.from.beside && r.untouchedTmp(at) {
		if r.takeLog(at) {
			return nil
		}
		return effect.Unlinkat(at, Log, 0)
	}
	if _, err := unix.Seek(at, 0, unix.SEEK_SET); err != nil { // it may have been read before
		return err
	}
	entries, err := effect.ReadDir(at)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.Name {
		case Dir:
		case Log:
			err = effect.Unlinkat(at, Log, 0)
		case Tmp:
			err = r.clearTmp(at)
		default:
			err = errWorn
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// clearTmp removes the directory for temporary files when somebody used it.
func (r *refit) clearTmp(at int) error {
	if r.untouchedTmp(at) || effect.Unlinkat(at, Tmp, unix.AT_REMOVEDIR) == nil {
		return nil
	}
	return effect.RemoveAll(filepath.Join(r.attempt, Tmp))
}

// untouchedTmp reports whether nobody has used the directory for temporary files. Every use changes its times.
func (r *refit) untouchedTmp(at int) bool {
	now, err := stampAt(at, Tmp)
	if err != nil {
		return false
	}
	if r.exact && now == r.from.tmp {
		r.laid.tmp = now
		return true
	}
	var st unix.Statx_t
	const want = unix.STATX_BTIME | unix.STATX_MTIME | unix.STATX_CTIME | unix.STATX_MODE
	if unix.Statx(at, Tmp, unix.AT_SYMLINK_NOFOLLOW, want, &st) != nil || st.Mask&want != want {
		return false
	}
	if st.Mode != unix.S_IFDIR|0o700 || st.Mtime != st.Btime || st.Ctime != st.Btime || nanos(st.Ctime) != now.ctime {
		return false
	}
	fd, err := openAt(at, Tmp)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if entries, err := effect.ReadDir(fd); err != nil || len(entries) > 0 {
		return false
	}
	r.laid.tmp = now
	return true
}

func openAt(dir int, name string) (int, error) {
	return openBeneath(dir, name, unix.O_RDONLY|unix.O_DIRECTORY, 0, unix.RESOLVE_NO_SYMLINKS)
}

// makeOwn makes the directories that are of no mount.
func (r *refit) makeOwn() error {
	for i := range r.dirs {
		if d := &r.dirs[i]; !isMount(d.path) {
			if err := r.makeDir(d); err != nil {
				return err
			}
		}
	}
	return nil
}

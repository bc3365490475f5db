package workspace

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// isMount reports whether a path is the directory of the mounts, or below it.
func isMount(p string) bool { return p == MountDir || isBelow(p, MountDir) }

// takeMounts moves the directory of mounts to the new workspace when nobody touched it, and makes of what is in it what is wanted, as
// far as that goes by renaming and removing.
func (r *refit) takeMounts() error {
	d, was := r.dirAt(MountDir), r.from.dirAt(MountDir)
	if d == nil || was == nil || !r.dirIs(r.was, MountDir, was) {
		return nil
	}
	d.has = was.stamp.mode & 0o777
	err := error(unix.EACCES)
	if d.has&0o200 != 0 || !r.spares.humble.Load() {
		err = effect.Renameat(r.was, MountDir, r.dir, MountDir)
	}
	if err == unix.EACCES { // to be moved it has to be written, since it names what it is in
		r.spares.humble.Store(true)
		d.has = 0o700
		if err = effect.Fchmodat(r.was, MountDir, d.has, 0); err == nil {
			err = effect.Renameat(r.was, MountDir, r.dir, MountDir)
		}
	}
	if err != nil {
		return err
	}
	d.there = true
	_, err = r.fit(d, MountDir)
	return err
}

// dirAt finds a directory of mounts that was laid; nil when there is none.
func (l *Laid) dirAt(p string) *laidDir {
	i, ok := slices.BinarySearchFunc(l.dirs, p, laidDir.compare)
	if !ok {
		return nil
	}
	return &l.dirs[i]
}

// nameIn returns the name of a path that lies in dir itself.
func nameIn(dir, p string) (name string, ok bool) {
	if !isBelow(p, dir) {
		return "", false
	}
	name = p[len(dir)+1:]
	return name, strings.IndexByte(name, '/') < 0
}

// names are those in a directory of mounts, sorted.
type names struct {
	dirs   []string
	files  []string // that are written over, or may be
	items  []int    // of what is wanted, the numbers of the files
	others []string // links and large files
}

// wanted lists a directory of the new workspace.
func (r *refit) wanted(dir string) (n names) {
	for i := range r.dirs {
		if name, ok := nameIn(dir, r.dirs[i].path); ok {
			n.dirs = append(n.dirs, name)
		}
	}
	for i := range r.items {
		it := &r.items[i]
		switch name, ok := nameIn(dir, it.path); {
		case !ok || it.kind == cache.Dir:
		case it.fits():
			n.files, n.items = append(n.files, name), append(n.items, i)
		default:
			n.others = append(n.others, name)
		}
	}
	return n
}

// had lists a directory of the old workspace.
func (r *refit) had(dir string) (n names) {
	for i := range r.from.dirs {
		if name, ok := nameIn(dir, r.from.dirs[i].path); ok {
			n.dirs = append(n.dirs, name)
		}
	}
	for i := range r.from.files {
		f := &r.from.files[i]
		name, ok := nameIn(dir, f.path)
		if !ok {
			continue
		}
		if f.fits() {
			n.files = append(n.files, name)
		} else {
			n.others = append(n.others, name)
		}
	}
	return n
}

// dirIs reports whether a directory, which is at p below a directory, is as it was laid, and holds exactly what was laid in it. Its times
// alone would not tell what happened within one tick of the clock that stamps files, unless stamps are exact.
func (r *refit) dirIs(at int, p string, was *laidDir) bool {
	if r.exact {
		now, err := stampAt(at, p)
		return err == nil && now == was.stamp
	}
	fd, err := openAt(at, p)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if now, err := stampOf(fd); err != nil || now != was.stamp {
		return false
	}
	entries, err := effect.ReadDir(fd)
	if err != nil {
		return false
	}
	got := make([]string, len(entries))
	for i, e := range entries {
		got[i] = e.Name
	}
	slices.Sort(got)
	had := r.had(was.path)
	want := slices.Concat(had.dirs, had.files, had.others)
	slices.Sort(want)
	return slices.Equal(got, want)
}

// fit makes a directory of mounts, which is in the new workspace and was laid as another one or the same, what is wanted of it. It
// reports whether the names in it, and what they name, stay the same.
func (r *refit) fit(d *dirItem, laidAs string) (same bool, err error) {
	want, had := r.wanted(d.path), r.had(laidAs)
	dirs, gone := pair(want.dirs, had.dirs)
	files, left := pair(want.files, had.files)
	gone = append(append(gone, left...), had.others...)
	for i, old := range files {
		if old != "" && r.dirAt(d.path+"/"+old) != nil { // its name is needed before it has another one
			gone, files[i] = append(gone, old), ""
		}
	}
	same = len(gone) == 0 && len(want.others) == 0 && slices.Equal(dirs, want.dirs) && slices.Equal(files, want.files)
	if !same {
		if err := r.unlock(d); err != nil {
			return false, err
		}
	}
	for _, n := range gone {
		if err := r.drop(d.path + "/" + n); err != nil {
			return false, err
		}
	}
	for i, old := range files {
		if old != "" {
			r.old[want.items[i]] = oldFile{d.path + "/" + old, r.from.file(laidAs + "/" + old).stamp}
		}
	}
	for i, old := range dirs {
		if old == "" {
			continue
		}
		kept, err := r.fitDir(d, want.dirs[i], old, r.from.dirAt(laidAs+"/"+old))
		if err != nil {
			return false, err
		}
		same = same && kept
	}
	return same, nil
}

// fitDir does that for a directory in another, which is called old and was another one. It returns false when it has to be made anew.
func (r *refit) fitDir(in *dirItem, name, old string, was *laidDir) (kept bool, err error) {
	at := in.path + "/" + old
	if !r.dirIs(r.dir, at, was) {
		if err := r.unlock(in); err != nil {
			return false, err
		}
		return false, r.drop(at)
	}
	d := r.dirAt(in.path + "/" + name)
	if old != name {
		if err := effect.Renameat(r.dir, at, r.dir, d.path); err != nil {
			return false, err
		}
	}
	d.there, d.has = true, was.stamp.mode&0o777
	same, err := r.fit(d, was.path)
	if same && old == name && d.has == d.mode {
		d.stamp = was.stamp
	}
	return true, err
}

// unlock makes a directory of the new workspace one in which names can change.
func (r *refit) unlock(d *dirItem) error {
	if d.has&0o300 == 0o300 || !r.spares.humble.Load() {
		return nil
	}
	d.has = 0o700
	return effect.Fchmodat(r.dir, d.path, d.has, 0)
}

// drop removes something from the new workspace.
func (r *refit) drop(p string) error { return effect.RemoveAll(filepath.Join(r.attempt, Dir, p)) }

// pair says for wanted names, in their order, which of those that are there become them, the same where there is one, "" where there is
// none, and which are left. Both are sorted.
func pair(want, have []string) (become, left []string) {
	for _, n := range have {
		if _, wanted := slices.BinarySearch(want, n); !wanted {
			left = append(left, n)
		}
	}
	become = make([]string, len(want))
	for i, n := range want {
		if _, there := slices.BinarySearch(have, n); there {
			become[i] = n
		} else if len(left) > 0 {
			become[i], left = left[0], left[1:]
		}
	}
	return become, left
}

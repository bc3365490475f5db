package workspace

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// isMount reports whether a path is the directory of the mounts, or below it.
func isMount(p string) bool { return p == MountDir || strings.HasPrefix(p, MountDir+"/") }

// takeMounts moves the directory of mounts to the new workspace when nobody touched it, and makes of what is in it what is wanted, as
// far as that goes by renaming and removing.
func (r *refit) takeMounts() error {
	was, ok := r.from.dirs[MountDir]
	if _, wanted := r.dirs[MountDir]; !ok || !wanted {
		return nil
	}
	if !r.dirIs(r.was, MountDir, MountDir) {
		return nil
	}
	mode := was.mode & 0o777
	err := error(unix.EACCES)
	if mode&0o200 != 0 || !r.spares.humble.Load() {
		err = effect.Renameat(r.was, MountDir, r.dir, MountDir)
	}
	if errors.Is(err, unix.EACCES) { // to be moved it has to be written, since it names what it is in
		r.spares.humble.Store(true)
		mode = 0o700
		if err = effect.Fchmodat(r.was, MountDir, mode, 0); err == nil {
			err = effect.Renameat(r.was, MountDir, r.dir, MountDir)
		}
	}
	if err != nil {
		return err
	}
	r.there[MountDir] = mode
	return r.fit(MountDir, MountDir)
}

// in returns the name of a path that lies in dir itself.
func in(dir, p string) (name string, ok bool) {
	if len(p) <= len(dir)+1 || p[len(dir)] != '/' || p[:len(dir)] != dir {
		return "", false
	}
	name = p[len(dir)+1:]
	return name, strings.IndexByte(name, '/') < 0
}

// names are those in a directory of mounts.
type names struct {
	dirs   []string
	files  []string // that are written over, or may be
	others []string // links and large files
}

// wanted lists a directory of the new workspace.
func (r *refit) wanted(dir string) (n names) {
	for _, d := range r.order {
		if name, ok := in(dir, d); ok {
			n.dirs = append(n.dirs, name)
		}
	}
	for i := range r.items {
		it := &r.items[i]
		switch name, ok := in(dir, it.path); {
		case !ok || it.kind == cache.Dir:
		case it.fits():
			n.files = append(n.files, name)
		default:
			n.others = append(n.others, name)
		}
	}
	return n
}

// had lists a directory of the old workspace.
func (r *refit) had(dir string) (n names) {
	for d := range r.from.dirs {
		if name, ok := in(dir, d); ok {
			n.dirs = append(n.dirs, name)
		}
	}
	for p, f := range r.from.files {
		switch name, ok := in(dir, p); {
		case !ok:
		case f.fits():
			n.files = append(n.files, name)
		default:
			n.others = append(n.others, name)
		}
	}
	return n
}

// dirIs reports whether a directory, which is at p below a directory, is as it was laid, and holds exactly what was laid in it. Its times
// alone would not tell what happened within one tick of the clock that stamps files, unless stamps are exact.
func (r *refit) dirIs(at int, p, laidAs string) bool {
	if r.exact {
		now, err := stampAt(at, p)
		return err == nil && now == r.from.dirs[laidAs]
	}
	fd, err := openAt(at, p)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	if now, err := stampOf(fd); err != nil || now != r.from.dirs[laidAs] {
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
	had := r.had(laidAs)
	want := slices.Concat(had.dirs, had.files, had.others)
	slices.Sort(want)
	return slices.Equal(got, want)
}

// fit makes a directory of mounts, which is in the new workspace and was laid as another one or the same, what is wanted of it.
func (r *refit) fit(dir, laidAs string) error {
	want, had := r.wanted(dir), r.had(laidAs)
	dirs, gone := pair(want.dirs, had.dirs)
	files, left := pair(want.files, had.files)
	gone = append(append(gone, left...), had.others...)
	for i, c := range files {
		if _, clash := r.dirs[dir+"/"+c.old]; clash { // its name is needed before it has another one
			gone, files[i].old = append(gone, c.old), ""
		}
	}
	whole := func(become []change, want []string) bool {
		return len(become) == len(want) && !slices.ContainsFunc(become, func(c change) bool { return c.name != c.old })
	}
	same := len(gone) == 0 && len(want.others) == 0 && whole(dirs, want.dirs) && whole(files, want.files)
	if !same {
		if err := r.unlock(dir); err != nil {
			return err
		}
	}
	for _, n := range gone {
		if err := r.drop(dir + "/" + n); err != nil {
			return err
		}
	}
	for _, c := range files {
		if c.old != "" {
			r.files[dir+"/"+c.name] = oldFile{dir + "/" + c.old, r.from.files[laidAs+"/"+c.old].stamp}
		}
	}
	for _, c := range dirs {
		kept, err := r.fitDir(dir, laidAs, c)
		if err != nil {
			return err
		}
		same = same && kept
	}
	if same && r.there[dir] == 0o555 && dir == laidAs && dir != MountDir {
		r.laid.dirs[dir] = r.from.dirs[laidAs]
	}
	return nil
}

// fitDir does that for one directory in another; it returns false when it has to be made anew.
func (r *refit) fitDir(dir, laidAs string, c change) (kept bool, err error) {
	at, to, was := dir+"/"+c.old, dir+"/"+c.name, laidAs+"/"+c.old
	if !r.dirIs(r.dir, at, was) {
		if err := r.unlock(dir); err != nil {
			return false, err
		}
		return false, r.drop(at)
	}
	if at != to {
		if err := effect.Renameat(r.dir, at, r.dir, to); err != nil {
			return false, err
		}
	}
	r.there[to] = r.from.dirs[was].mode & 0o777
	return true, r.fit(to, was)
}

// unlock makes a directory of the new workspace one in which names can change.
func (r *refit) unlock(dir string) error {
	if r.there[dir]&0o300 == 0o300 || !r.spares.humble.Load() {
		return nil
	}
	r.there[dir] = 0o700
	return effect.Fchmodat(r.dir, dir, 0o700, 0)
}

// drop removes something from the new workspace.
func (r *refit) drop(p string) error { return effect.RemoveAll(filepath.Join(r.attempt, Dir, p)) }

// change says that what was called old is to be called name.
type change struct{ name, old string }

// pair says for wanted names which of those that are there become them, the same where there is one, and which are left. It sorts both.
func pair(want, have []string) (become []change, left []string) {
	slices.Sort(want)
	slices.Sort(have)
	for _, n := range have {
		if _, wanted := slices.BinarySearch(want, n); !wanted {
			left = append(left, n)
		}
	}
	for _, n := range want {
		if _, there := slices.BinarySearch(have, n); there {
			become = append(become, change{n, n})
		} else if len(left) > 0 {
			become, left = append(become, change{n, left[0]}), left[1:]
		}
	}
	return become, left
}

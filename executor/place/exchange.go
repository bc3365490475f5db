package place

import (
	"errors"
	"fmt"
	"hash/maphash"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// settle sorts entries and drops repetitions: a file may be an output of its own and part of a tree.
func settle(want []cache.Entry) ([]cache.Entry, error) {
	slices.SortStableFunc(want, func(a, b cache.Entry) int { return strings.Compare(a.Path, b.Path) })
	kept := want[:0]
	for _, e := range want {
		if n := len(kept); n > 0 {
			last := &kept[n-1]
			if last.Path == e.Path {
				*last = e
				continue
			}
			if last.Kind != cache.Dir && strings.HasPrefix(e.Path, last.Path+"/") {
				return nil, fmt.Errorf("%s lies below the file %s", e.Path, last.Path)
			}
		}
		kept = append(kept, e)
	}
	return kept, nil
}

// exchange makes want the content of <out>/<instance>, and returns what was moved out of the way, and what is known of each file that
// was written.
func (p *Placer) exchange(instance string, want []cache.Entry) (moved []string, wrote []source.Written, err error) {
	stage := stageDir + "/" + strconv.FormatInt(p.stages.Add(1), 10)
	if wrote, err = p.build(p.fd(), stage, p.old(instance), want); err != nil {
		return nil, nil, p.undo(stage, err)
	}
	moved, err = p.show(stage, instance)
	return moved, wrote, err
}

// old is the directory of an instance that is in place, else "". Nobody looks where nothing can be: that somebody else put something
// there all the same costs no more than writing our files again.
func (p *Placer) old(instance string) string {
	p.mu.Lock()
	there := true
	if p.put != nil {
		h := maphash.String(p.seed, instance)
		_, there = p.put[h]
		p.put[h] = struct{}{}
	}
	p.mu.Unlock()
	var st unix.Stat_t
	if !there || effect.Fstatat(p.fd(), instance, &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return ""
	}
	return instance
}

// undo removes a stage, after an error or nil.
func (p *Placer) undo(stage string, err error) error {
	return errors.Join(err, workspace.Remove(filepath.Join(p.dir.Name(), filepath.FromSlash(stage))))
}

// show moves a stage to the place of an instance, or exchanges it with what is there.
func (p *Placer) show(stage, instance string) (moved []string, err error) {
	parent, base, err := p.parent(instance)
	if err != nil {
		return nil, p.undo(stage, err)
	}
	if parent != p.fd() {
		defer unix.Close(parent)
	}
	err = effect.Renameat2(p.fd(), stage, parent, base, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		err = p.renameFree(stage, parent, base)
	}
	if err == nil {
		return nil, nil
	}
	if !errors.Is(err, unix.EEXIST) && !errors.Is(err, unix.ENOTEMPTY) {
		return nil, p.undo(stage, err)
	}
	return p.swap(stage, parent, base, instance)
}

// renameFree is the rename of file systems that cannot refuse to replace.
func (p *Placer) renameFree(stage string, parent int, base string) error {
	var st unix.Stat_t
	if effect.Fstatat(parent, base, &st, unix.AT_SYMLINK_NOFOLLOW) == nil {
		return unix.EEXIST
	}
	return effect.Renameat(p.fd(), stage, parent, base)
}

// swap exchanges a staged directory with the one in place, then clears the old one away.
func (p *Placer) swap(stage string, parent int, base, instance string) ([]string, error) {
	var st unix.Stat_t
	if err := effect.Fstatat(parent, base, &st, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return nil, p.undo(stage, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		what := "a file"
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			what = "a link"
		}
		return nil, p.undo(stage, fmt.Errorf("%s is %s where a directory has to be\nhint: move it away", path.Join(p.out, instance), what))
	}
	// What is not ours is known before the exchange, while paths are what the stat cache knows.
	foreign, err := p.foreign(instance)
	if err != nil {
		return nil, p.undo(stage, err)
	}
	// Kept before the exchange, too: whatever lies in .stage after a crash is nobody's only copy.
	moved, err := p.quarantine(instance, foreign)
	if err == nil {
		err = p.trade(stage, parent, base)
	}
	return moved, p.undo(stage, err)
}

// trade exchanges two directories, in one step where the file system can.
func (p *Placer) trade(stage string, parent int, base string) error {
	if !p.plain.Load() {
		err := effect.Renameat2(p.fd(), stage, parent, base, unix.RENAME_EXCHANGE)
		if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) {
			return err
		}
		p.plain.Store(true)
	}
	old := stage + "-old"
	if err := effect.Renameat(parent, base, p.fd(), old); err != nil {
		return err
	}
	if err := effect.Renameat(p.fd(), stage, parent, base); err != nil {
		return errors.Join(err, effect.Renameat(p.fd(), old, parent, base))
	}
	return effect.Renameat(p.fd(), old, p.fd(), stage)
}

// parent opens the directory that an instance lies in, and makes it. Links below out are not followed.
func (p *Placer) parent(instance string) (fd int, base string, err error) {
	fd = p.fd()
	rest := instance
	for {
		dir, after, more := strings.Cut(rest, "/")
		if !more {
			return fd, rest, nil
		}
		made, next := effect.Mkdirat(fd, dir, 0o755), -1
		if made == nil || errors.Is(made, unix.EEXIST) {
			made = nil
			next, err = unix.Openat(fd, dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		}
		if fd != p.fd() {
			unix.Close(fd)
		}
		if made != nil {
			return -1, "", made
		}
		if err != nil {
			return -1, "", fmt.Errorf("%s is a file or link where a directory has to be: %w", path.Join(p.out, strings.TrimSuffix(instance, "/"+after)), err)
		}
		fd, rest = next, after
	}
}

// build makes a directory, below an open one, with the given content, and returns what is known of each file that it wrote. Nobody else
// writes to it, so nothing in it can lead elsewhere: links are made last. Files that lie in old already, a directory of the output
// directory that is about to go or "", are not written again.
func (p *Placer) build(below int, stage, old string, want []cache.Entry) ([]source.Written, error) {
	if err := effect.Mkdirat(below, stage, 0o755); err != nil {
		return nil, err
	}
	if err := buildDirs(below, stage, want); err != nil {
		return nil, err
	}
	wrote := make([]source.Written, len(want))
	err := source.Each(len(want), func(i int) (err error) {
		e := &want[i]
		if e.Kind == cache.File && (old == "" || !p.keepFile(old, stage, e)) {
			wrote[i], err = p.buildFile(below, stage, e)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range want {
		if e := &want[i]; e.Kind == cache.Link {
			if err := effect.Symlinkat(e.Target, below, stage+"/"+e.Path); err != nil {
				return nil, fmt.Errorf("make link %s: %w", e.Path, err)
			}
		}
	}
	for i := len(want) - 1; i >= 0; i-- {
		if e := &want[i]; e.Kind == cache.Dir {
			if err := effect.Fchmodat(below, stage+"/"+e.Path, e.Mode, 0); err != nil {
				return nil, fmt.Errorf("make directory %s: %w", e.Path, err)
			}
		}
	}
	return wrote, nil
}

// buildDirs makes the directories of a stage.
func buildDirs(below int, stage string, want []cache.Entry) error {
	var made map[string]bool
	for i := range want {
		dir := path.Dir(want[i].Path)
		if want[i].Kind == cache.Dir {
			dir = want[i].Path
		}
		if dir == "." || made[dir] {
			continue
		}
		if made == nil {
			made = map[string]bool{}
		}
		for i := 0; i <= len(dir); i++ {
			if i < len(dir) && dir[i] != '/' || made[dir[:i]] {
				continue
			}
			made[dir[:i]] = true
			if err := effect.Mkdirat(below, stage+"/"+dir[:i], 0o755); err != nil {
				return fmt.Errorf("make directory %s: %w", dir[:i], err)
			}
		}
	}
	return nil
}

// keepFile gives a file that is in place and as it should be a second name in the stage, and reports whether it did.
// A file that has a second name already is not ours alone, and one behind a link is not ours at all.
func (p *Placer) keepFile(old, stage string, e *cache.Entry) bool {
	f, err := p.files.Entry(path.Join(p.out, old, e.Path))
	if err != nil || f.Target != "" || f.Digest != e.Digest || f.Mode != e.Mode {
		return false
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS}
	fd, err := effect.Openat2(p.fd(), old+"/"+e.Path, &how)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil || st.Nlink != 1 || int(st.Uid) != os.Getuid() {
		return false
	}
	return effect.Linkat(fd, p.fd(), stage+"/"+e.Path) == nil
}

// buildFile writes one file. It is no [os.File], which asks twice whether it can be waited for.
func (p *Placer) buildFile(below int, stage string, e *cache.Entry) (w source.Written, err error) {
	fd, err := effect.Openat(below, stage+"/"+e.Path, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, e.Mode)
	if err != nil {
		return w, fmt.Errorf("write %s: %w", e.Path, err)
	}
	if err = cache.CopyBlob(effect.FdWriter{Fd: fd, Path: e.Path}, p.cas, e.Digest); err == nil {
		w, err = source.Finish(fd, e.Path)
	}
	if err == nil && w.Mode() != e.Mode { // by a umask, or a rule of the directory for new files
		if err = effect.Fchmod(fd, e.Mode, e.Path); err == nil {
			w, err = w.Again(fd)
		}
	}
	if err = errors.Join(err, unix.Close(fd)); cache.IsMissing(err) || cache.IsCorrupt(err) {
		return w, err
	}
	if err != nil { // a network file system may say only now that it has no room
		return w, fmt.Errorf("write %s: %w", e.Path, err)
	}
	return w, nil
}

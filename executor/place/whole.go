package place

import (
	"bytes"
	"errors"
	"path"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// wholeDir is where an output directory is made of which nothing is there, beside the record of what was put.
func (p *Placer) wholeDir() string { return filepath.Join(filepath.Dir(p.log.file), "whole") }

// putWhole makes an output directory that is not there out of everything that belongs in it, and shows it in one step: it takes one system
// call in place of one for each instance, and those wait for each other. It returns the files that nobody is sure of without a look. It is
// false, with nothing left behind, where that cannot be done, whatever the reason: then each instance is put by itself, and who does that
// says what is wrong.
func (p *Placer) putWhole(sets []set) (unsure []string, done bool) {
	p.lead.Lock()
	defer p.lead.Unlock()
	out, stage := filepath.Join(p.root, filepath.FromSlash(p.out)), p.wholeDir()
	if p.dir != nil || p.openErr != nil || workspace.Remove(stage) != nil || effect.MkdirAll(filepath.Dir(out), 0o755) != nil ||
		!alike(filepath.Dir(stage), filepath.Dir(out)) {
		return nil, false
	}
	wrote, err := p.buildWhole(stage, sets)
	if err == nil {
		err = effect.Renameat2(unix.AT_FDCWD, stage, unix.AT_FDCWD, out, unix.RENAME_NOREPLACE)
	}
	if err != nil {
		_ = workspace.Remove(stage) // what stays is removed by the next build
		return nil, false
	}
	for i := range sets {
		unsure = append(unsure, p.learn(sets[i].instance, sets[i].want, wrote[i])...)
	}
	return unsure, true
}

// buildWhole makes a directory with the outputs of instances, and returns what is known of the files of each.
func (p *Placer) buildWhole(stage string, sets []set) ([][]source.Written, error) {
	if err := effect.Mkdir(stage, 0o755); err != nil {
		return nil, err
	}
	fd, err := unix.Open(stage, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	for _, dir := range parents(sets) {
		if err := effect.Mkdirat(fd, dir, 0o755); err != nil {
			return nil, err
		}
	}
	wrote := make([][]source.Written, len(sets))
	err = source.Each(len(sets), func(i int) (err error) {
		wrote[i], err = p.build(fd, sets[i].instance, "", sets[i].want)
		return err
	})
	return wrote, err
}

// parents returns the directories that the directories of instances are in, below the output directory, each before those in it.
func parents(sets []set) []string {
	known := map[string]bool{".": true}
	var dirs []string
	for i := range sets {
		for dir := path.Dir(sets[i].instance); !known[dir]; dir = path.Dir(dir) {
			known[dir] = true
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// alike reports whether what is made in one directory can be moved to another, and is as if it had been made there: on the same file
// system, of the same group, with the same rights for others.
func alike(a, b string) bool {
	var of [2]unix.Stat_t
	if unix.Stat(a, &of[0]) != nil || unix.Stat(b, &of[1]) != nil || of[0].Dev != of[1].Dev {
		return false
	}
	if of[0].Mode&unix.S_ISGID != of[1].Mode&unix.S_ISGID || of[0].Mode&unix.S_ISGID != 0 && of[0].Gid != of[1].Gid {
		return false
	}
	return bytes.Equal(rule(a), rule(b))
}

// rule is what a directory says of the rights to what is made in it, nil for nothing.
func rule(dir string) []byte {
	var b [4 << 10]byte
	n, err := unix.Getxattr(dir, "system.posix_acl_default", b[:])
	switch {
	case errors.Is(err, unix.ERANGE):
		return []byte(dir) // longer than anybody compares
	case err != nil:
		return nil
	}
	return b[:n]
}

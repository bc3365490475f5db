package remote

import (
	"context"
	"errors"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// over lays a workspace from elsewhere over the one that was sent. Files that came back as they were sent are not touched, so
// that Capture need not read them.
type over struct {
	ctx   context.Context
	p     *parcel
	root  *os.Root
	all   bool // lay everything: nothing lies there
	want  map[string]remote.File
	modes map[string]os.FileMode // of files that are neither 0644 nor 0755
	pipes []string               // where something lay that is neither file nor link nor directory
}

// readIndex reads records of three texts that each end in NUL: a kind, a path below "./", a value.
func (o *over) readIndex(b []byte) {
	parts := strings.Split(string(b), "\x00")
	for i := 0; i+2 < len(parts); i += 3 {
		kind, at, value := parts[i], strings.TrimPrefix(parts[i+1], "./"), parts[i+2]
		if cache.CleanPath(at) != nil {
			continue
		}
		switch kind {
		case "l":
			o.want[at] = remote.File{Path: at, Target: value}
		case "p":
			o.pipes = append(o.pipes, at)
		case "f":
			if mode, err := strconv.ParseUint(value, 8, 32); err == nil {
				o.modes[at] = os.FileMode(mode & 0o777)
			}
		}
	}
}

// same reports whether a path came back as it was sent.
func (o *over) same(at string) bool {
	sent, ok := o.p.sent[at]
	return ok && sent == o.want[at]
}

// ours reports whether a path is none of the task's: what was mounted read-only, and the repository that was made.
func ours(at string) bool {
	return at == workspace.Reserved || at == workspace.MountDir || strings.HasPrefix(at, workspace.MountDir+"/") || at == ".git" || strings.HasPrefix(at, ".git/")
}

// remove takes away what was sent and is not there any more, or is something else now. The deepest goes first.
func (o *over) remove() error {
	for _, at := range slices.Backward(slices.Sorted(maps.Keys(o.p.sent))) {
		want, there := o.want[at]
		if ours(at) || o.same(at) || there && want.Dir && o.p.sent[at].Dir {
			continue
		}
		if err := o.root.RemoveAll(at); err != nil {
			return err
		}
	}
	return nil
}

// lay writes what is new.
func (o *over) lay() error {
	byDigest := map[remote.Digest][]string{}
	for _, at := range slices.Sorted(maps.Keys(o.want)) {
		f := o.want[at]
		if !o.all && (ours(at) || o.same(at) && !o.hasMode(at)) {
			continue
		}
		if err := o.root.MkdirAll(path.Dir(at), 0o755); err != nil {
			return err
		}
		switch {
		case f.Dir:
			if err := o.root.MkdirAll(at, 0o755); err != nil {
				return err
			}
		case f.Target != "":
			if err := o.root.Symlink(f.Target, at); err != nil {
				return err
			}
		default:
			byDigest[f.Digest] = append(byDigest[f.Digest], at)
		}
	}
	if err := o.fetch(byDigest); err != nil {
		return err
	}
	for _, at := range o.pipes { // Capture says what is wrong with it
		if err := o.pipe(at); err != nil {
			return err
		}
	}
	return nil
}

// hasMode reports whether a file came back with another mode than it was laid with.
func (o *over) hasMode(at string) bool {
	mode, odd := o.modes[at]
	if !odd {
		return false
	}
	info, err := o.root.Lstat(at)
	return err != nil || info.Mode().Perm() != mode
}

// fetch downloads files, each blob once.
func (o *over) fetch(paths map[remote.Digest][]string) error {
	err := o.p.client.Read(o.ctx, slices.Collect(maps.Keys(paths)), func(d remote.Digest, r io.Reader) error {
		at := paths[d]
		if err := o.write(at[0], r); err != nil {
			return err
		}
		for _, copied := range at[1:] {
			from, err := o.root.Open(at[0])
			if err != nil {
				return err
			}
			if err := errors.Join(o.write(copied, from), from.Close()); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, all := range paths { // last, as a mode may keep us from reading
		for _, at := range all {
			if err := o.root.Chmod(at, o.modeOf(at)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *over) modeOf(at string) os.FileMode {
	if mode, odd := o.modes[at]; odd {
		return mode
	}
	if o.want[at].Exec {
		return 0o755
	}
	return 0o644
}

func (o *over) write(at string, r io.Reader) error {
	if err := o.root.Remove(at); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	f, err := o.root.OpenFile(at, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// pipe makes a pipe through a handle of its directory, so that no link leads elsewhere.
func (o *over) pipe(at string) error {
	if err := o.root.MkdirAll(path.Dir(at), 0o755); err != nil {
		return err
	}
	dir, err := o.root.Open(path.Dir(at))
	if err != nil {
		return err
	}
	defer dir.Close()
	return unix.Mkfifoat(int(dir.Fd()), filepath.Base(at), 0o600)
}

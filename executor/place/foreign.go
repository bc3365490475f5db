package place

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// foreign lists what is in the directory of an instance that we did not put there, or that is not what
// we put there any more, as paths below it.
func (p *Placer) foreign(instance string) ([]string, error) {
	ours, err := p.ours(instance)
	if err != nil {
		return nil, err
	}
	top := filepath.Join(p.dir.Name(), filepath.FromSlash(instance))
	var found []string
	err = filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, at)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if !d.IsDir() && !p.isOurs(path.Join(p.out, instance, rel), ours[rel]) {
			found = append(found, rel)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path.Join(p.out, instance), err)
	}
	return found, nil
}

// ours returns what was last put into the directory of an instance, by path; nil when nobody wrote it
// down.
func (p *Placer) ours(instance string) (map[string]*cache.Entry, error) {
	p.mu.Lock()
	records, err := p.log.find(instance)
	p.mu.Unlock()
	if err != nil || len(records) == 0 {
		return nil, err
	}
	by := map[string]*cache.Entry{}
	for _, rec := range records {
		entries, err := expand(p.cas, rec.Outs, rec.Specs)
		if err != nil {
			continue // trimmed meanwhile: as if nobody had written it down
		}
		for i := range entries {
			by[entries[i].Path] = &entries[i]
		}
	}
	return by, nil
}

// isOurs reports whether the file at a path below the root is what we put there. Where nobody wrote that
// down, as of what was rejected, and where a crash came between putting and writing it down, bytes that are in the store are
// ours: nothing is lost with them.
func (p *Placer) isOurs(at string, put *cache.Entry) bool {
	f, err := p.files.Entry(at)
	if err != nil {
		return false // whatever it is, it is not what we put there
	}
	if f.Target != "" {
		return put != nil && put.Kind == cache.Link && f.Target == put.Target
	}
	if put != nil && put.Kind == cache.File && f.Digest == put.Digest {
		return true
	}
	if put == nil && p.log.complete() && !below(at, path.Join(p.out, rejectedDir)) {
		return false
	}
	return p.inStore(at)
}

// quarantineDir is where things lie that were in the way, below the root.
const quarantineDir = ".ufbuild/quarantine"

// quarantine keeps files of the directory of an instance that is about to be exchanged, and returns a line
// for each.
func (p *Placer) quarantine(instance string, foreign []string) ([]string, error) {
	if len(foreign) == 0 {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	to, err := p.newQuarantine()
	if err != nil {
		return nil, err
	}
	var moved []string
	for _, rel := range foreign {
		dst := path.Join(to, p.out, instance, rel)
		src := filepath.Join(p.dir.Name(), filepath.FromSlash(path.Join(instance, rel)))
		if err := keep(src, filepath.Join(p.root, filepath.FromSlash(dst))); err != nil {
			return nil, fmt.Errorf("move %s out of the way: %w", path.Join(p.out, instance, rel), err)
		}
		moved = append(moved, fmt.Sprintf("moved %s, which is not what was put there, to %s", path.Join(p.out, instance, rel), dst))
	}
	return moved, nil
}

// newQuarantine makes the next numbered directory.
func (p *Placer) newQuarantine() (string, error) {
	top := filepath.Join(p.root, filepath.FromSlash(quarantineDir))
	if err := effect.MkdirAll(top, 0o755); err != nil {
		return "", fmt.Errorf("make quarantine: %w", err)
	}
	entries, err := os.ReadDir(top)
	if err != nil {
		return "", fmt.Errorf("make quarantine: %w", err)
	}
	last := 0
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			last = max(last, n)
		}
	}
	name := strconv.Itoa(last + 1)
	if err := effect.Mkdir(filepath.Join(top, name), 0o755); err != nil {
		return "", fmt.Errorf("make quarantine: %w", err)
	}
	return path.Join(quarantineDir, name), nil
}

// keep gives a file or link a second name, or copies it where it cannot have one.
func keep(from, to string) error {
	if err := effect.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if effect.Link(from, to) == nil {
		return nil
	}
	if target, err := os.Readlink(from); err == nil {
		return effect.Symlink(target, to)
	}
	return copyFile(from, to)
}

func copyFile(from, to string) error {
	in, err := os.OpenFile(from, os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil // a pipe or socket holds nothing to keep
	}
	out, err := effect.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

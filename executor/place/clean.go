package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/lang"
)

// Dead lists the files below the output directory that we put there for instances that are not among
// live ones, as sorted paths below the root. It deletes nothing. Files that others put there or edited
// are not listed.
func (p *Placer) Dead(live []lang.Address) ([]string, error) {
	keep := make(map[string]bool, len(live))
	for _, a := range live {
		keep[a.String()] = true
	}
	top := filepath.Join(p.root, filepath.FromSlash(p.out))
	top, err := filepath.EvalSymlinks(top) // WalkDir does not follow a link at the top
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read output directory: %w", err)
	}
	ours := map[string]map[string]bool{}
	var dead []string
	err = filepath.WalkDir(top, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, at)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == stageDir || keep[strings.TrimPrefix(rel, rejectedDir+"/")] {
				return filepath.SkipDir
			}
			return nil
		}
		is, err := p.isPut(rel, ours)
		if is {
			dead = append(dead, path.Join(p.out, rel))
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read output directory: %w", err)
	}
	slices.Sort(dead)
	return dead, nil
}

// isPut reports whether we put the file at rel below the output directory, for whichever instance. seen
// remembers what was put for instances already asked for.
func (p *Placer) isPut(rel string, seen map[string]map[string]bool) (bool, error) {
	at := path.Join(p.out, rel)
	for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
		if _, ok := seen[dir]; !ok {
			put, err := p.ours(dir)
			if err != nil {
				return false, err
			}
			seen[dir] = map[string]bool{}
			for name, e := range put {
				seen[dir][name] = p.isOurs(path.Join(p.out, dir, name), e)
			}
		}
		if ours, put := seen[dir][strings.TrimPrefix(rel, dir+"/")]; put {
			return ours, nil
		}
	}
	return p.isOurs(at, nil), nil
}

// inStore reports whether the bytes of a file are in the store, so that nothing is lost with it.
func (p *Placer) inStore(at string) bool {
	f, err := p.files.Entry(at)
	if err != nil || f.Target != "" {
		return false
	}
	has, err := p.cas.Has(f.Digest)
	return err == nil && has
}

// Clean removes files below the output directory, as [Placer.Dead] lists them, and the directories that
// become empty. A path outside of the output directory is an error and removes nothing.
func (p *Placer) Clean(paths []string) error {
	for _, at := range paths {
		if path.Clean(at) != at || at == p.out || !below(at, p.out) {
			return fmt.Errorf("clean %s: it is not below %s", at, p.out)
		}
	}
	out, err := os.OpenRoot(filepath.Join(p.root, filepath.FromSlash(p.out)))
	if err != nil {
		return fmt.Errorf("clean outputs: %w", err)
	}
	defer out.Close()
	for _, at := range paths {
		rel := strings.TrimPrefix(at, p.out+"/")
		if err := effect.RemoveIn(out, filepath.FromSlash(rel)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clean %s: %w", at, err)
		}
		for dir := path.Dir(rel); dir != "."; dir = path.Dir(dir) {
			if effect.RemoveIn(out, filepath.FromSlash(dir)) != nil {
				break // not empty
			}
		}
	}
	return nil
}

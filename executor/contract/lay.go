package contract

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/executor/source"
)

// lay fills a fresh directory: inputs of the attempt, files that the command uses, captured outputs
// last, so that an output that replaced an input is what the command sees.
func (p Process) lay(dir string, spec Spec) error {
	if p.Lay != nil {
		if err := p.Lay(dir); err != nil {
			return fmt.Errorf("lay inputs: %w", err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("open directory: %w", err)
	}
	defer root.Close()
	if err := p.layUses(root, spec); err != nil {
		return err
	}
	for i := range spec.Subjects {
		if err := layOutput(root, &spec.Subjects[i]); err != nil {
			return fmt.Errorf("lay output %q: %w", spec.Subjects[i].Output.Name, err)
		}
	}
	return nil
}

func (p Process) layUses(root *os.Root, spec Spec) error {
	files, err := usedFiles(p.Files, spec.Uses, spec.Argv[:len(spec.Argv)-1])
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := p.layUse(root, f); err != nil {
			return fmt.Errorf("lay %s: %w", f.Path, err)
		}
	}
	return nil
}

func (p Process) layUse(root *os.Root, f source.File) error {
	if f.Target != "" {
		return layLink(root, f.Path, f.Target)
	}
	in, err := p.Files.Reader(f.Path)
	if err != nil {
		return err
	}
	return layFile(root, f.Path, f.Mode, f.Digest, in)
}

func layOutput(root *os.Root, s *Subject) error {
	if !s.Captured.Exists {
		return nil
	}
	if !s.Captured.Tree {
		in, err := s.Open()
		if err != nil {
			return err
		}
		return layFile(root, s.Output.Path, s.Captured.Mode, s.Captured.Digest, in)
	}
	tree, err := s.Tree()
	if err != nil {
		return err
	}
	for _, e := range tree.Entries {
		if err := layEntry(root, s, e); err != nil {
			return fmt.Errorf("%s: %w", e.Path, err)
		}
	}
	return nil
}

func layEntry(root *os.Root, s *Subject, e cache.Entry) error {
	switch e.Kind {
	case cache.Dir:
		return effect.MkdirAllIn(root, filepath.FromSlash(e.Path), 0o755)
	case cache.Link:
		return layLink(root, e.Path, e.Target)
	}
	in, err := s.Blob(e.Digest)
	if err != nil {
		return err
	}
	return layFile(root, e.Path, e.Mode, e.Digest, in)
}

// layFile writes in to name and closes it. Bytes that are not want's are an error: a verdict must
// be about what its key names.
func layFile(root *os.Root, name string, mode uint32, want digest.Digest, in io.ReadCloser) error {
	defer in.Close()
	if err := clearWay(root, name); err != nil {
		return err
	}
	perm := fs.FileMode(0o644)
	if mode&0o111 != 0 {
		perm = 0o755
	}
	out, err := effect.OpenIn(root, filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	got, err := digest.FromReader(io.TeeReader(in, out))
	if cerr := out.Close(); err == nil {
		err = cerr
	}
	if err == nil && got != want {
		err = errors.New("changed since it was hashed")
	}
	return err
}

func layLink(root *os.Root, name, target string) error {
	if err := clearWay(root, name); err != nil {
		return err
	}
	return effect.SymlinkIn(root, target, filepath.FromSlash(name))
}

// clearWay makes the parents of name and removes a file that an input left there.
func clearWay(root *os.Root, name string) error {
	if err := cache.CleanPath(name); err != nil {
		return err
	}
	if parent := path.Dir(name); parent != "." {
		if err := effect.MkdirAllIn(root, filepath.FromSlash(parent), 0o755); err != nil {
			return err
		}
	}
	err := effect.RemoveIn(root, filepath.FromSlash(name))
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	return nil
}

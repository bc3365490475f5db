package disk

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/effect"
)

// RegisterCampaign implements cache.Store. Doing it again writes nothing. From here on until Close nothing is
// trimmed.
func (s *Store) RegisterCampaign(root string) error {
	if !filepath.IsAbs(root) {
		return fmt.Errorf("register campaign %s: the path is not absolute", root)
	}
	root = filepath.Clean(root)
	path := filepath.Join(s.dir, "campaigns", digest.Of([]byte(root)).Hex()[:32])
	if have, err := effect.ReadRegular(path); err == nil && string(have) == root+"\n" {
		if s.readOnly {
			return nil
		}
		if err := s.enter(); err != nil {
			return fault("use", s.dir, err)
		}
		return nil
	}
	if _, err := s.write(); err != nil {
		return err
	}
	err := effect.Mkdir(filepath.Dir(path), 0o700)
	if err == nil || errors.Is(err, os.ErrExist) {
		err = effect.ReplaceDurably(path, []byte(root+"\n"))
	}
	if err != nil {
		return fault("write", s.dir, err)
	}
	s.commits.directory(s.dir, filepath.Dir(path))
	return nil
}

// Campaigns implements cache.Store.
func (s *Store) Campaigns() ([]string, error) {
	dir := filepath.Join(s.dir, "campaigns")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault("read", s.dir, err)
	}
	var roots []string
	for _, e := range entries {
		if strings.Contains(e.Name(), ".") {
			continue // half written by a crash, or gone the next moment: it gets the name it shall have when it is whole
		}
		b, err := effect.ReadRegular(filepath.Join(dir, e.Name()))
		if err != nil {
			return nil, fault("read", s.dir, err)
		}
		if root, ok := strings.CutSuffix(string(b), "\n"); ok {
			roots = append(roots, root)
		}
	}
	slices.Sort(roots)
	return roots, nil
}

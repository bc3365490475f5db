package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// Reap removes the directory of an attempt as far as it can. What stays, as a file that another user
// made immutable, only takes up space, and a later build tries again. Call it only when everything was
// captured.
func Reap(dir string) {
	// There is nobody who could do more about it than the next Reap.
	_ = Remove(dir)
}

// Remove removes dir and everything in it, also where its maker took the permission to. A directory
// that is not there is removed already. Links are removed, never followed.
func Remove(dir string) error {
	err := effect.RemoveAll(dir)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("remove directory: %w", err)
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return fmt.Errorf("remove directory: %w", err)
	}
	defer root.Close()
	open(root, filepath.Base(dir))
	if err := effect.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove directory: %w", err)
	}
	return nil
}

// open makes the directories below dir writable, as far as that is possible.
func open(root *os.Root, dir string) {
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() || effect.ChmodIn(root, dir, 0o700) != nil {
		return
	}
	h, err := root.Open(dir)
	if err != nil {
		return
	}
	defer h.Close()
	entries, err := h.ReadDir(-1)
	if err != nil {
		return
	}
	for _, e := range entries {
		if e.IsDir() {
			open(root, filepath.Join(dir, e.Name()))
		}
	}
}

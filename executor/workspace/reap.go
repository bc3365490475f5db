package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Reap removes dir and everything in it, also where the task took its own permission to. A directory
// that is not there is removed already. Links are removed, never followed. Call it only when
// everything was captured.
func Reap(dir string) error {
	err := os.RemoveAll(dir)
	if err == nil {
		return nil
	}
	if !errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("remove workspace: %w", err)
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return fmt.Errorf("remove workspace: %w", err)
	}
	defer root.Close()
	open(root, filepath.Base(dir))
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove workspace: %w", err)
	}
	return nil
}

// open makes the directories below dir writable, as far as that is possible.
func open(root *os.Root, dir string) {
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() || root.Chmod(dir, 0o700) != nil {
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

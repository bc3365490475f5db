package workspace

import (
	"fmt"

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
	if err := effect.RemoveAll(dir); err != nil {
		return fmt.Errorf("remove directory: %w", err)
	}
	return nil
}

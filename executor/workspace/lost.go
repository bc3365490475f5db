package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// Lost says in words what a task that ended did with its workspace, where that is not in its place in the directory of attempt any more:
// a failure of the task and no trouble of this machine. "" is that it is there, or that nobody can tell. One that was moved beside its place
// is put back, so that what is in it is kept; back says so.
func Lost(attempt string) (why string, back bool) {
	ws := filepath.Join(attempt, Dir)
	info, err := os.Lstat(ws)
	switch {
	case err == nil && info.IsDir():
		return "", false
	case err == nil:
		return "the task put something else in the place of its workspace", false
	case !errors.Is(err, fs.ErrNotExist):
		return "", false
	}
	entries, err := os.ReadDir(attempt)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(filepath.Dir(attempt)); err != nil {
			return "", false // with those of all others: nobody knows who did that
		}
		return "the task removed its workspace, and with it what it printed", false
	}
	if err != nil {
		return "", false
	}
	var others []string
	for _, e := range entries {
		if e.IsDir() && e.Name() != Tmp {
			others = append(others, e.Name())
		}
	}
	if len(others) == 1 && effect.Rename(filepath.Join(attempt, others[0]), ws) == nil {
		return "the task moved its workspace away", true
	}
	return "the task removed its workspace", false
}

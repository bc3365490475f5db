package workspace

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// closed are the paths below a workspace that their maker closed to its own user, with the permissions they had.
// Reading a workspace opens them. Whoever reads it again, also in another process, speaks of them as their maker
// left them.
type closed map[string]uint32

// Permissions that this user needs to read what its maker closed.
const (
	readsFile = 0o400
	readsDir  = 0o500
	opensDir  = 0o700 // what a closed directory gets; it will be removed as well
)

// meet gives f the permissions that its maker left. It takes in a file that is closed still.
func (c closed) meet(f *found) {
	opened := uint32(readsFile)
	switch f.kind() {
	case unix.S_IFDIR:
		opened = opensDir
	case unix.S_IFREG:
		if f.mode()&readsFile == 0 {
			c[f.path] = f.mode()
			return
		}
	default:
		return
	}
	if was, ok := c[f.path]; ok && f.mode() == was|opened {
		f.st.Mode = f.st.Mode&^0o777 | was
	}
}

// unlock opens a directory whose maker left it mode, by chmod. One of another user stays closed: EACCES.
func (c closed) unlock(dir string, mode uint32, chmod func(mode uint32) error) error {
	switch err := chmod(mode | opensDir); {
	case errors.Is(err, unix.EPERM):
		return unix.EACCES
	case err != nil:
		return err
	}
	c[dir] = mode
	return nil
}

// openWorkspace opens the workspace of attempt, of which laid is known, also when its task closed it. A link that the task put in its place leads nowhere:
// what it points to is not what the task made.
func openWorkspace(attempt string, laid *Laid) (int, error) {
	at, err := laid.at, error(nil)
	if at == 0 || !laid.isAt(attempt) {
		if at, err = openDir(attempt); err != nil {
			return -1, err
		}
		defer unix.Close(at)
	}
	h, err := openAt(at, Dir)
	if errors.Is(err, unix.EACCES) {
		var st unix.Stat_t
		if effect.Fstatat(at, Dir, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFDIR {
			if err := effect.Fchmodat(at, Dir, opensDir, 0); err != nil {
				return -1, err
			}
		}
		h, err = openAt(at, Dir)
	}
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: filepath.Join(attempt, Dir), Err: err}
	}
	return h, nil
}

package workspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/effect"
)

// SecretProblem says that a file of an output held a secret value, at which byte.
func SecretProblem(output, path string, at int64) string {
	return fmt.Sprintf("output %q: %s holds a secret value at byte %d; it is stored masked", output, path, at)
}

// MaskFile replaces secret values in the file at path, and returns where the first was; -1 for none, and then the file is left
// alone. Links are not followed.
func MaskFile(path string, values []string) (int64, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_NOFOLLOW|openFlags, 0)
	if err != nil {
		return -1, wrap("mask", path, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return -1, wrap("mask", path, err)
	}
	through := func(to io.Writer) (int64, error) {
		m := NewMasker(values)
		_, err := io.Copy(to, &maskedReader{from: &fdReader{fd: fd}, m: m, buf: make([]byte, 64<<10)})
		return m.First(), err
	}
	if first, err := through(io.Discard); err != nil || first < 0 {
		return -1, wrap("mask", path, err)
	}
	out, err := effect.CreateTemp(filepath.Dir(path), ".ufbuild-mask")
	if err != nil {
		return -1, err
	}
	first, err := through(out)
	if err = errors.Join(err, out.Chmod(os.FileMode(st.Mode&0o777)), out.Close()); err == nil {
		err = effect.Rename(out.Name(), path)
	}
	if err != nil {
		return -1, errors.Join(err, effect.Remove(out.Name()))
	}
	return first, nil
}

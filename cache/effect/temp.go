package effect

import (
	"errors"
	"io/fs"
	"os"
	slash "path"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/ufbuild/ufbuild/cache/filelock"
)

// HeldTemp makes a file in dir whose name begins with prefix, mode 0600, that SweepTemp leaves alone until it is closed. Where the file
// system knows no locks nothing is swept either.
func HeldTemp(dir, prefix string) (*File, error) {
	for {
		f, err := CreateTemp(dir, prefix+"*")
		if err != nil {
			return nil, err
		}
		held, err := filelock.Try(f.File, 0, 0)
		if err != nil {
			return f, nil
		}
		var at unix.Stat_t
		if err := unix.Fstat(int(f.Fd()), &at); held && (err != nil || at.Nlink > 0) {
			return f, nil
		}
		_ = f.Close() // somebody swept it before it was held
		if err := Remove(f.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
}

// SweepTemp removes what killed writers left in dir under names that begin with one of prefixes: nobody holds it. What cannot be told
// stays, and nothing that goes wrong here matters to anybody.
func SweepTemp(dir string, prefixes ...string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		begins := func(prefix string) bool { return strings.HasPrefix(e.Name(), prefix) }
		if !e.Type().IsRegular() || !slices.ContainsFunc(prefixes, begins) {
			continue
		}
		f, err := os.Open(slash.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		if free, err := filelock.TryShared(f, 0, 0); free && err == nil {
			_ = Remove(f.Name())
		}
		_ = f.Close()
	}
}

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// devices can be written without changing a disk. Shared memory is none of them: somebody's files may lie there.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// system are the places where programs, their libraries and their settings are installed, and where the kernel tells
// of itself: what a task could find out on any machine of the kind. Nothing of a user is below them; what /proc
// says of processes outside of the sandbox is withheld by Landlock itself, but for their names and arguments.
var system = []string{
	"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/usr", "/etc", "/opt", "/snap",
	"/nix/store", "/gnu/store", "/run/current-system",
	// What /etc/resolv.conf is a link to.
	"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager",
	"/proc", "/sys",
}

// missing reports whether an error says that a path is not there, or that nobody here may see it.
func missing(err error) bool {
	return errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.EACCES)
}

// Programs returns the directories in which a program, at its own path and behind the links that lead to it, and those
// on a PATH lie. What is too wide to be a directory of programs, since a path of keep is in it, is left out: a PATH
// with somebody's home in it does not open the home. Of such a directory the program itself is all there is.
func Programs(program, searchPath string, keep []string) []string {
	var out []string
	add := func(dir string) bool {
		real, err := filepath.EvalSymlinks(dir)
		if err != nil || !filepath.IsAbs(dir) {
			return false
		}
		for _, k := range keep {
			if Below(k, real) {
				return false
			}
		}
		out = append(out, real)
		return true
	}
	for _, dir := range filepath.SplitList(searchPath) {
		add(dir)
	}
	real, err := filepath.EvalSymlinks(program)
	if err != nil || !filepath.IsAbs(program) {
		return out
	}
	add(filepath.Dir(program))
	if !add(filepath.Dir(real)) {
		out = append(out, real)
	}
	return out
}

// Below reports whether a clean absolute path is dir or lies below it.
func Below(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// Reads reports whether a file may be read under the limits, links on the way resolved.
func (l *Limits) Reads(path string) bool {
	if l.Level != Strict {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		real = filepath.Clean(path)
	}
	return anyHolds(real, l.Readable, l.Writable, system, devices)
}

// Writes reports whether a file may be made or changed under the limits, links on the way resolved.
func (l *Limits) Writes(path string) bool {
	if !l.files() {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil { // it need not be there
		if dir, e := filepath.EvalSymlinks(filepath.Dir(path)); e == nil {
			real = filepath.Join(dir, filepath.Base(path))
		} else {
			real = filepath.Clean(path)
		}
	}
	return anyHolds(real, l.Writable, devices)
}

func anyHolds(path string, lists ...[]string) bool {
	for _, list := range lists {
		for _, dir := range list {
			if real, err := filepath.EvalSymlinks(dir); err == nil && Below(path, real) {
				return true
			}
		}
	}
	return false
}

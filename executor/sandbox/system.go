package sandbox

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// Devices can be written without changing a disk. Shared memory is none of them: somebody's files may lie there.
var Devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"}

// System are the places where programs, their libraries and their settings are installed, and where the kernel tells
// of itself: what a task could find out on any machine of the kind. Nothing of a user is below them; what /proc
// says of processes outside of the sandbox is withheld by Landlock itself, but for their names and arguments.
var System = []string{
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

package effect

import (
	"syscall"

	"github.com/ufbuild/ufbuild/cache/effect/vfork"
)

// ForkExec is syscall.ForkExec. dir is a descriptor of the directory that attr names; -1 for none.
func ForkExec(path string, argv []string, attr *syscall.ProcAttr, dir int) (int, error) {
	if err := Before(OpStart, path); err != nil {
		return 0, err
	}
	return vfork.Start(path, argv, attr, dir)
}

// Starting reports whether a process is one whose ForkExec has not returned yet, as far as that is known.
func Starting(pid int) bool { return vfork.Starting(pid) }

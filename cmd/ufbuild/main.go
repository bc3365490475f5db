// Command ufbuild builds campaigns of agent prompts and commands. See ufbuild --help.
//
// This package is the only one that reads flags and the environment, writes to the terminal or
// exits; every other package is given what it needs. Each verb is in a file of its own, wiring is in
// wire.go, exit codes are in exit.go.
package main

import (
	"os"
	"syscall"

	_ "github.com/ufbuild/ufbuild/cmd/ufbuild/internal/early" // answers what needs no program
	"github.com/ufbuild/ufbuild/executor/local"
)

func main() {
	if local.WatchdogMain() {
		return
	}
	leaveOwnerRights()
	os.Exit(run(&process{
		args:    os.Args[1:],
		environ: os.Environ(),
		in:      os.Stdin,
		out:     os.Stdout,
		err:     os.Stderr,
	}))
}

// leaveOwnerRights corrects a umask that takes rights from the owner of a file: with it this program would make directories, in the
// store and in projects, that neither it nor a later build without that umask can look into. Tasks inherit what is left of it.
func leaveOwnerRights() {
	if old := syscall.Umask(0o777); old&0o700 == 0 {
		syscall.Umask(old)
	} else {
		syscall.Umask(old &^ 0o700)
	}
}

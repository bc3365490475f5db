// Command ufbuild builds campaigns of agent prompts and commands. See ufbuild --help.
//
// This package is the only one that reads flags and the environment, writes to the terminal or
// exits; every other package is given what it needs. Each verb is in a file of its own, wiring is in
// wire.go, exit codes are in exit.go.
package main

import (
	"os"

	_ "github.com/ufbuild/ufbuild/cmd/ufbuild/internal/early" // answers what needs no program
	"github.com/ufbuild/ufbuild/executor/local"
)

func main() {
	if local.WatchdogMain() {
		return
	}
	os.Exit(run(&process{
		args:    os.Args[1:],
		environ: os.Environ(),
		in:      os.Stdin,
		out:     os.Stdout,
		err:     os.Stderr,
	}))
}

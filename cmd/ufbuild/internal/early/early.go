// Package early answers before the program has started.
//
// A Go program initialises every package that it links before main begins. For ufbuild that is the messages of
// protocols, tables of Unicode and regular expressions: as much as a build that has nothing to do takes. Such a build
// is answered from an init function, which ends the process: in package first when nothing was touched, else here. This
// one also makes the process a watchdog that was started as one, which every build that runs something does, and puts a
// task into its sandbox. The order is the language's: packages are initialised as soon as all that they import are, by
// import path among those that could be next. What this package imports is therefore kept short and a test holds it to
// that.
//
// The promise: whatever is not exactly a question that has an answer goes the long way, through main. The
// danger: an init function runs in every program that links the package. It does nothing unless the command
// line is one of a few exact words.
package early

import (
	"os"
	"sync/atomic"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/bare"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/first"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/stamp"
	"github.com/ufbuild/ufbuild/executor/watchdog"
)

func init() {
	sandbox.Main(os.Args)
	if watchdog.Main(os.Args) {
		os.Exit(0)
	}
	if len(os.Args) > 1 {
		answer(os.Args[1:], os.Environ())
	}
}

// answer ends the process with what there is to say to a command line, where package first could not tell: a file was
// touched. It returns where the long way has to be gone.
func answer(args, environ []string) {
	l := first.Asked()
	if !l.Holds(stamp.Read) {
		if asked.Store(l); l != nil && bare.Get(environ, "GOGC") == "" {
			bare.SetGCPercent(firstGC)
		}
		return
	}
	if args[0] != "plan" {
		renew(l.Kept)
	}
	first.Say(l.Kept, args[0], environ)
}

// firstGC keeps the collector from a look at what packages initialise, which is as much as lets it begin; package main says how to go on
// from there.
const firstGC = 400

// renew remembers how touched files look now. Without it the next build looks as closely as this one.
func renew(k *stamp.Kept) {
	if dir, err := os.Getwd(); err == nil {
		_ = stamp.Renew(k, first.StampPath(dir), k.Invocation)
	}
}

// asked is what the command line of this process asked for.
var asked atomic.Pointer[first.Look]

// Look returns the stamp of the campaign at root, with what this process found out about it, if it is the first that asks. Anything
// wrong with the stamp is an error.
func Look(root string) (*first.Look, error) {
	if l := asked.Swap(nil); l != nil && l.Root == root {
		return l, nil
	}
	k, err := stamp.Load(first.StampPath(root))
	if err != nil {
		return nil, err
	}
	return &first.Look{Kept: k, Root: root}, nil
}

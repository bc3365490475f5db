// Package early answers before the program has started.
//
// A Go program initialises every package that it links before main begins. For ufbuild that is the JSON Schema
// library's own schemas, tables of Unicode and regular expressions: several times what `ufbuild version` or a
// build that has nothing to do takes. So these two are answered from init functions, the second from that of this package, which
// ends the process. It also makes the process a watchdog that was started as one, which every build that runs something does, and
// puts a task into its sandbox. The order is the language's: packages are initialised as soon as all that they import
// are, by import path among those that could be next. What this package imports is therefore kept short and a
// test holds it to that.
//
// The promise: whatever is not exactly a question that has an answer goes the long way, through main. The
// danger: an init function runs in every program that links the package. It does nothing unless the command
// line is one of a few exact words.
package early

import (
	"fmt"
	"os"
	"time"

	"github.com/ufbuild/ufbuild/cache/disk/position"
	"github.com/ufbuild/ufbuild/cache/filelock"
	"github.com/ufbuild/ufbuild/executor/sandbox"
	"github.com/ufbuild/ufbuild/executor/stamp"
	"github.com/ufbuild/ufbuild/executor/watchdog"
)

// stateDir is where a campaign's state is, the same as journal.Dir.
const stateDir = ".ufbuild"

// NoStamp is the variable that turns stamps off, for tests that compare answers with and without.
const NoStamp = "UFBUILD_NO_STAMP"

func init() {
	sandbox.Main(os.Args)
	if watchdog.Main(os.Args) {
		os.Exit(0)
	}
	begun := time.Now()
	if len(os.Args) < 2 {
		return
	}
	text, ok := answer(os.Args[1:], os.Environ())
	if !ok {
		return
	}
	if _, err := fmt.Fprintf(os.Stdout, "%s, %.1fs\n", text, time.Since(begun).Seconds()); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// answer returns what there is to say to a command line. Trouble of any kind is none of its business.
func answer(args, environ []string) (text string, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false // the long way meets it too, and reports it
		}
	}()
	dir, err := os.Getwd()
	if err != nil {
		return "", false
	}
	asked, ok := Invocation(args, environ, dir)
	if !ok {
		return "", false
	}
	k, err := stamp.Load(StampPath(dir))
	if err != nil || k.Invocation != asked || !Holds(k, dir) {
		return "", false
	}
	if args[0] != "plan" {
		_ = k.Renew(StampPath(dir), asked) // without it the next build looks as closely as this one
	}
	return k.Answer, true
}

// StampPath is where the stamp of the campaign at root is.
func StampPath(root string) string { return root + "/" + stateDir + "/fresh" }

// Holds reports whether the answer of a stamp holds for the campaign at root: nobody builds it, no build has
// left a work directory in the store, no record was added to the store, and all that was seen is as it was.
func Holds(k *stamp.Kept, root string) bool {
	if held(root) || !nothingLeft(k.Store) {
		return false
	}
	end, err := position.Of(k.Store)
	return err == nil && end == k.Position && k.Holds(root)
}

// held reports whether somebody holds the campaign: what another build is changing is for the long way to
// tell.
func held(root string) bool {
	f, err := os.Open(root + "/" + stateDir + "/lock")
	if err != nil {
		return !os.IsNotExist(err)
	}
	defer f.Close()
	free, err := filelock.Free(f, 0, 0)
	return err != nil || !free
}

// nothingLeft reports whether no build has a work directory in the store. A dead one may have left something
// to clear away, which takes a build that looks.
func nothingLeft(store string) bool {
	entries, err := os.ReadDir(store + "/work")
	return len(entries) == 0 && (err == nil || os.IsNotExist(err))
}

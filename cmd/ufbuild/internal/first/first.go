// Package first answers a build that has nothing to do, before nearly everything of the program is initialised.
//
// Go initialises packages as soon as all that they import are, by import path among those that could be next. This one
// imports package os and little else: neither fmt, nor strings, which comes late for its name, nor what makes digests and asks the
// processor what it can, which takes longer than the answer on a virtual machine. A test holds it to that. Package early asks
// once more, for builds of which a file was touched.
//
// The promise and the danger are those of package early.
package first

import (
	"errors"
	"strconv"

	"github.com/ufbuild/ufbuild/cache/raw"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/bare"
	"github.com/ufbuild/ufbuild/executor/stamp/kept"
)

// stateDir is where a campaign's state is, the same as journal.Dir.
const stateDir = ".ufbuild"

// NoStamp is the variable that turns stamps off, for tests that compare answers with and without.
const NoStamp = "UFBUILD_NO_STAMP"

// begun is when the program began, as nearly as it can tell.
var begun = bare.Nanoseconds()

// space is where the stamp is read to. To have the heap grow for it takes longer than to read it.
var space [256 << 10]byte

func init() {
	args := bare.Args()
	if len(args) < 2 {
		return
	}
	environ := bare.Environ()
	asked = Ask(args[1:], environ)
	kept.Alone = true
	holds := asked.Holds(nil)
	kept.Alone = false
	if holds {
		Say(asked.Kept, args[1], environ)
	}
}

// asked is what the command line of this process asked for.
var asked *Look

// Asked returns what the command line of this process asked for, once; nil when it is no question that a stamp answers, or there is
// none.
func Asked() *Look {
	l := asked
	asked = nil
	return l
}

// Say prints the answer to a verb and ends the process. A plan runs nothing, so it does not say how long that took. Say returns
// when nothing can be printed: the long way says what is wrong.
func Say(k *kept.Kept, verb string, environ []string) {
	bare.Tell(painted(k.Remarks, bare.Stderr, environ))
	answer := painted(k.Warnings, bare.Stdout, environ) + k.Answer
	if verb == "plan" {
		bare.Say(answer + "\n")
		return
	}
	const tenth = 1e8 // of a second
	took := int((bare.Nanoseconds() - begun + tenth/2) / tenth)
	bare.Say(answer + ", " + strconv.Itoa(took/10) + "." + strconv.Itoa(took%10) + "s\n")
}

// Ask returns the stamp that answers a command line, for as long as it holds; nil for none. Trouble of any kind is none of its
// business.
func Ask(args, environ []string) (l *Look) {
	defer func() {
		if recover() != nil {
			l = nil // the long way meets it too, and reports it
		}
	}()
	dir, ok := workDir(environ)
	if !ok {
		return nil
	}
	spelled, ok := Invocation(args, environ, dir)
	if !ok {
		return nil
	}
	k, err := kept.Load(StampPath(dir), room)
	if err != nil {
		return nil
	}
	return &Look{Kept: k, Root: dir, Spelled: k.Invocation == spelled && canSay(k, args[0], environ), Builds: args[0] != "plan"}
}

// room is a place for a stamp.
func room(size int) []byte {
	if size <= len(space) {
		return space[:]
	}
	return raw.Space(size)
}

// StampPath is where the stamp of the campaign at root is.
func StampPath(root string) string { return root + "/" + stateDir + "/fresh" }

// held reports whether somebody holds the campaign: what another build is changing is for the long way to
// tell.
func held(root string) bool {
	fd, err := raw.Open(root + "/" + stateDir + "/lock")
	if err != nil {
		return !errors.Is(err, raw.NotThere)
	}
	defer raw.Close(fd)
	is, err := raw.Unlocked(fd, 0, 0)
	return err != nil || !is
}

// nothingLeft reports whether no build has a work directory in the store. A dead one may have left something
// to clear away, which takes a build that looks.
func nothingLeft(store string) bool {
	names, err := raw.Names(store + "/work")
	return len(names) == 0 && (err == nil || errors.Is(err, raw.NotThere))
}

// canSay reports whether what a stamp says can be said here. Programs are asked for their versions by the long way; a plan
// has warnings in its table; and in a workflow of GitHub's words of tasks are made harmless.
func canSay(k *kept.Kept, verb string, environ []string) bool {
	return k.Versions == "" && (k.Warnings == "" || verb != "plan" && bare.Get(environ, "GITHUB_ACTIONS") != "true")
}

// painted is a text for people as it is shown on an open file.
func painted(text string, fd int, environ []string) string {
	getenv := func(name string) string { return bare.Get(environ, name) }
	if text == "" || bare.Colors(raw.IsTerminal(fd), getenv) {
		return text
	}
	return Unpainted(text)
}

// Unpainted takes the colours out of a text.
func Unpainted(text string) string {
	var plain []byte
	for i := 0; i < len(text); i++ {
		if begins(text[i:], "\x1b[") {
			for i < len(text) && text[i] != 'm' {
				i++
			}
			continue
		}
		plain = append(plain, text[i])
	}
	return string(plain)
}

// workDir is [os.Getwd]: a path by which links led here, when the environment knows one.
func workDir(environ []string) (string, bool) {
	if dir := bare.Get(environ, "PWD"); begins(dir, "/") {
		here, err := raw.StatPath(".")
		it, err2 := raw.StatPath(dir)
		if err == nil && err2 == nil && it.Dev == here.Dev && it.Ino == here.Ino {
			return dir, true
		}
	}
	dir, err := raw.WorkDir()
	return dir, err == nil
}

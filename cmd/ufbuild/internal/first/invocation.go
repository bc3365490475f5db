package first

import (
	"slices"
	"strconv"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/bare"
)

// heard are the variables that an answer may depend on, besides those of ufbuild itself. PATH says which git lists a snapshot of the
// project, and which program an agent is.
var heard = []string{"HOME", "PATH", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}

// idle knows the flags that say how a build goes about its work. A build without work is the same with and without
// them. Those with a value say which values are sound. It is no map: that would be made in each process.
func idle(flag string) (sound func(string) bool, known bool) {
	switch flag {
	case "-j", "--jobs":
		return isCount, true
	case "--progress":
		return isProgress, true
	case "--fail-fast", "--keep-going", "-k", "--keep-workspaces", "--require-complete", "--wait":
		return nil, true
	}
	return nil, false
}

func isProgress(v string) bool { return v == "auto" || v == "tty" || v == "plain" || v == "none" }

func isCount(v string) bool {
	n, err := strconv.Atoi(v)
	return err == nil && n > 0
}

// Invocation spells a build or plan in dir: what is asked, and all of its surroundings that say something about
// the campaign. Two builds that are spelled alike have the same answer while nothing changes. It is false for
// what it does not know: then only the long way understands the command line.
func Invocation(args, environ []string, dir string) (string, bool) {
	if len(args) == 0 || !slices.Contains([]string{"build", "run", "plan"}, args[0]) {
		return "", false
	}
	targets, ok := targetsOf(args[1:], args[0] != "plan")
	if !ok {
		return "", false
	}
	b := strconv.AppendQuote(nil, dir)
	for _, t := range targets {
		b = strconv.AppendQuote(append(b, " target "...), t)
	}
	var said []string
	for _, kv := range environ {
		key, value := bare.Cut(kv, '=')
		if key == NoStamp {
			return "", false
		}
		ours := begins(key, "UFBUILD_") || slices.Contains(heard, key)
		if begins(key, "UF_VAR_") || ours && value != "" { // of ours an empty one is as good as none
			said = append(said, kv)
		}
	}
	slices.Sort(said) // a shell hands its environment on in an order of its own
	for _, kv := range said {
		b = strconv.AppendQuote(append(b, " environ "...), kv)
	}
	return string(b), true
}

// targetsOf drops the flags that change no answer. Any other flag makes it false.
func targetsOf(args []string, flags bool) (targets []string, ok bool) {
	given := func(flag string) bool { return slices.Contains(args, flag) }
	if given("--fail-fast") && (given("--keep-going") || given("-k")) {
		return nil, false // opposites: the long way says so
	}
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if !begins(arg, "-") {
			targets = append(targets, arg)
			continue
		}
		flag, value := bare.Cut(arg, '=')
		joined := flag != arg
		sound, known := idle(flag)
		switch {
		case !flags || !known:
			return nil, false
		case sound == nil && joined:
			return nil, false
		case sound == nil:
			continue
		case !joined && i+1 < len(args):
			i++
			value = args[i]
		}
		if !sound(value) {
			return nil, false
		}
	}
	return targets, true
}

// begins does without package strings, which comes up after a hundred others, for its name.
func begins(s, with string) bool { return len(s) >= len(with) && s[:len(with)] == with }

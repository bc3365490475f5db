// Package bare is what a program can ask before its packages are initialised: how it was called, in what environment, how much
// time passed, and to say a word and end.
//
// It imports nothing, not even package runtime, so what imports only it comes up before nearly everything else: package os has
// 20 others before it, which together take as long as an answer. Its functions are those of the runtime below packages os
// and syscall, linked to by name; these names have been the same since Go 1.10, and a toolchain without them does not link.
package bare

import "unsafe"

// Args returns what [os.Args] will be.
//
//go:linkname Args os.runtime_args
func Args() []string

// Environ returns what [os.Environ] returns, in a copy, but for keys that are there twice.
//
//go:linkname Environ syscall.runtime_envs
func Environ() []string

// Exit ends the process.
//
//go:linkname Exit syscall.Exit
func Exit(code int)

// Nanoseconds is the monotonic clock.
//
//go:linkname Nanoseconds runtime.nanotime
func Nanoseconds() int64

// SetGCPercent is that of package runtime/debug, which comes up after hundreds of others, for its name.
//
//go:linkname SetGCPercent runtime/debug.setGCPercent
func SetGCPercent(percent int32) (before int32)

//go:linkname write runtime.write
func write(fd uintptr, p unsafe.Pointer, n int32) int32

// Cut parts a text at a byte, as [strings.Cut] does; package strings comes up after a hundred others, for its name.
func Cut(s string, at byte) (before, after string) {
	for i := range len(s) {
		if s[i] == at {
			return s[:i], s[i+1:]
		}
	}
	return s, ""
}

// The numbers of the standard output and of where people are told what is no result.
const (
	Stdout = 1
	Stderr = 2
)

// Tell writes text on the standard error, and goes on when it cannot.
func Tell(text string) {
	for text != "" {
		n := write(Stderr, unsafe.Pointer(unsafe.StringData(text)), int32(len(text)))
		if n <= 0 {
			return
		}
		text = text[n:]
	}
}

// Colors implements no-color.org and bixense.com/clicolors: whether to paint what goes to a terminal, or elsewhere.
func Colors(terminal bool, getenv func(string) string) bool {
	if getenv("NO_COLOR") != "" {
		return false
	}
	if force := getenv("CLICOLOR_FORCE"); force != "" && force != "0" {
		return true
	}
	return terminal && getenv("TERM") != "dumb" && getenv("CLICOLOR") != "0"
}

// Get returns the value of a variable of an environment, as [os.Getenv] does.
func Get(environ []string, name string) string {
	for _, kv := range environ {
		if key, value := Cut(kv, '='); key == name {
			return value
		}
	}
	return ""
}

// Say prints text, ends the process when all of it is written, and returns when nothing is: then the program starts,
// says it again, and says what is wrong. Half an answer cannot be taken back, so the process ends then too, with a failure.
func Say(text string) {
	for begun := false; ; begun = true {
		n := write(Stdout, unsafe.Pointer(unsafe.StringData(text)), int32(len(text)))
		switch {
		case n <= 0 && !begun:
			return
		case n <= 0:
			Exit(1)
		}
		if text = text[n:]; text == "" {
			Exit(0)
		}
	}
}

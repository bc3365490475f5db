// Package effect is the door through which everything that keeps state changes the world: files are made, written, synced,
// renamed and removed here, and programs are started.
//
// # The nouns
//
// An [Effect] is one such change: what is done ([Op]) and to which path. A [Fault] is what a test lets happen instead of it,
// or in the middle of it. [Intercept] says who decides.
//
// # The promises
//
// In a program that never calls Intercept every function is the system call it is named after, made again when a signal
// interrupts it, and a comparison with nil. What a test interrupts is what users run, not a copy of it:
// cmd/ufbuild/policy_test.go keeps the rooms that write state from going past this one, and a [File] can be opened for writing
// here only. Functions may be called concurrently; errors are those of the system, with the path where package os gives one.
//
// # The dangers
//
// Intercept is for the start of a process: it must not be called while effects happen.
package effect

// Package ui is the one place that knows how ufbuild's answers look on a terminal: colour, width,
// tables, durations and amounts of money.
//
// Nothing here reads the process environment by itself; [Detect] is given it. Every function is pure
// or writes to the writer it is given. Colour never reaches a writer that is not a terminal unless
// CLICOLOR_FORCE asks for it.
package ui

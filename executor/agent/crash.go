package agent

import "fmt"

// Crash says in one line how a program failed: its exit, and the last line it printed.
func Crash(e Ended) string {
	how := fmt.Sprintf("exit %d", e.Exit)
	if e.Signal != "" {
		how = "ended by " + e.Signal
	}
	if last := LastLines(e.Log, 1); len(last) == 1 {
		return how + ": " + OneLine(last[0])
	}
	return how
}

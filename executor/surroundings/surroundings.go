// Package surroundings makes those of a test program the same on every machine: a hook of git that runs tests, a careful umask, or
// somebody's way to sign commits says nothing of what is tested.
package surroundings

import (
	"os"
	"strings"
	"syscall"
)

// Settle is called once, before the first test, and not in programs that tests start: what these get is what a test gave them.
func Settle() {
	syscall.Umask(0o022)
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		for _, whose := range []string{"GIT_", "GITHUB_", "UFBUILD_"} {
			if strings.HasPrefix(name, whose) && name != Simulation {
				_ = os.Unsetenv(name)
			}
		}
	}
	for _, shells := range []string{"CDPATH", "ENV", "BASH_ENV", "XDG_CONFIG_HOME"} {
		_ = os.Unsetenv(shells)
	}
	_ = os.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	_ = os.Setenv("GIT_CONFIG_NOSYSTEM", "1")
}

// Simulation is the variable that asks for the whole simulation of docs/scaling.md.
const Simulation = "UFBUILD_SIMULATION"

package release

import "os"

// name is how the program calls itself, whatever its file is called.
const name = "ufbuild"

// init answers `ufbuild version` before the packages after this one are initialised, as package early does for
// builds that have nothing to do.
func init() {
	if len(os.Args) != 2 || os.Args[1] != "version" {
		return
	}
	if _, err := os.Stdout.WriteString(Read().Line(name)); err == nil { // else the program says what is wrong
		os.Exit(0)
	}
}

package release

import "github.com/ufbuild/ufbuild/cmd/ufbuild/internal/bare"

// name is how the program calls itself, whatever its file is called.
const name = "ufbuild"

// init answers `ufbuild version` before nearly all other packages are initialised, as package first does for builds that have
// nothing to do.
func init() {
	if args := bare.Args(); len(args) == 2 && args[1] == "version" {
		bare.Say(Read().Line(name))
	}
}

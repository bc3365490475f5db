package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

// printStrays says of files that changed, and that no input block names, why they are inputs at all, and what to do where
// they should not be.
func (s *session) printStrays(w io.Writer, a lang.Address, changes []executor.Change) {
	inst, ok := s.instance(a)
	if !ok {
		return
	}
	var strays, included, named []string
	for _, c := range changes {
		if c.Section != "input" || c.Text || c.Op == executor.Removed {
			continue
		}
		path := strings.TrimPrefix(c.Subject(), "input ")
		switch executor.OriginOf(inst, path) {
		case executor.ByRepo:
			strays = append(strays, path)
		case executor.ByInclude:
			included = append(included, path)
		case executor.ByCommand:
			named = append(named, path)
		}
	}
	if len(named) > 0 {
		fmt.Fprintf(w, "    no input block names %s: a file that the command names is an input\n", pathList(named))
	}
	if len(included) > 0 {
		fmt.Fprintf(w, "    no input block names %s: include of the workspace does\n", pathList(included))
	}
	if len(strays) > 0 {
		fmt.Fprintf(w, "    no input block names %s: the workspace holds the whole project (mode = \"repo\")\n", pathList(strays))
		fmt.Fprintln(w, "    hint: leave out what it does not need by .gitignore or by workspace { exclude = [\"…\"] },")
		fmt.Fprintln(w, "          or name what it needs in input blocks and set workspace { mode = \"inputs\" }")
	}
}

// pathList names a few paths.
func pathList(paths []string) string {
	const shown = 3
	names := slices.Clone(paths[:min(shown, len(paths))])
	for i, p := range names {
		names[i] = event.Plain(p)
	}
	if n := len(paths) - shown; n > 0 {
		names = append(names, strconv.Itoa(n)+" more")
	}
	return strings.Join(names, ", ")
}

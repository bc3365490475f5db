package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/require"
)

// decidingScripts are those about what is fresh and what is not. None of them looks at a hint itself.
var decidingScripts = []string{
	"second-build-runs-nothing", "inputs-by-content", "early-cutoff", "cosmetic-edits", "environment", "env-unset", "repo-snapshot", "same-size-edits", "nothing-changed",
}

// spoiler stands in the place of the program and spoils the hints of the campaign after all that is not a plan, which may
// write nothing. Its modes are those of hintModes, and "first", where the hints are for ever those of the first build.
const spoiler = `#!/bin/sh
%q "$@"
code=$?
mode=%s old=$WORK.hints
[ "$1" != plan ] || exit $code
mkdir -p $old $old.next
for hint in %s; do
	[ ! -e "$hint" ] || mv "$hint" $old.next/"$(echo "$hint" | tr / @)" || exit 99
done
ls $old.next >> $old.spoiled
[ $mode = off ] || for kept in $(ls $old); do
	at=$(echo $kept | tr @ /)
	[ ! -d $(dirname $at) ] || cp -p $old/$kept $at || exit 99
done
if [ $mode = first ] && [ -n "$(ls $old)" ]; then rm -r $old.next; else rm -r $old && mv $old.next $old; fi
exit $code
`

// TestDecisionsNeedNoHints runs the scripts about decisions with hints that are gone and with hints of other times: what is
// only kept to answer faster changes no answer. [TestScripts] runs them with the hints that belong there.
func TestDecisionsNeedNoHints(t *testing.T) {
	real, err := exec.LookPath(programName)
	require.NoError(t, err)
	var files, patterns []string
	for _, name := range decidingScripts {
		files = append(files, filepath.Join("testdata", "script", name+".txtar"))
	}
	for _, h := range hints {
		patterns = append(patterns, strings.NewReplacer("campaign/", "$WORK/", "store/", "$UFBUILD_STORE/").Replace(h))
	}
	for _, mode := range []string{"off", "stale", "first"} {
		t.Run(mode, func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Files: files, RequireUniqueNames: true, Cmds: scriptCommands,
				Setup: func(e *testscript.Env) error {
					if err := setupScript(e); err != nil {
						return err
					}
					e.Defer(func() {
						spoiled, err := os.ReadFile(e.WorkDir + ".hints.spoiled")
						require.NoError(t, err)
						require.Contains(t, string(spoiled), "@.ufbuild@stat\n", "no hint was spoiled")
					})
					e.Setenv(compileVariable, "0") // slices of campaigns of any size
					bin := e.WorkDir + ".bin"
					e.Setenv("PATH", bin+string(os.PathListSeparator)+e.Getenv("PATH"))
					if err := os.Mkdir(bin, 0o700); err != nil {
						return err
					}
					return writeProgram(filepath.Join(bin, programName), fmt.Sprintf(spoiler, real, mode, strings.Join(patterns, " ")))
				},
			})
		})
	}
}

package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/executor/sandbox"
)

// told is a block of plain text that no script before it on the page prints.
type told struct {
	page, begins string
	script       string // whose output holds it
	why          string // there is no script
	landlock     bool   // the script needs it
}

// aside are all of them.
var aside = []told{
	{page: "docs/how-to/recover-from-failures.md", begins: "hunt/rounding: ", script: `
cat > campaign.hcl <<END
task "hunt" {
  for_each = toset(["rounding"])
  command  = ["sh", "-c", "echo begun; [ -e $HOME/again ] || sleep 60"]
}
END
sh -c '(until ufbuild log hunt/rounding 2>&1 | grep -qs begun; do sleep 0.01; done; kill -9 $$) & exec ufbuild build' || touch ~/again
ufbuild build
ufbuild show hunt/rounding@1 --leftovers`},
	{page: "docs/how-to/keep-a-task-inside.md", begins: "[0/1] start fuzz", landlock: true, script: `
mkdir scripts ~/.ssh
echo "Host *" > ~/.ssh/config
echo "cat $HOME/.ssh/config" > scripts/fuzz.sh
cat > campaign.hcl <<END
task "fuzz" {
  command = ["sh", "scripts/fuzz.sh"]
  workspace { sandbox = "strict" }
}
END
ufbuild build || true`},
	{page: "docs/how-to/keep-a-task-inside.md", begins: "unclean ", script: `
cat > fuzz.sh <<END
mkdir src
echo mine > src/a.go
pwd > $HOME/new
mv $HOME/new $HOME/at
until [ -e $HOME/looked ]; do sleep 0.01; done
END
cat > audit.sh <<END
until [ -e $HOME/at ]; do sleep 0.01; done
echo "I put it right in \$(cat $HOME/at)/src/a.go."
touch $HOME/looked
END
cat > campaign.hcl <<END
task "fuzz" {
  command = ["sh", "fuzz.sh"]
  output "a" { path = "src/a.go" }
}
task "audit" { command = ["sh", "audit.sh"] }
END
ufbuild build --jobs 2`},
	{page: "docs/architecture.md", begins: "campaign files ", why: "a drawing"},
	{page: "docs/how-to/run-elsewhere.md", begins: "sbatch ", why: "TestSlurmCommandsOfThePage holds it to what is run"},
	{page: "docs/how-to/remote.md", begins: "location /cache/", why: "the nginx of the peers is started with these lines"},
	{page: "docs/how-to/remote.md", begins: "bazel-remote --dir", why: "bazel-remote cannot be had here"},
}

// workspaceName is the name of the directory that a workspace is in: another one each time.
var workspaceName = regexp.MustCompile(`\b[0-9][0-9a-z]*/ws/`)

// TestTextAside brings about what pages say in passing. Other plain text stands behind a script that prints it.
func TestTextAside(t *testing.T) {
	met := 0
	for name, page := range docPages(t) {
		if name == "docs/reference/diagnostics.md" { // is written by the tests of its examples
			continue
		}
		for _, b := range docBlocks(page) {
			if b.info != "text" && b.info != "" {
				continue
			}
			at := slices.IndexFunc(aside, func(a told) bool { return a.page == name && strings.HasPrefix(b.text, a.begins) })
			if at < 0 {
				t.Errorf("%s:%d: nothing holds the page to this text: %s", name, b.line, b.text)
				continue
			}
			met++
			if a := aside[at]; a.script != "" {
				t.Run(filepath.Base(name)+" "+a.begins, func(t *testing.T) {
					t.Parallel()
					if err := sandbox.Check(sandbox.Writes); a.landlock && err != nil {
						t.Skip(err)
					}
					said := plainOutput(workspaceName.ReplaceAllString(printedAside(t, a.script), "WS/ws/"))
					require.Contains(t, said, plainOutput(workspaceName.ReplaceAllString(b.text, "WS/ws/")))
				})
			}
		}
	}
	require.Equal(t, len(aside), met, "a page does not have its text any more")
}

func printedAside(t *testing.T, script string) string {
	t.Helper()
	home := t.TempDir()
	p := &pageRun{t: t, home: home, dir: filepath.Join(home, "work")}
	require.NoError(t, os.Mkdir(p.dir, 0o755))
	printed, code := p.script(script)
	require.Zero(t, code, printed)
	return printed
}

// TestMakefileOfThePage runs the makefile that a campaign takes the place of: it comes to what the campaign does.
func TestMakefileOfThePage(t *testing.T) {
	blocks := docBlocks(docPages(t)["docs/how-to/come-from-make.md"])
	at := slices.IndexFunc(blocks, func(b docBlock) bool { return b.info == "make" })
	require.Equal(t, "sh run", blocks[at-1].info)
	require.Equal(t, "sh run", blocks[at+1].info)
	script := "exec 3>&1 > ../said 2>&1\n" + blocks[at-1].text + "cat > makefile <<'END'\n" + blocks[at].text + "END\nmake TOTAL\ntest -f TOTAL\nmake clean\ntest ! -e TOTAL\nmake TOTAL\ncat TOTAL >&3\nmv TOTAL ..\nrm -r build makefile\n" +
		blocks[at+1].text + "ufbuild export --yes\ncmp TOTAL ../TOTAL\n"
	require.Equal(t, "5\n", printedAside(t, script))
}

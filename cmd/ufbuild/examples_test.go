package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

// The examples of the verbs, in their help and in docs/reference/cli.md, are about one campaign: that of
// testdata/examples.txtar after a build and two retries of triage. Each verb has a copy, in which its examples run one
// after another as a person at a terminal would type them, who says yes when asked.

// exampleSetup is what has to be there before the examples of a verb mean something, as shell.
var exampleSetup = map[string]string{
	"accept":         `sed -i 's/Ranked/By rank/' tasks.campaign.hcl`,
	"affected":       `git init -qb main && git add -A && git commit -qm one && git commit -q --allow-empty -m two`,
	"approve":        waitingReport,
	"build":          `sed -i 's/Discovery/Discover/' tasks.campaign.hcl`,
	"cancel":         runningBuild,
	"check":          `mkdir -p examples/one && cp -r campaign.hcl tasks.campaign.hcl src scripts examples/one`,
	"completion":     `mkdir -p ~/.config/fish/completions && fpath=(/usr "$HOME")`,
	"contract":       `echo "[]" > findings.json`,
	"contract check": `echo "[]" > findings.json && echo "# Draft" > draft.md`,
	"deny":           waitingReport,
	"import": `rm -r *.hcl out .ufbuild && mkdir -p .ultrafuzz/prompts && mv project.yml .ultrafuzz/topology.yml
		echo "Write {{artifact_path}}/a.md." > .ultrafuzz/prompts/work.md && cp -r . ../vault`,
	"init":         `rm -r * .ufbuild`,
	"pause":        runningBuild,
	"plan":         `sed -i 's/Discovery/Discover/' tasks.campaign.hcl`,
	"recheck":      strictFindings + `; ufbuild build triage || sed -i '/min_bytes/d' campaign.hcl`,
	"resume":       runningBuild,
	"store import": `ufbuild store export triage > triage.bundle && mkdir ~/bin && printf 'shift\n"$@"\n' > ~/bin/ssh && chmod +x ~/bin/ssh`,
	"unpin":        `ufbuild pin triage`,
}

const (
	// waitingReport lets the report wait for a person.
	waitingReport = `sed -i 's/kind = "text"/kind = "text"\n  approval = true/' campaign.hcl; ufbuild build || true`
	// strictFindings refuses every list of findings.
	strictFindings = `sed -i 's/  unique = /  min_bytes = 9000\n  unique = /' campaign.hcl`
	// runningBuild is a build that waits for ever.
	runningBuild = `mkfifo $UP && (setsid ufbuild build slow < /dev/null > $HOME/slow.log 2>&1 &) && read -r up < $UP`
)

// exampleBuild stands for the identity of a build.
const exampleBuild = "20260301-101502-1f2e3d4c"

// alternatives are the verbs each of whose examples wants a home as if it were the only one.
var alternatives = []string{"approve", "import", "init"}

// exampleExit is how examples end that do not end with 0.
var exampleExit = map[string]int{
	"ufbuild plan --detailed-exitcode    # exit 7 when something would run": exitWork,
}

// unrunExamples are the examples that no test of this file can run, and why.
var unrunExamples = map[string]string{
	"ufbuild lsp": "waits for an editor; the tests of editors are some",
	"ufbuild lsp --preset thorough   # values of variables as with this preset": "as above",
	"ufbuild exec-action 4fd2…/312 --remote grpc://cache.example:8980":          "only means something inside a job; the tests of remotes run it",
	"ufbuild ui":                  "serves until it is stopped; TestPageStaysUpToDate talks to it",
	"ufbuild ui --open":           "as above, and opens a browser",
	"ufbuild ui --port 8123 -j 4": "as above",
	"ufbuild watch":               "goes on until it is stopped; TestWatch has one",
	"ufbuild watch report":        "as above",
	"ufbuild watch --paid --budget 5   # prompts too, up to five dollars": "as above",
}

func TestExamplesOfVerbs(t *testing.T) {
	made := makeExampleHome(t)
	unrun := map[string]bool{}
	var verbs func(of *cobra.Command)
	verbs = func(of *cobra.Command) {
		for _, verb := range of.Commands() {
			if !verb.IsAvailableCommand() {
				continue
			}
			verbs(verb)
			name := strings.TrimPrefix(verb.CommandPath(), programName+" ")
			var lines []string
			for line := range strings.Lines(verb.Example) {
				line = strings.TrimSpace(line)
				if unrunExamples[line] != "" {
					unrun[line] = true
				} else {
					lines = append(lines, line)
				}
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				together := [][]string{lines}
				if slices.Contains(alternatives, name) {
					together = slices.Collect(slices.Chunk(lines, 1))
				}
				for _, lines := range together {
					runExamples(t, copyExampleHome(t, made), exampleSetup[name], lines)
				}
			})
		}
	}
	verbs(newRoot(&app{process: &process{}}))
	require.Len(t, unrun, len(unrunExamples), "an example is no longer there")
}

// makeExampleHome makes a home with the campaign of the examples, built, and with three attempts of triage.
func makeExampleHome(t *testing.T) string {
	home := t.TempDir()
	dir := filepath.Join(home, "project")
	archive, err := txtar.ParseFile(filepath.Join("testdata", "examples.txtar"))
	require.NoError(t, err)
	for _, f := range archive.Files {
		file := filepath.Join(dir, filepath.FromSlash(f.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, f.Data, 0o644))
	}
	sh := newExampleShell(t, home)
	for _, line := range []string{"ufbuild check -W error", "ufbuild build", "ufbuild retry triage --yes", "ufbuild retry triage --yes"} {
		said, code := sh.run(line)
		require.Zero(t, code, said)
	}
	return home
}

func copyExampleHome(t *testing.T, made string) string {
	home := filepath.Join(t.TempDir(), "home")
	out, err := exec.Command("cp", "-a", made, home).CombinedOutput()
	require.NoError(t, err, string(out))
	return home
}

func runExamples(t *testing.T, home, setup string, lines []string) {
	sh := newExampleShell(t, home)
	sh.setup = setup
	if setup == runningBuild {
		defer sh.run("ufbuild cancel --kill --wait")
	}
	for i, line := range lines {
		if strings.Contains(line, "jq ") {
			if _, err := exec.LookPath("jq"); err != nil {
				t.Logf("not run, there is no jq: %s", line)
				continue
			}
		}
		if strings.Contains(line, pageRemote) {
			line = strings.ReplaceAll(line, pageRemote, remotetest.Start(t, remotetest.Options{}).URL())
		}
		line = strings.ReplaceAll(line, exampleBuild, "$(grep -o '20[0-9-]*-[0-9a-f]\\{8\\}' <(ufbuild cost --by build) | tail -n 1)")
		said, code := sh.run(line)
		require.Equal(t, exampleExit[lines[i]], code, "%s\n%s", line, said)
	}
}

// exampleShell runs lines of shell in the project below a home.
type exampleShell struct {
	t     *testing.T
	home  string
	setup string // before the first line
}

func newExampleShell(t *testing.T, home string) *exampleShell { return &exampleShell{t: t, home: home} }

// run runs a line as a person does who says yes.
func (s *exampleShell) run(line string) (said string, code int) {
	s.t.Helper()
	person, program := openTerminal(s.t)
	_, err := person.WriteString("y\n")
	require.NoError(s.t, err)
	ctx, cancel := context.WithTimeout(s.t.Context(), blockLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-e", "-c", s.setup+"\n"+line)
	s.setup = ""
	cmd.Dir = filepath.Join(s.home, "project")
	cmd.Env = []string{
		"PATH=" + filepath.Join(s.home, "bin") + ":" + os.Getenv("PATH"), "HOME=" + s.home, "UP=" + filepath.Join(s.home, "up"), "USER=ann", "LANG=C", "TERM=dumb", "NO_COLOR=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.org",
	}
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, &out, program
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var asked bytes.Buffer
	seen := make(chan struct{})
	go func() { _, _ = io.Copy(&asked, person); close(seen) }()
	err = cmd.Run()
	require.NoError(s.t, program.Close())
	<-seen
	require.NoError(s.t, ctx.Err(), "%s\n%s", line, asked.String())
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		require.NoError(s.t, err)
	}
	return asked.String() + out.String(), cmd.ProcessState.ExitCode()
}

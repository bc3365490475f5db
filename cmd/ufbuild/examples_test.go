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
	"exec-action":    handedIn,
	"import": `rm -r *.hcl out .ufbuild && mkdir -p .ultrafuzz/prompts && mv project.yml .ultrafuzz/topology.yml
		echo "Write {{artifact_path}}/a.md." > .ultrafuzz/prompts/work.md && cp -r . ../vault`,
	"init":         `rm -r * .ufbuild`,
	"pause":        runningBuild,
	"plan":         `sed -i 's/Discovery/Discover/' tasks.campaign.hcl`,
	"recheck":      strictFindings + `; ufbuild build triage || sed -i '/min_bytes/d' campaign.hcl`,
	"resume":       runningBuild,
	"store import": `ufbuild store export triage > triage.bundle && mkdir ~/bin && printf 'shift\n"$@"\n' > ~/bin/ssh && chmod +x ~/bin/ssh`,
	"ui":           `mkdir ~/bin && mkfifo $UP && printf '#!/bin/sh\necho "$1" > $UP\n' > ~/bin/xdg-open && chmod +x ~/bin/xdg-open`,
	"unpin":        `ufbuild pin triage`,
	"watch":        `sed -i 's/Discovery/Discover/' tasks.campaign.hcl`,
}

const (
	// waitingReport lets the report wait for a person.
	waitingReport = `sed -i 's/kind = "text"/kind = "text"\n  approval = true/' campaign.hcl; ufbuild build || true`
	// strictFindings refuses every list of findings.
	strictFindings = `sed -i 's/  unique = /  min_bytes = 9000\n  unique = /' campaign.hcl`
	// handedIn is a build whose one task waits for the job that it handed in; job is how to run that.
	handedIn = `mkfifo $UP && mkdir ../elsewhere && cd ../elsewhere && cat > campaign.hcl <<'END'
remote "there" {
  engine = "command"
  submit = ["sh", "-c", "echo '{command}' > $UP"]
  state  = ["echo", "running"]
  cancel = ["true"]
  poll   = "100ms"
}
task "a" {
  command = ["true"]
  remote  = "there"
}
END
(ufbuild build --remote ` + pageRemote + ` > $HOME/build.log 2>&1; echo $? > $UP) &
read -r job < $UP`
	// runningBuild is a build that waits for ever.
	runningBuild = `mkfifo $UP && (setsid ufbuild build slow < /dev/null > $HOME/slow.log 2>&1 &) && read -r up < $UP`
)

// exampleBuild stands for the identity of a build.
const exampleBuild = "20260301-101502-1f2e3d4c"

// alternatives are the verbs each of whose examples wants a home as if it were the only one.
var alternatives = []string{"accept", "approve", "import", "init"}

// exampleExit is how examples end that do not end with 0.
var exampleExit = map[string]int{
	"ufbuild plan --detailed-exitcode    # exit 7 when something would run": exitWork,
	"ufbuild ui":                  exitSIGINT,
	"ufbuild ui --open":           exitSIGINT,
	"ufbuild ui --port 8123 -j 4": exitSIGINT,
	"ufbuild watch":               exitSIGINT,
	"ufbuild watch report":        exitSIGINT,
	"ufbuild watch --paid --budget 5   # prompts too, up to five dollars": exitSIGINT,
}

// exampleCheck is what has to hold after the examples of a verb, as shell.
var exampleCheck = map[string]string{
	"exec-action": `read -r code < $UP; cat $HOME/build.log; grep "1 task: 1 ran" $HOME/build.log`,
}

// exampleJob is the attempt of the example of exec-action.
const exampleJob = "4fd2…/312"

// examplePort is the port of examples; that of the test is another, since here it may be taken.
const examplePort = "8123"

func TestExamplesOfVerbs(t *testing.T) {
	made := makeExampleHome(t)
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
				lines = append(lines, strings.TrimSpace(line))
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				together := [][]string{lines}
				if slices.Contains(alternatives, name) {
					together = slices.Collect(slices.Chunk(lines, 1))
				}
				for _, lines := range together {
					runExamples(t, copyExampleHome(t, made), name, lines)
				}
			})
		}
	}
	verbs(newRoot(&app{process: &process{}}))
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

func runExamples(t *testing.T, home, verb string, lines []string) {
	sh := newExampleShell(t, home)
	sh.setup = exampleSetup[verb]
	if sh.setup == runningBuild {
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
			server := strings.NewReplacer(pageRemote, remotetest.Start(t, remotetest.Options{}).URL())
			line, sh.setup = server.Replace(line), server.Replace(sh.setup)
		}
		line = strings.ReplaceAll(line, exampleJob, "$(grep -o '[0-9a-f]*/[0-9][0-9]*' <<< \"$job\" | head -n 1)")
		line = strings.ReplaceAll(line, examplePort, freePort(t))
		line = strings.ReplaceAll(line, exampleBuild, "$(grep -o '20[0-9-]*-[0-9a-f]\\{8\\}' <(ufbuild cost --by build) | tail -n 1)")
		if i == len(lines)-1 && exampleCheck[verb] != "" {
			line += "\n" + exampleCheck[verb]
		}
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
	ctx, cancel := context.WithTimeout(s.t.Context(), blockLimit)
	defer cancel()
	if clientOf(line) != nil {
		if s.setup != "" {
			s.run(":")
		}
		return runEndless(s.t, s.command(ctx, line), line)
	}
	person, program := openTerminal(s.t)
	_, err := person.WriteString("y\n")
	require.NoError(s.t, err)
	cmd := s.command(ctx, s.setup+"\n"+line)
	s.setup = ""
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

// command is a script in the project.
func (s *exampleShell) command(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "bash", "-e", "-c", script)
	cmd.Dir = filepath.Join(s.home, "project")
	cmd.Env = append(annAt(s.home), "UP="+filepath.Join(s.home, "up"))
	return cmd
}

// annAt is the environment of a person whose home is a directory; programs that stand in for others are below bin there.
func annAt(home string) []string {
	return []string{
		"PATH=" + filepath.Join(home, "bin") + ":" + os.Getenv("PATH"), "HOME=" + home, "USER=ann", "LANG=C", "TERM=dumb", "NO_COLOR=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.org",
	}
}

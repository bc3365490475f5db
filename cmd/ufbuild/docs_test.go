package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache/remote/remotetest"
)

// The pages hold blocks that this file runs. A block that opens with
//
//	```sh run            is a script of sh -e; "sh run exit 2" wants that exit code
//	```text prints       is what the script above it prints, stdout and stderr as they come
//	```text prints in any order
//
// All blocks of a page run one after another, in one directory and with one home. What differs from run
// to run (times, ids, digests) is compared as such; "…" stands for anything, on a line of its own for any
// lines.

// docBlock is a fenced block of a page.
type docBlock struct {
	line int // of the first line inside the fence
	info string
	text string
}

// docBlocks finds the fenced blocks of a page.
func docBlocks(page string) []docBlock {
	var blocks []docBlock
	var open *docBlock
	n := 0
	for line := range strings.Lines(page) {
		n++
		info, fence := strings.CutPrefix(strings.TrimRight(line, "\n"), "```")
		switch {
		case fence && open == nil:
			open = &docBlock{line: n + 1, info: info}
		case fence:
			blocks = append(blocks, *open)
			open = nil
		case open != nil:
			open.text += line
		}
	}
	return blocks
}

// docPages are the Markdown files of the repository by slash path. Sources of templates and what
// builds put in place are no pages.
func docPages(t *testing.T) map[string]string {
	t.Helper()
	root := filepath.Join("..", "..")
	pages := map[string]string{}
	require.NoError(t, filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if slices.Contains([]string{".git", ".ufbuild", "out", "templates", "testdata", "prompts"}, d.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(file) != ".md" {
			return nil
		}
		text, err := os.ReadFile(file)
		name, _ := filepath.Rel(root, file)
		pages[filepath.ToSlash(name)] = string(text)
		return err
	}))
	require.Contains(t, pages, "README.md")
	return pages
}

// TestPages runs the blocks of every page that has some.
func TestPages(t *testing.T) {
	ran := 0
	for name, page := range docPages(t) {
		blocks := docBlocks(page)
		if !slices.ContainsFunc(blocks, func(b docBlock) bool { return strings.HasPrefix(b.info, "sh run") }) {
			continue
		}
		ran++
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runPage(t, name, blocks)
		})
	}
	require.Positive(t, ran, "the pages lost their marks")
}

// unrun are the shell blocks of pages written by hand that no page's run can hold, by their first line, and why.
// A block that is not here is run.
var unrun = map[string]string{
	"cd docs/editors/vscode": "TestVSCodeExtension starts the client",
	"cd examples/audit":      "TestLayoutChangesNoKey builds it; compiling its agent takes half a minute",
	"cd examples/gofuzz":     "TestGofuzzBuilds builds it, with less fuzzing",
	"go build -o bin/ufbuild ./cmd/ufbuild       # 144 s here, once; seconds where Go has compiled the libraries before": "needs a clone",
	"go install ./cmd/ufbuild                    # into $(go env GOPATH)/bin":                                            "needs a clone",
	"go run ./cmd/ufbuild -C examples/audit build":                                                                       "TestLayoutChangesNoKey builds it",
	"go test ./...": "it is what runs this test",
	"OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4318 ufbuild build":                                      "needs a collector; TestOTLP has one",
	"sbatch --parsable --job-name={name} --comment={task} --output={log} --time={minutes} --no-requeue \\": "TestAuditElsewhere has a real Slurm",
	"ufbuild build discovery --budget 5":                                                                   "starts agents that cost money",
	"ufbuild status":                                                                                       "is about a build that runs; the scripts log-follow and pause have one",
	"ufbuild ui":                                                                                           "serves until it is stopped; TestPageStaysUpToDate talks to it",
	"UFBUILD_SIMULATION=1 go test ./executor -run TestTenThousand -v":                                      "takes minutes; the usual tests run it smaller",
}

// TestShellBlocksAreRun wants every shell block of a page to be run, or to say here why it is not. Those of the
// reference of the command line are made of the help texts; [TestExamplesOfVerbs] runs them.
func TestShellBlocksAreRun(t *testing.T) {
	met := map[string]bool{}
	for name, page := range docPages(t) {
		if name == "docs/reference/cli.md" {
			continue
		}
		for _, b := range docBlocks(page) {
			kind, rest, _ := strings.Cut(b.info, " ")
			if !slices.Contains([]string{"sh", "bash", "shell", "console"}, kind) || strings.HasPrefix(rest, "run") {
				continue
			}
			first, _, _ := strings.Cut(b.text, "\n")
			met[first] = true
			if unrun[first] == "" {
				t.Errorf("%s:%d: the block is not run: %s", name, b.line, first)
			}
		}
	}
	for first := range unrun {
		require.True(t, met[first], "no page has the block %s", first)
	}
}

// pageRemote is the address of a server in pages.
const pageRemote = "grpc://cache.example:9092"

// runPage runs the scripts of a page and compares what they print. The page of an example has a copy of it.
func runPage(t *testing.T, page string, blocks []docBlock) {
	scratch := t.TempDir()
	dir := filepath.Join(scratch, "work")
	require.NoError(t, os.Mkdir(dir, 0o755))
	if example := path.Dir(page); path.Dir(example) == "examples" {
		copied := filepath.Join(dir, filepath.FromSlash(example))
		require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join("..", "..", filepath.FromSlash(example)))))
		for _, made := range []string{"out", ".ufbuild"} {
			require.NoError(t, os.RemoveAll(filepath.Join(copied, made)))
		}
	}
	printed := ""
	cacheAt := pageRemote // a page that names it has a server there
	if slices.ContainsFunc(blocks, func(b docBlock) bool { return strings.Contains(b.text, pageRemote) }) {
		cacheAt = remotetest.Start(t, remotetest.Options{}).URL()
	}
	for _, b := range blocks {
		kind, rest, _ := strings.Cut(b.info, " ")
		switch {
		case kind == "sh" && strings.HasPrefix(rest, "run"):
			want := "0"
			if code, ok := strings.CutPrefix(rest, "run exit "); ok {
				want = code
			}
			if _, err := exec.LookPath("openssl"); err != nil && strings.Contains(b.text, "openssl ") {
				t.Skipf("line %d: there is no openssl, which it runs", b.line)
			}
			var code int
			printed, code = runBlock(t, scratch, &dir, strings.ReplaceAll(b.text, pageRemote, cacheAt))
			printed = strings.ReplaceAll(printed, cacheAt, pageRemote)
			require.Equal(t, want, fmt.Sprint(code), "line %d: exit code; it printed:\n%s", b.line, printed)
		case kind == "text" && rest == "prints":
			require.Regexp(t, printedPattern(b.text), plainOutput(printed), "line %d: it printed:\n%s", b.line, printed)
		case kind == "text" && rest == "prints in any order":
			require.Equal(t, sortedLines(b.text), sortedLines(printed), "line %d: it printed:\n%s", b.line, printed)
		default:
			require.NotContains(t, rest, "run", "line %d: the mark is not known", b.line)
			require.NotContains(t, rest, "prints", "line %d: the mark is not known", b.line)
		}
	}
}

// blockLimit is how long a script may take; one that takes seconds is no example.
const blockLimit = 20 * time.Second

// runBlock runs one script where the one before ended.
func runBlock(t *testing.T, scratch string, dir *string, script string) (printed string, code int) {
	t.Helper()
	stay := filepath.Join(scratch, "pwd")
	ctx, cancel := context.WithTimeout(t.Context(), blockLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", "trap 'pwd > "+stay+"' EXIT\n"+script)
	cmd.Dir = *dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + scratch, "USER=ann", "LANG=C", "TERM=dumb", "NO_COLOR=1",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.org",
		"GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.org",
	}
	out, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		require.NoError(t, err)
	}
	at, err := os.ReadFile(stay)
	require.NoError(t, err, "%s\n%s", context.Cause(ctx), out)
	*dir = strings.TrimSpace(string(at))
	return strings.ReplaceAll(string(out), scratch, "/home/ann"), cmd.ProcessState.ExitCode()
}

// changing are the parts of output that are new each time, and what stands for them.
var changing = []struct {
	text *regexp.Regexp
	as   string
}{
	{regexp.MustCompile(`\b(\d+h)?(\d+m)?\d+(\.\d+)?s\b`), "TIME"},
	{regexp.MustCompile(`\b\d{8}-\d{6}-[0-9a-f]{8}\b`), "ID"},
	{regexp.MustCompile(`\b20\d\d-\d\d-\d\d \d\d:\d\d(:\d\d)?\b`), "DATE"},
	{regexp.MustCompile(`\b[0-9a-f]{12}\b`), "KEY"},
	{regexp.MustCompile(`process \d+`), "process N"},
	{regexp.MustCompile(`(?m)^\[\d+/\d+\]`), "[N/M]"}, // in which order parallel tasks are decided and end is chance
	{regexp.MustCompile(`[ \t]+`), " "},
	{regexp.MustCompile(`(?m) $`), ""},
}

// plainOutput puts what changes from run to run, widths of columns included, into one form.
func plainOutput(s string) string {
	for _, c := range changing {
		s = c.text.ReplaceAllString(s, c.as)
	}
	return s
}

// printedPattern is the regular expression of a block.
func printedPattern(block string) string {
	var b strings.Builder
	b.WriteString(`\A`)
	for line := range strings.Lines(plainOutput(block)) {
		if line == "…\n" {
			b.WriteString("(?:.*\n)*")
			continue
		}
		b.WriteString(strings.ReplaceAll(regexp.QuoteMeta(line), "…", ".*"))
	}
	b.WriteString(`\z`)
	return b.String()
}

func sortedLines(s string) []string {
	lines := strings.Split(strings.TrimSpace(plainOutput(s)), "\n")
	slices.Sort(lines)
	return lines
}

func TestPrintedPattern(t *testing.T) {
	for _, c := range []struct {
		block, printed string
		fits           bool
	}{
		{"a  0.1s\n", "a 12s\n", true},
		{"a  0.1s\n", "b 12s\n", false},
		{"a … c\n", "a b c\n", true},
		{"a\n…\nc\n", "a\nb\nb\nc\n", true},
		{"a\n…\nc\n", "a\nc\n", true},
		{"a\n", "a\nb\n", false},
		{"key 0123456789ab, 20261130-141851-137daeb9\n", "key ffffffffffff, 20270101-000000-00000000\n", true},
		{"took 2h07m3s\n", "took 3m05s\n", true},
	} {
		fits := regexp.MustCompile(printedPattern(c.block)).MatchString(plainOutput(c.printed))
		require.Equal(t, c.fits, fits, "%q against %q", c.block, c.printed)
	}
}

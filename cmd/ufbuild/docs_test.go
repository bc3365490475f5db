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
//	```sh run in a clone                runs in a copy of the sources of this repository
//	```sh run on another machine        has a store of its own
//	```sh run beside a build            runs beside one; its lines with -f follow it until it ends
//	```sh run until Ctrl-C              is a verb that goes on; a client of it has what it wants and types Ctrl-C
//	```text prints       is what the script above it prints, stdout and stderr as they come
//	```text prints in any order
//
// All blocks of a page run one after another, in one directory and with one home. What differs from run
// to run (times, ids, digests) is compared as such; "…" stands for anything, on a line of its own for any
// lines. What a page needs around it is in [grounds].

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
	"go test ./...": "it is what runs this test",
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

// pageRemote is the address of a server in pages and examples.
const pageRemote = "grpc://cache.example:9092"

// pageRun runs the scripts of one page.
type pageRun struct {
	t       *testing.T
	home    string
	dir     string // where the script before ended
	store   string // "" is that of the home
	ground  ground
	here    *strings.Replacer // from what a page says to what there is
	printed string            // by the script before
}

// runPage runs the scripts of a page and compares what they print. The page of an example has a copy of it.
func runPage(t *testing.T, page string, blocks []docBlock) {
	home := t.TempDir()
	p := &pageRun{t: t, home: home, dir: filepath.Join(home, "work")}
	require.NoError(t, os.Mkdir(p.dir, 0o755))
	if example := path.Dir(page); path.Dir(example) == "examples" {
		copied := filepath.Join(p.dir, filepath.FromSlash(example))
		require.NoError(t, os.CopyFS(copied, os.DirFS(filepath.Join("..", "..", filepath.FromSlash(example)))))
		for _, made := range []string{"out", ".ufbuild"} {
			require.NoError(t, os.RemoveAll(filepath.Join(copied, made)))
		}
	}
	if make := grounds[page]; make != nil {
		p.ground = make(t, home)
	}
	if slices.ContainsFunc(blocks, func(b docBlock) bool { return strings.Contains(b.text, pageRemote) }) {
		p.ground.here = append(p.ground.here, pageRemote, remotetest.Start(t, remotetest.Options{}).URL())
	}
	p.here = strings.NewReplacer(p.ground.here...)
	if p.ground.setup != "" {
		said, code := p.script(p.ground.setup)
		require.Zero(t, code, said)
	}
	for _, b := range blocks {
		p.block(b)
	}
	if p.ground.after != nil {
		p.ground.after(t)
	}
}

// block runs a script, or compares what the one before printed.
func (p *pageRun) block(b docBlock) {
	kind, rest, _ := strings.Cut(b.info, " ")
	switch {
	case kind == "sh" && strings.HasPrefix(rest, "run"):
		if _, err := exec.LookPath("openssl"); err != nil && strings.Contains(b.text, "openssl ") {
			p.t.Skipf("line %d: there is no openssl, which it runs", b.line)
		}
		how, want, coded := strings.Cut(rest, " exit ")
		if !coded {
			want = "0"
		}
		code := p.run(b, how)
		require.Equal(p.t, want, fmt.Sprint(code), "line %d: exit code; it printed:\n%s", b.line, p.printed)
	case kind == "text" && rest == "prints":
		require.Regexp(p.t, printedPattern(b.text), plainOutput(p.printed), "line %d: it printed:\n%s", b.line, p.printed)
	case kind == "text" && rest == "prints in any order":
		require.Equal(p.t, sortedLines(b.text), sortedLines(p.printed), "line %d: it printed:\n%s", b.line, p.printed)
	default:
		require.NotContains(p.t, rest, "run", "line %d: the mark is not known", b.line)
		require.NotContains(p.t, rest, "prints", "line %d: the mark is not known", b.line)
	}
}

// run runs the script of a block in the way that its mark asks for.
func (p *pageRun) run(b docBlock, how string) (code int) {
	script := p.here.Replace(b.text)
	switch how {
	case "run":
	case "run in a clone":
		if testing.Short() {
			p.t.Skipf("line %d: it compiles the program", b.line)
		}
		defer func(dir string) { p.dir = dir }(p.dir)
		p.dir = p.clone()
	case "run on another machine":
		p.store = filepath.Join(p.t.TempDir(), "store")
	case "run beside a build":
		script = besideABuild(script)
	case "run until Ctrl-C":
		ctx, cancel := context.WithTimeout(p.t.Context(), blockLimit)
		defer cancel()
		cmd := p.command(ctx, "exec "+script) // a shell between would die of Ctrl-C
		p.printed, code = runEndless(p.t, cmd, strings.TrimSpace(script))
		require.Equal(p.t, exitSIGINT, code, p.printed)
		return 0
	default:
		p.t.Fatalf("line %d: the mark %q is not known", b.line, how)
	}
	p.printed, code = p.script(script)
	for i := 0; i < len(p.ground.here); i += 2 {
		p.printed = strings.ReplaceAll(p.printed, p.ground.here[i+1], p.ground.here[i])
	}
	return code
}

// blockLimit is how long a script may take, so that none is waited for without end. One that takes seconds is no example.
const blockLimit = endless

// compileLimit is how long one may take that compiles: minutes, where Go has compiled nothing before.
const compileLimit = 10 * time.Minute

// script runs one where the one before ended.
func (p *pageRun) script(script string) (printed string, code int) {
	p.t.Helper()
	limit := blockLimit
	if p.ground.compiles {
		limit = compileLimit
	}
	ctx, cancel := context.WithTimeout(p.t.Context(), limit)
	defer cancel()
	stay := filepath.Join(p.home, "pwd")
	cmd := p.command(ctx, "trap 'pwd > "+stay+"' EXIT\n"+script)
	out, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		require.NoError(p.t, err)
	}
	at, err := os.ReadFile(stay)
	require.NoError(p.t, err, "%s\n%s", context.Cause(ctx), out)
	p.dir = strings.TrimSpace(string(at))
	return strings.ReplaceAll(string(out), p.home, "/home/ann"), cmd.ProcessState.ExitCode()
}

func (p *pageRun) command(ctx context.Context, script string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "sh", "-e", "-c", script)
	cmd.Dir = p.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.Env = append(annAt(p.home), p.ground.env...)
	if p.store != "" {
		cmd.Env = append(cmd.Env, "UFBUILD_STORE="+p.store)
	}
	return cmd
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

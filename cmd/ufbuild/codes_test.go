package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// placeless are the codes of what has no place in a file: their examples are about the command line.
var placeless = []string{"UF1001", "UF9001", "UF9003", "UF9007", "UF9101", "UF9102"}

// unfetched is the one error that a good example may have: outside material that "ufbuild lock" would fetch.
const unfetched = "error[UF8005]"

var anyError = regexp.MustCompile(`(?m)^error\[\w+\]`)

// TestReferenceOfDiagnostics runs the example of every code as a reader would and keeps what it prints, places
// included, in docs/reference/diagnostics.md. The codes without an example are those of bugs; lang forces them.
func TestReferenceOfDiagnostics(t *testing.T) {
	codes := lang.Codes()
	printed := make([]string, len(codes))
	t.Run("run", func(t *testing.T) {
		for i, c := range codes {
			if c.Where == "bug" {
				continue
			}
			t.Run(c.Code, func(t *testing.T) {
				t.Parallel()
				printed[i] = runCodeExamples(t, c)
			})
		}
	})
	if !t.Failed() {
		requireReference(t, "diagnostics.md", diagnosticsPage(codes, printed))
	}
}

// runCodeExamples wants the bad example of a code to have it and the good one not to, and returns how it is printed.
func runCodeExamples(t *testing.T, c lang.CodeDoc) string {
	bad, code := runCodeExample(t, c, c.Bad)
	require.Equal(t, c.Severity == lang.Error, code != exitOK, bad)
	printed := diagnosticsOf(bad, c)
	require.NotEmpty(t, printed, "%s is not printed:\n%s", c.Code, bad)
	placed := regexp.MustCompile(`(?m)^ *--> [^ :]+:\d+:\d+$`).MatchString(printed)
	require.Equal(t, !slices.Contains(placeless, c.Code), placed, "whether it has a place:\n%s", printed)

	good, code := runCodeExample(t, c, c.Good)
	require.Empty(t, diagnosticsOf(good, c))
	left := slices.Compact(anyError.FindAllString(good, -1))
	require.True(t, code == exitOK || slices.Equal(left, []string{unfetched}), "exit %d:\n%s", code, good)
	return printed
}

// runCodeExample writes an example and runs the command of its page in it.
func runCodeExample(t *testing.T, c lang.CodeDoc, example string) (printed string, code int) {
	scratch := t.TempDir()
	dir := filepath.Join(scratch, "campaign")
	for _, f := range c.Files(example) {
		file := filepath.Join(dir, filepath.FromSlash(f.Path))
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, f.Bytes, 0o644))
	}
	cmd := exec.Command("sh", "-e", "-c", c.Command)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + scratch, "LANG=C", "TERM=dumb", "NO_COLOR=1"}
	out, err := cmd.CombinedOutput()
	if _, ended := err.(*exec.ExitError); err != nil && !ended {
		require.NoError(t, err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// diagnosticsOf takes the diagnostics of one code out of what a verb printed: a headline and the lines set off below it.
func diagnosticsOf(printed string, c lang.CodeDoc) string {
	headline := fmt.Sprintf(`(?m)^%s\[%s\]: .*\n(?: .*\n)*`, c.Severity, c.Code)
	return strings.Join(regexp.MustCompile(headline).FindAllString(printed, -1), "\n")
}

func diagnosticsPage(codes []lang.CodeDoc, printed []string) string {
	var b strings.Builder
	b.WriteString("# Diagnostics\n\nEvery code that `ufbuild check` and the other verbs print. A code never changes its meaning.\n" +
		"`ufbuild explain CODE` shows the same pages in the terminal. A test runs every example: what it prints is as printed.\n\n")
	for i, c := range codes {
		fmt.Fprintf(&b, "## %s\n\n**%s** (%s)\n\n%s\n\n", c.Code, c.Title, c.Severity, strings.TrimSpace(c.Explanation))
		if c.Where == "bug" {
			continue
		}
		fmt.Fprintf(&b, "```hcl\n%s\n```\n\n", strings.TrimSpace(c.Bad))
		fmt.Fprintf(&b, "`%s` prints:\n\n```text\n%s\n```\n\n", c.Command, strings.TrimSpace(printed[i]))
		fmt.Fprintf(&b, "Without it:\n\n```hcl\n%s\n```\n\n", strings.TrimSpace(c.Good))
	}
	return b.String()
}

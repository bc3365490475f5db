package main

import (
	"io"
	"strings"
	"unicode"
)

// onGitHub reports whether words end up in the log of a GitHub workflow.
func (a *app) onGitHub() bool { return a.getenv("GITHUB_ACTIONS") == "true" }

// inert is a writer for words that tasks and agents may have had a say in.
func (a *app) inert(w io.Writer) io.Writer {
	if a.onGitHub() {
		return &inertWriter{w: w}
	}
	return w
}

// inertWriter keeps text from being taken for a workflow command. GitHub's runner reads every line of a step's output for them:
// "::" behind the blanks that a line begins with, and "##[" anywhere. One that a task printed could set outputs of the step.
type inertWriter struct {
	w   io.Writer
	mid bool // the last write did not end a line
}

// Write implements io.Writer.
func (i *inertWriter) Write(p []byte) (int, error) {
	var b strings.Builder
	for line := range strings.Lines(string(p)) {
		if blanks := len(line) - len(strings.TrimLeftFunc(line, unicode.IsSpace)); !i.mid && strings.HasPrefix(line[blanks:], "::") {
			line = line[:blanks] + ": :" + line[blanks+len("::"):]
		}
		b.WriteString(strings.ReplaceAll(line, "##[", "# #["))
		i.mid = !strings.HasSuffix(line, "\n")
	}
	if _, err := io.WriteString(i.w, b.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

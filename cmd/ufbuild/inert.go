package main

import (
	"io"
	"os"
	"sync"
	"unicode"
	"unicode/utf8"
)

// onGitHub reports whether words end up in the log of a GitHub workflow.
func (p *process) onGitHub() bool { return p.getenv("GITHUB_ACTIONS") == "true" }

// inert returns a writer for all that is printed there. Where words end up in the log of a GitHub workflow nothing in them is a
// command to it; what goes to a file keeps every byte, and so does what a person sees on a terminal.
func (p *process) inert(w io.Writer, terminal bool) io.Writer {
	if !p.onGitHub() || terminal {
		return w
	}
	if f, ok := w.(*os.File); ok {
		if at, err := f.Stat(); err == nil && at.Mode().IsRegular() {
			return w
		}
	}
	return &inertWriter{w: w, start: true}
}

// inertWriter keeps text from being taken for a workflow command. GitHub's runner reads every line of a step's output for them:
// "::" behind the blanks that a line begins with, and "##[" anywhere. One that a task printed could set outputs of the step. A
// blank in the middle makes words of it, and in a line of JSON an escape that stands for the same. It holds nothing back, so it
// makes no difference how text is cut into writes. Safe for concurrent use.
type inertWriter struct {
	mu     sync.Mutex
	w      io.Writer
	start  bool   // only blanks, or one colon, came in this line
	colon  bool   // that colon came
	part   []byte // of a rune at the start
	list   bool   // the line began with a bracket
	quoted bool   // it looks like JSON
	hashes int    // that came last

	altered bool // something was broken up; to be read when nothing is written any more
}

// Write implements io.Writer.
func (i *inertWriter) Write(p []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := make([]byte, 0, len(p)+8)
	for _, c := range p {
		out = append(append(out, i.before(c)...), c)
		if i.hashes >= 2 && c == '[' && i.quoted {
			out = append(out[:len(out)-1], `\u005b`...)
		}
		i.take(c)
	}
	i.altered = i.altered || len(out) > len(p)
	if _, err := i.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// before is what has to come before a byte.
func (i *inertWriter) before(c byte) string {
	if i.colon && c == ':' || i.hashes >= 2 && c == '[' && !i.quoted {
		return " "
	}
	return ""
}

// take follows where in a line the writer is. The runner ends lines at a carriage return, too.
func (i *inertWriter) take(c byte) {
	if c == '#' {
		i.hashes++
	} else {
		i.hashes = 0
	}
	switch {
	case c == '\n' || c == '\r':
		i.start, i.colon, i.list, i.quoted, i.part = true, false, false, false, i.part[:0]
	case i.list:
		i.list, i.quoted = c == '[', c == '"' || c == '{'
	case !i.start:
	case i.colon:
		i.start, i.colon = false, false
	case len(i.part) == 0 && c == ':':
		i.colon = true
	default:
		i.takeFirst(c)
	}
}

// takeFirst takes a byte before which only blanks came. A mark of the byte order counts as one: at the start of all it is none.
func (i *inertWriter) takeFirst(c byte) {
	i.part = append(i.part, c)
	if !utf8.FullRune(i.part) {
		return
	}
	r, _ := utf8.DecodeRune(i.part)
	i.part = i.part[:0]
	i.start = unicode.IsSpace(r) || r == '\ufeff'
	i.list, i.quoted = r == '[', r == '"' || r == '{'
}

package main

import (
	"bytes"
	"errors"
	"io"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/event"
)

// printBlob prints a blob of a task. A terminal shows control characters by their names: who looks at bytes, to
// approve them perhaps, is to see all of them.
func (a *app) printBlob(s *session, d digest.Digest) error {
	w := a.exactWriter()
	return errors.Join(s.copyBlob(w, d), w.Close())
}

// logWriter returns where logs of tasks are printed. A terminal gets no line before its end, and none that could
// change it; a pipe or a file gets each byte. Closing it prints a line that never ended.
func (a *app) logWriter() io.WriteCloser {
	return a.harmlessWriter(event.PlainText)
}

// exactWriter is [app.logWriter] for what is looked at to the byte.
func (a *app) exactWriter() io.WriteCloser { return a.harmlessWriter(event.Visible) }

func (a *app) harmlessWriter(harmless func(string) string) io.WriteCloser {
	if a.outTerm.IsTTY {
		return &plainWriter{w: a.out, harmless: harmless}
	}
	return rawWriter{a.out}
}

type rawWriter struct{ io.Writer }

func (rawWriter) Close() error { return nil }

// plainWriter makes what is printed harmless for a terminal, line by line.
type plainWriter struct {
	w        io.Writer
	harmless func(string) string
	rest     []byte // a line that has not ended
}

// longestLine bounds what waits for the end of its line.
const longestLine = 1 << 20

// Write implements io.Writer.
func (p *plainWriter) Write(b []byte) (int, error) {
	p.rest = append(p.rest, b...)
	i := bytes.LastIndexByte(p.rest, '\n') + 1
	if i == 0 && len(p.rest) > longestLine {
		i = len(p.rest)
	}
	if _, err := io.WriteString(p.w, p.harmless(string(p.rest[:i]))); err != nil {
		return 0, err
	}
	p.rest = append(p.rest[:0], p.rest[i:]...)
	return len(b), nil
}

// Close implements io.Closer.
func (p *plainWriter) Close() error {
	_, err := io.WriteString(p.w, p.harmless(string(p.rest)))
	p.rest = nil
	return err
}

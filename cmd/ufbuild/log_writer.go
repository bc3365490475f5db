package main

import (
	"bytes"
	"io"

	"github.com/ufbuild/ufbuild/executor/event"
)

// logWriter returns where logs of tasks are printed. A terminal gets no line before its end, and none that could
// change it; a pipe or a file gets each byte. Closing it prints a line that never ended.
func (a *app) logWriter() io.WriteCloser {
	if a.outTerm.IsTTY {
		return &plainWriter{w: a.out}
	}
	return rawWriter{a.out}
}

type rawWriter struct{ io.Writer }

func (rawWriter) Close() error { return nil }

// plainWriter makes what is printed harmless for a terminal, line by line.
type plainWriter struct {
	w    io.Writer
	rest []byte // a line that has not ended
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
	if _, err := io.WriteString(p.w, event.PlainText(string(p.rest[:i]))); err != nil {
		return 0, err
	}
	p.rest = append(p.rest[:0], p.rest[i:]...)
	return len(b), nil
}

// Close implements io.Closer.
func (p *plainWriter) Close() error {
	_, err := io.WriteString(p.w, event.PlainText(string(p.rest)))
	p.rest = nil
	return err
}

package executor

import (
	"bytes"
	"strconv"
	"strings"
	"sync"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// manifestHeader is the first line of every manifest. Its number is the salt of all keys: raise it
// only to disown every earlier result.
const manifestHeader = "ufbuild manifest 1"

// Manifest returns the canonical, readable text of everything in the action that can change its
// outputs. Every value is quoted or indented, so no value can be taken for another line: two actions
// have the same text only if they are the same.
func (a *Action) Manifest() []byte {
	m := manifestWriters.Get().(*manifestWriter)
	defer func() {
		if cap(m.buf) <= keptManifest {
			manifestWriters.Put(m)
		}
	}()
	m.buf = m.buf[:0]
	m.line(manifestHeader)
	m.line("kind " + a.Kind.String())
	a.writeWhat(m)
	a.writeInputs(m)
	for _, o := range a.Outputs {
		m.output(o)
	}
	a.writeRest(m)
	return bytes.Clone(m.buf) // it is kept for as long as its attempt runs, so it gets what it takes
}

// keptManifest is what a writer may have grown to that is kept: those of prompts can be long, and are few.
const keptManifest = 16 << 10

// manifestWriters are those of manifests that were written.
var manifestWriters = sync.Pool{New: func() any { return &manifestWriter{} }}

func (a *Action) writeWhat(m *manifestWriter) {
	if a.Kind == lang.Prompt {
		m.quoted("adapter", a.Agent.Adapter)
		m.list("agent-command", a.Agent.Command)
		m.list("agent-argument", a.Agent.Args)
		m.quoted("model", a.Agent.Model)
		m.quoted("effort", a.Agent.Effort)
		m.quoted("agent-version", a.Agent.Version)
		m.block("prompt", a.Prompt.Canonical)
	}
	for _, arg := range a.Argv {
		m.quote("argument ", arg.Canonical)
		m.end()
	}
	if a.Vars != "" {
		m.quoted("vars", a.Vars)
	}
	for _, e := range a.Env {
		m.quote("env ", e.Name)
		m.quote(" ", e.Value.Canonical)
		m.end()
	}
}

func (a *Action) writeInputs(m *manifestWriter) {
	for _, f := range a.Sources {
		m.source(f)
	}
	a.writeInflows(m)
	for range a.Absent {
		m.line("absent")
	}
}

func (a *Action) writeRest(m *manifestWriter) {
	if a.Salt != "" {
		m.quoted("salt", a.Salt)
	}
	if a.Loop > 0 {
		m.line("loop " + strconv.Itoa(a.Loop))
	}
	if a.Accepted > 0 {
		m.line("accepted-timeout " + a.Accepted.String())
	}
	if a.Inplace {
		m.line("workspace inplace")
	}
	if a.GitInit {
		m.line("workspace git init")
	}
}

// manifestWriter spells the lines of a manifest.
type manifestWriter struct{ buf []byte }

func (m *manifestWriter) line(s string) {
	m.text(s)
	m.end()
}

// text and its siblings write parts of a line.
func (m *manifestWriter) text(s string) { m.buf = append(m.buf, s...) }

func (m *manifestWriter) quote(before, s string) {
	m.text(before)
	m.buf = strconv.AppendQuote(m.buf, s)
}

func (m *manifestWriter) digest(before string, d digest.Digest) {
	m.text(before)
	if d.IsZero() {
		m.text(d.String())
	}
	m.buf = d.Append(m.buf)
}

func (m *manifestWriter) end() { m.buf = append(m.buf, '\n') }

func (m *manifestWriter) quoted(name, value string) {
	if value != "" {
		m.text(name)
		m.quote(" ", value)
		m.end()
	}
}

func (m *manifestWriter) list(name string, values []string) {
	for _, v := range values {
		m.text(name)
		m.quote(" ", v)
		m.end()
	}
}

// blockIndent stands before each line of a text block, so no line of a text reads as a line of the
// manifest and a diff shows the text itself.
const blockIndent = "  | "

func (m *manifestWriter) block(name, text string) {
	m.line(name)
	for piece := range strings.SplitSeq(text, "\n") {
		m.text(blockIndent)
		m.line(piece)
	}
}

func (m *manifestWriter) source(f source.File) {
	m.quote("input ", f.Path)
	switch {
	case f.Target != "":
		m.quote(" -> ", f.Target)
	case f.Exec():
		m.digest(" ", f.Digest)
		m.text(" exec")
	default:
		m.digest(" ", f.Digest)
	}
	m.end()
}

// writeInflows lists what flows in, in an order that has nothing to do with names or with where blocks
// stand: see [Action.orderInflows].
func (a *Action) writeInflows(m *manifestWriter) {
	for i, f := range a.Inflows {
		if f.Inherit && f.Mount == "" {
			continue // what all inherited trees come to is one line of its own
		}
		m.text("in")
		m.buf = strconv.AppendInt(m.buf, int64(i+1), 10)
		m.text(" ")
		m.inflow(&f)
		m.end()
	}
	if !a.Start.IsZero() {
		m.line("start " + a.Start.String())
	}
}

func (m *manifestWriter) inflow(f *Inflow) {
	switch {
	case f.Absent && f.Output == "":
		m.text("directory") // of a dependency; its outputs are inflows of their own
	case f.Absent:
		m.text("absent")
	case f.Tree:
		m.digest("tree ", f.Content)
	case f.Exec:
		m.digest("exec ", f.Digest)
	default:
		m.digest("file ", f.Digest)
	}
}

func (m *manifestWriter) output(o OutputSpec) {
	m.quote("output ", o.Name)
	if o.Path != "" {
		m.quote(" path ", o.Path)
		m.end()
		return
	}
	for _, g := range o.Tree {
		m.quote(" tree ", g)
	}
	m.end()
}

package executor

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

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
	m := &manifestWriter{}
	m.line(manifestHeader)
	m.line("kind " + a.Kind.String())
	a.writeWhat(m)
	a.writeInputs(m)
	for _, o := range a.Outputs {
		m.output(o)
	}
	a.writeRest(m)
	return m.buf.Bytes()
}

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
		m.line("argument " + strconv.Quote(arg.Canonical))
	}
	if a.Vars != "" {
		m.quoted("vars", a.Vars)
	}
	for _, e := range a.Env {
		m.line("env " + strconv.Quote(e.Name) + " " + strconv.Quote(e.Value.Canonical))
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
type manifestWriter struct{ buf bytes.Buffer }

func (m *manifestWriter) line(s string) {
	m.buf.WriteString(s)
	m.buf.WriteByte('\n')
}

func (m *manifestWriter) quoted(name, value string) {
	if value != "" {
		m.line(name + " " + strconv.Quote(value))
	}
}

func (m *manifestWriter) list(name string, values []string) {
	for _, v := range values {
		m.line(name + " " + strconv.Quote(v))
	}
}

// blockIndent stands before each line of a text block, so no line of a text reads as a line of the
// manifest and a diff shows the text itself.
const blockIndent = "  | "

func (m *manifestWriter) block(name, text string) {
	m.line(name)
	for piece := range strings.SplitSeq(text, "\n") {
		m.line(blockIndent + piece)
	}
}

func (m *manifestWriter) source(f source.File) {
	switch {
	case f.Target != "":
		m.line("input " + strconv.Quote(f.Path) + " -> " + strconv.Quote(f.Target))
	case f.Exec():
		m.line("input " + strconv.Quote(f.Path) + " " + f.Digest.String() + " exec")
	default:
		m.line("input " + strconv.Quote(f.Path) + " " + f.Digest.String())
	}
}

// writeInflows lists what flows in, in an order that has nothing to do with names or with where blocks
// stand: see [Action.orderInflows].
func (a *Action) writeInflows(m *manifestWriter) {
	for i, f := range a.Inflows {
		if f.Inherit && f.Mount == "" {
			continue // what all inherited trees come to is one line of its own
		}
		m.line(fmt.Sprintf("in%d %s", i+1, f.words()))
	}
	if !a.Start.IsZero() {
		m.line("start " + a.Start.String())
	}
}

func (f *Inflow) words() string {
	switch {
	case f.Absent && f.Output == "":
		return "directory" // of a dependency; its outputs are inflows of their own
	case f.Absent:
		return "absent"
	case f.Tree:
		return "tree " + f.Content.String()
	case f.Exec:
		return "exec " + f.Digest.String()
	}
	return "file " + f.Digest.String()
}

func (m *manifestWriter) output(o OutputSpec) {
	s := "output " + strconv.Quote(o.Name)
	if o.Path != "" {
		m.line(s + " path " + strconv.Quote(o.Path))
		return
	}
	for _, g := range o.Tree {
		s += " tree " + strconv.Quote(g)
	}
	m.line(s)
}

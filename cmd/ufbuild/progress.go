package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/event"
)

// sink chooses how a build reports.
func (a *app) sink(f buildFlags) event.Sink {
	switch {
	case a.json || a.progress == "json":
		return jsonSink(a.out)
	case a.progress == "none":
		return event.Discard
	}
	return &plainSink{w: a.err, style: a.errTerm.Style(), logs: f.logs, tails: map[string]*tail{}}
}

// jsonSink prints one event a line.
func jsonSink(w io.Writer) event.Sink {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return event.Func(func(e event.Event) { _ = enc.Encode(e) })
}

// plainSink prints one line for each change of state.
type plainSink struct {
	w     io.Writer
	style ui.Style
	logs  string
	total int
	done  int
	tails map[string]*tail // end of the output of running tasks
}

// Emit implements event.Sink.
func (p *plainSink) Emit(e event.Event) {
	switch e.Kind {
	case event.BuildStarted:
		p.total = e.Total
	case event.AttemptStarted:
		p.line("start", e.Address, e.Reason)
		p.tails[e.Address] = &tail{}
	case event.AttemptOutput:
		p.output(e)
	case event.AttemptEnded:
		if e.Outcome != "ok" && e.Outcome != "" {
			p.line(p.style.Warn("end"), e.Address, fmt.Sprintf("attempt %d: %s after %s", e.N, e.Outcome, ui.Duration(e.Duration)))
		}
	case event.NodeDone:
		p.nodeDone(e)
	case event.PoolPaused, event.PoolResumed, event.BuildHeld, event.BuildReleased:
		p.line(p.style.Warn("note"), e.Text, "")
	case event.Notice:
		p.line("note", e.Address, e.Text)
	}
}

func (p *plainSink) nodeDone(e event.Event) {
	p.total = max(p.total, e.Total)
	p.done++
	switch e.State {
	case "ran":
		p.line(p.style.Good("ok"), e.Address, ui.Duration(e.Duration))
	case "failed":
		first, _, _ := strings.Cut(e.Message, "\n")
		p.line(p.style.Bad("failed"), e.Address, first)
		p.showTail(e.Address)
	}
	delete(p.tails, e.Address)
}

func (p *plainSink) line(what, address, words string) {
	if words != "" {
		words = "  " + p.style.Dim(words)
	}
	fmt.Fprintf(p.w, "[%d/%d] %s %s%s\n", p.done, p.total, what, address, words)
}

func (p *plainSink) output(e event.Event) {
	if p.logs == "full" {
		for line := range strings.Lines(e.Text) {
			fmt.Fprintf(p.w, "%s | %s\n", e.Address, strings.TrimRight(line, "\n"))
		}
		return
	}
	if t := p.tails[e.Address]; t != nil && p.logs == "errors" {
		t.add(e.Text)
	}
}

func (p *plainSink) showTail(address string) {
	t := p.tails[address]
	if t == nil || p.logs != "errors" || t.text == "" {
		return
	}
	for line := range strings.Lines(t.text) {
		fmt.Fprintf(p.w, "    %s\n", strings.TrimRight(line, "\n"))
	}
}

// tail keeps the end of a task's output.
type tail struct{ text string }

// tailBytes is about a screen full.
const tailBytes = 4 << 10

func (t *tail) add(s string) {
	t.text += s
	if len(t.text) > 2*tailBytes {
		t.text = t.text[len(t.text)-tailBytes:]
		if _, rest, ok := strings.Cut(t.text, "\n"); ok {
			t.text = rest
		}
	}
}

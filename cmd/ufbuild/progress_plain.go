package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/event"
)

// plainSink prints one line for each change of state.
type plainSink struct {
	w       io.Writer
	style   ui.Style
	logs    string
	results bool // only what stays of interest: what runs is shown elsewhere
	github  bool // mark failures for the log of a GitHub workflow
	total   int
	done    int
	tails   map[string]*tail            // end of the output of running tasks
	over    map[string]bool             // nodes that were done, by address
	replay  func(address string) []byte // log of the attempt that a fresh node reads; nil: none
}

// plainSink returns the sink that prints to w.
func (a *app) plainSink(s *session, f buildFlags, w io.Writer) *plainSink {
	p := &plainSink{w: w, style: a.errTerm.Style(), logs: f.logs, tails: map[string]*tail{}, over: map[string]bool{}}
	if f.logs == "full" {
		p.replay = s.selectedLog
	}
	return p
}

// Emit implements event.Sink.
func (p *plainSink) Emit(e event.Event) {
	switch e.Kind {
	case event.BuildStarted:
		p.total = e.Total
	case event.AttemptStarted:
		if !p.results {
			p.line("start", e.Address, e.Reason)
		}
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
		p.line(p.style.Warn("note"), event.Plain(e.Text), "")
	case event.Notice:
		p.line("note", e.Address, e.Text)
	}
}

func (p *plainSink) nodeDone(e event.Event) {
	if e.Total > 0 {
		p.total = e.Total
	}
	if !p.over[e.Address] { // else it was decided again
		p.done++
	}
	p.over[e.Address] = true
	switch e.State {
	case "ran":
		p.line(p.style.Good("ok"), e.Address, ui.Duration(e.Duration))
	case "fresh":
		if p.replay != nil {
			p.print(e.Address, string(p.replay(e.Address)))
		}
	case "failed":
		first, _, _ := strings.Cut(e.Message, "\n")
		p.line(p.style.Bad("failed"), e.Address, first)
		if p.github {
			fmt.Fprintf(p.w, "::error title=%s failed::%s\n", githubProperty(e.Address), githubData(e.Message))
		}
		p.showTail(e.Address)
	}
	delete(p.tails, e.Address)
}

func (p *plainSink) line(what, address, words string) {
	if words != "" {
		words = "  " + p.style.Dim(event.Plain(words))
	}
	fmt.Fprintf(p.w, "[%d/%d] %s %s%s\n", p.done, p.total, what, address, words)
}

func (p *plainSink) output(e event.Event) {
	if p.logs == "full" || p.logs == "new" {
		p.print(e.Address, e.Text)
		return
	}
	if t := p.tails[e.Address]; t != nil && p.logs == "errors" {
		t.add(e.Text)
	}
}

// print shows output of a task, each line with its name.
func (p *plainSink) print(address, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(p.w, "%s | %s\n", address, event.Plain(line))
	}
}

func (p *plainSink) showTail(address string) {
	t := p.tails[address]
	if t == nil || p.logs != "errors" || t.text == "" {
		return
	}
	if p.github {
		fmt.Fprintf(p.w, "::group::log of %s\n", githubData(address))
		defer fmt.Fprintln(p.w, "::endgroup::")
	}
	for line := range strings.Lines(t.text) {
		fmt.Fprintf(p.w, "    %s\n", event.Plain(line))
	}
}

// githubData and githubProperty escape what a workflow command of GitHub holds.
func githubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func githubProperty(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
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

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/event"
)

// plainSink prints one line for each change of state.
type plainSink struct {
	w       io.Writer
	style   ui.Style
	logs    string
	results bool      // only what stays of interest: what runs is shown elsewhere
	github  io.Writer // where commands for the log of a GitHub workflow go; nil: nowhere
	total   int
	done    int
	tails   map[string]*tail            // end of the output of running tasks
	over    map[string]bool             // nodes that were done, by address
	ends    map[string]event.Event      // attempts that ended badly, by address, until it is known what follows
	replay  func(address string) []byte // log of the attempt that a fresh node reads; nil: none
}

// plainSink returns the sink that prints to w.
func (a *app) plainSink(s *session, f buildFlags, w io.Writer) *plainSink {
	p := &plainSink{w: w, style: a.errTerm.Style(), logs: f.logs, tails: map[string]*tail{}, over: map[string]bool{}, ends: map[string]event.Event{}}
	if f.logs == "full" {
		p.replay = s.selectedLog
	}
	return p
}

// Emit implements event.Sink.
func (p *plainSink) Emit(e event.Event) {
	if e.Kind != event.NodeDone {
		p.tellEnd(e.Address)
	}
	switch e.Kind {
	case event.BuildStarted:
		p.total, p.done = e.Total, e.Counts["fresh"]
	case event.AttemptStarted:
		if !p.results {
			p.line("start", e.Address, e.Reason)
		}
		p.tails[e.Address] = &tail{}
	case event.AttemptOutput:
		p.output(e)
	case event.AttemptEnded:
		p.attemptEnded(e)
	case event.NodeDone:
		p.nodeDone(e)
	case event.PoolPaused, event.PoolResumed, event.BuildHeld, event.BuildReleased:
		p.line(p.style.Warn("note"), "", e.Text)
	case event.Notice:
		p.line("note", e.Address, e.Text)
	case event.Warning:
		p.line(p.style.Warn("warning"), e.Address, e.Text)
	}
}

// attemptEnded keeps the end of an attempt for the line of its node: most that end badly are the last, and one
// line says both. One after which the account may pause is told at once.
func (p *plainSink) attemptEnded(e event.Event) {
	switch cache.Outcome(e.Outcome) {
	case "", cache.OK:
		return
	}
	p.ends[e.Address] = e
	switch cache.Outcome(e.Outcome) {
	case cache.RateLimited, cache.Account:
		p.tellEnd(e.Address)
	}
}

// tellEnd tells of an attempt that ended badly and was not the last.
func (p *plainSink) tellEnd(address string) {
	if e, ok := p.ends[address]; ok {
		delete(p.ends, address)
		p.line(p.style.Warn("end"), address, fmt.Sprintf("attempt %d: %s after %s", e.N, e.Outcome, ui.Duration(e.Duration)))
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
	if e.State != "failed" {
		p.tellEnd(e.Address)
	}
	switch e.State {
	case "ran":
		p.line(p.style.Good("ok"), e.Address, ui.Duration(e.Duration))
	case "fresh":
		if p.replay != nil {
			p.print(e.Address, string(p.replay(e.Address)))
		}
	case "failed":
		p.line(p.style.Bad("failed"), e.Address, p.failure(e))
		delete(p.ends, e.Address)
		if p.github != nil {
			fmt.Fprintf(p.github, "::error title=%s failed::%s\n", githubProperty(e.Address), githubData(e.Message))
		}
		p.showTail(e.Address)
	}
	delete(p.tails, e.Address)
}

// failure says in a line why a node failed, without the words that the end of its log says below.
func (p *plainSink) failure(e event.Event) string {
	words, _, _ := strings.Cut(e.Message, "\n")
	if t := p.shownTail(e.Address); t != nil {
		for _, last := range agent.LastLines([]byte(t.text), 1) {
			words = strings.TrimSuffix(words, ": "+agent.OneLine(event.Plain(last)))
		}
	}
	end, ok := p.ends[e.Address]
	if !ok {
		return words
	}
	said := fmt.Sprintf("attempt %d after %s", end.N, ui.Duration(end.Duration))
	if cache.Outcome(end.Outcome) != cache.Failed {
		said = fmt.Sprintf("attempt %d: %s after %s", end.N, end.Outcome, ui.Duration(end.Duration))
	}
	if words == "" {
		return said
	}
	return said + ": " + words
}

// line prints what happened, to which address (empty: to none), and what is to be said of it.
func (p *plainSink) line(what, address, words string) {
	if address != "" {
		what += " " + address
	}
	if words != "" && address != "" {
		what += "  " + p.style.Dim(event.Plain(words))
	} else if words != "" {
		what += " " + event.Plain(words)
	}
	fmt.Fprintf(p.w, "[%d/%d] %s\n", p.done, p.total, what)
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

// shownTail is the end of the log that is shown when an address fails; nil when none is.
func (p *plainSink) shownTail(address string) *tail {
	if t := p.tails[address]; t != nil && p.logs == "errors" && t.text != "" {
		return t
	}
	return nil
}

func (p *plainSink) showTail(address string) {
	t := p.shownTail(address)
	if t == nil {
		return
	}
	if p.github != nil {
		fmt.Fprintf(p.github, "::group::log of %s\n", githubData(address))
		defer fmt.Fprintln(p.github, "::endgroup::")
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

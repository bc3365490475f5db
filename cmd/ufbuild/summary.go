package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/ufbuild/ufbuild/cache/effect"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
)

// summary is a build in Markdown, for a pull request or the page of a CI job.
type summary struct {
	file  string
	extra bool                // the file holds other things: add to them
	cost  map[string]*costSum // of the attempts of an address
	tails map[string]*tail    // end of the output of its last attempt
}

// summaryOf returns what gathers a summary; nil when none is wanted. The file is made at once, so that one that
// cannot be written is told before anything runs.
func (a *app) summaryOf(f buildFlags) (*summary, error) {
	if f.summary == "" {
		return nil, nil
	}
	s := &summary{file: f.summary, cost: map[string]*costSum{}, tails: map[string]*tail{}}
	if step := a.getenv("GITHUB_STEP_SUMMARY"); step != "" {
		s.extra = filepath.Clean(step) == filepath.Clean(s.file) // a job's page belongs to all its steps
	}
	file, err := s.open()
	if err != nil {
		return nil, usageErrorf("--summary: %w", err)
	}
	return s, file.Close()
}

func (s *summary) open() (*effect.File, error) {
	if s.extra {
		return effect.OpenFile(s.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	}
	return effect.OpenFile(s.file, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
}

// Emit implements event.Sink.
func (s *summary) Emit(e event.Event) {
	switch e.Kind {
	case event.AttemptStarted:
		s.tails[e.Address] = &tail{}
	case event.AttemptOutput:
		if t := s.tails[e.Address]; t != nil {
			t.add(e.Text)
		}
	case event.AttemptEnded:
		if s.cost[e.Address] == nil {
			s.cost[e.Address] = newCostSum()
		}
		s.cost[e.Address].add(e.CostUSD, e.Profile != "")
	}
}

// write ends the summary.
func (s *summary) write(sum *executor.Summary, spent *costSum) error {
	file, err := s.open()
	if err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	_, err = file.WriteString(s.page(sum, spent))
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write summary: %w", err)
	}
	return nil
}

// page lists what failed, then what ran and why; what is fresh is only counted.
func (s *summary) page(sum *executor.Summary, spent *costSum) string {
	var b strings.Builder
	fmt.Fprintf(&b, "### ufbuild: %s, %s", sentence(sum.Total, sum.Counts), ui.Duration(sum.Duration))
	if spent.usd > 0 {
		fmt.Fprintf(&b, ", %s", spent)
	}
	b.WriteString("\n\n")
	header := false
	for _, state := range []executor.State{executor.Failed, executor.Skipped, executor.Paused, executor.Awaiting, executor.Cancelled, executor.Ran} {
		for i := range sum.Nodes {
			r := sum.Nodes[i]
			if r.State != state {
				continue
			}
			if !header {
				header = true
				b.WriteString("| | task | why | time | cost |\n|---|---|---|---|---|\n")
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", r.State, markdownCode(r.Address.String()), markdownText(event.Plain(s.why(r))), s.time(r), s.costOf(r))
		}
	}
	for i := range sum.Nodes {
		if r := sum.Nodes[i]; r.State == executor.Failed {
			s.failure(&b, r)
		}
	}
	return b.String() + "\n"
}

func (s *summary) why(r *executor.NodeResult) string {
	if r.State == executor.Ran {
		return r.Reason.String()
	}
	first, _, _ := strings.Cut(r.Message, "\n")
	return first
}

func (s *summary) time(r *executor.NodeResult) string {
	if r.Duration == 0 {
		return ""
	}
	return ui.Duration(r.Duration)
}

func (s *summary) costOf(r *executor.NodeResult) string {
	c := s.cost[r.Address.String()]
	if c == nil || c.usd == 0 && !c.unknown {
		return ""
	}
	return c.String()
}

// failure shows all that was said of a failure, and the end of its log.
func (s *summary) failure(b *strings.Builder, r *executor.NodeResult) {
	fmt.Fprintf(b, "\n<details><summary>%s failed</summary>\n\n%s", markdownText(r.Address.String()), fenced(r.Message))
	if t := s.tails[r.Address.String()]; t != nil && t.text != "" {
		fmt.Fprintf(b, "\nThe end of its log:\n\n%s", fenced(t.text))
	}
	b.WriteString("\n</details>\n")
}

// markdownText makes text safe in a cell of a table.
func markdownText(s string) string {
	return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "\\|", "\n", " ", "\r", "", "`", "\\`", "*", "\\*", "_", "\\_", "@", "&#64;", "[", "\\[").Replace(s)
}

// markdownCode is an address as code; it holds neither backticks nor lines.
func markdownCode(s string) string { return "`" + strings.ReplaceAll(s, "|", "\\|") + "`" }

// fenced is a block of text, in a fence that it does not hold itself. Control characters are left out: people
// print such files on terminals, and pages show them as boxes.
func fenced(s string) string {
	s = event.PlainText(s)
	fence := "```"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	return fence + "text\n" + strings.TrimRight(s, "\n") + "\n" + fence + "\n"
}

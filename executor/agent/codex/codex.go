// Package codex drives Codex: the adapter "codex".
//
// The prompt goes to standard input of "codex exec --json". The stream is JSON lines: thread.started
// with the thread id, item.*, turn.completed with usage (input includes what was cached, output
// includes reasoning), turn.failed and error. An error that a later turn survived is none: the
// program reports each reconnection as one. The cost is not reported.
package codex

import (
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
)

// Driver implements agent.Driver.
type Driver struct{}

var _ agent.Driver = Driver{}

// Start returns the command for a prompt on standard input.
func (Driver) Start(s agent.Start) (agent.Command, error) {
	args := agent.Args(s)
	argv := append(agent.Program(s, "codex"), "exec", "--json", "--skip-git-repo-check", "--output-last-message", agent.LastPath)
	if !agent.Has(args, "--sandbox", "-s", "--dangerously-bypass-approvals-and-sandbox") {
		argv = append(argv, "--sandbox", "workspace-write")
	}
	if e := s.Profile.Effort; e != "" {
		argv = append(argv, "-c", "model_reasoning_effort="+e)
	}
	if m := s.Profile.Model; m != "" {
		argv = append(argv, "--model", m)
	}
	argv = append(append(argv, args...), "-")
	return agent.Command{Argv: argv, Stdin: []byte(s.Prompt), Files: []string{agent.LastPath}}, nil
}

// line is what is read of a line of the stream.
type line struct {
	Type    string `json:"type"`
	Thread  string `json:"thread_id"`
	Message string `json:"message"` // of error
	Error   struct {
		Message string `json:"message"`
	} `json:"error"` // of turn.failed
	Item struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"item"`
	Usage *usage `json:"usage"`
}

type usage struct {
	Input  *agent.Number `json:"input_tokens"`
	Cached *agent.Number `json:"cached_input_tokens"`
	Output *agent.Number `json:"output_tokens"`
}

// stream is what is kept of all lines.
type stream struct {
	thread string
	final  string
	failed string // of the last turn, or an error behind it; "" when it went well
	turns  []*usage
	open   bool // a turn was started and neither completed nor failed
	lost   bool // a turn failed, and nobody says what it used
}

var (
	_ agent.Metered = Driver{}
	_ agent.Meter   = (*stream)(nil)
)

// Meter implements agent.Metered.
func (Driver) Meter() agent.Meter { return &stream{} }

// Read reads the stream.
func (Driver) Read(e agent.Ended) agent.End {
	var s stream
	for b := range agent.Objects(e.Log) {
		s.Line(b)
	}
	if last := strings.TrimSpace(string(e.Files[agent.LastPath])); last != "" {
		s.final = last
	}
	end := s.class(e)
	end.Usage = s.Usage()
	return end
}

// Line implements agent.Meter.
func (s *stream) Line(b []byte) {
	var l line
	if !agent.Decode(b, &l) {
		return
	}
	switch l.Type {
	case "thread.started":
		s.thread = l.Thread
	case "turn.started":
		s.open = true
	case "turn.completed":
		s.turns, s.failed, s.open = append(s.turns, l.Usage), "", false
	case "turn.failed":
		s.failed, s.open, s.lost = orWords(l.Error.Message), false, true
	case "error":
		s.failed = orWords(l.Message)
	case "item.completed":
		if l.Item.Type == "agent_message" && l.Item.Text != "" {
			s.final = l.Item.Text
		}
	}
}

func orWords(s string) string {
	if s == "" {
		return "reported an error without words"
	}
	return s
}

func (s *stream) class(e agent.Ended) agent.End {
	switch {
	case s.failed != "":
		return agent.Blame(s.failed, 0, e.Now)
	case len(s.turns) == 0 || e.Exit != 0 || e.Signal != "":
		return agent.Unfinished(e)
	case s.final == "":
		return agent.End{Class: agent.Failed, Message: "ended with an empty result"}
	}
	return agent.End{Class: agent.OK, Final: s.final}
}

// Usage adds up the turns. It is a lower bound while one is open, or when one failed.
func (s *stream) Usage() cache.Usage {
	var sum cache.Usage
	for i, t := range s.turns {
		u := t.read()
		if i > 0 {
			u = agent.Add(sum, u)
		}
		sum = u
	}
	sum.AtLeast = (s.open || s.lost) && len(s.turns) > 0
	sum.Session = s.thread
	return sum
}

func (u *usage) read() cache.Usage {
	if u == nil {
		return cache.Usage{}
	}
	return cache.Usage{InputTokens: agent.Count(u.Input), CachedTokens: agent.Count(u.Cached), OutputTokens: agent.Count(u.Output)}
}

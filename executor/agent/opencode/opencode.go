// Package opencode drives OpenCode: the adapter "opencode".
//
// The prompt goes to standard input of "opencode run --format json". It is not an argument: the
// program puts arguments in quotes and escapes those inside, and the kernel bounds one argument at
// 128 KiB. The stream is JSON lines: step_start, text, tool_use, step_finish with cost and tokens,
// error. A step that was started and not finished makes the usage a lower
// bound, and unknown when it is the only one.
package opencode

import (
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
)

// Driver implements agent.Driver.
type Driver struct{}

var _ agent.Driver = Driver{}

// Start returns the command for a prompt on standard input. An effort is a variant of the model.
func (Driver) Start(s agent.Start) (agent.Command, error) {
	argv := append(agent.Program(s, "opencode"), "run", "--format", "json")
	if m := s.Profile.Model; m != "" {
		argv = append(argv, "--model", m)
	}
	if e := s.Profile.Effort; e != "" {
		argv = append(argv, "--variant", e)
	}
	return agent.Command{Argv: append(argv, agent.Args(s)...), Stdin: []byte(s.Prompt)}, nil
}

// line is what is read of a line of the stream.
type line struct {
	Type    string `json:"type"`
	Session string `json:"sessionID"`
	Part    struct {
		Text   string        `json:"text"`
		Cost   *agent.Number `json:"cost"`
		Tokens *tokens       `json:"tokens"`
	} `json:"part"`
	Error *fault `json:"error"`
}

type tokens struct {
	Input     *agent.Number `json:"input"`
	Output    *agent.Number `json:"output"`
	Reasoning *agent.Number `json:"reasoning"`
	Cache     struct {
		Read  *agent.Number `json:"read"`
		Write *agent.Number `json:"write"`
	} `json:"cache"`
}

type fault struct {
	Name string `json:"name"`
	Data struct {
		Message string            `json:"message"`
		Status  *agent.Number     `json:"statusCode"`
		Body    string            `json:"responseBody"`
		Headers map[string]string `json:"responseHeaders"`
	} `json:"data"`
}

// stream is what is kept of all lines.
type stream struct {
	session string
	final   string
	fault   *fault // that no finished step came after
	steps   []cache.Usage
	open    int // steps started and not finished
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
	if l.Session != "" {
		s.session = l.Session
	}
	switch l.Type {
	case "step_start":
		s.open++
	case "text":
		s.final = l.Part.Text
	case "step_finish":
		s.open = max(s.open-1, 0)
		s.steps, s.fault = append(s.steps, l.usage()), nil
	case "error":
		if s.fault = l.Error; s.fault == nil {
			s.fault = &fault{}
		}
	}
}

// Usage adds up the steps. While one is open it is a lower bound.
func (s *stream) Usage() cache.Usage {
	u := sum(s.steps)
	u.AtLeast = s.open > 0 && len(s.steps) > 0
	u.Session = s.session
	return u
}

func (s *stream) class(e agent.Ended) agent.End {
	switch {
	case s.fault != nil:
		return s.fault.blame(e)
	case len(s.steps) == 0 && s.open == 0 || e.Exit != 0 || e.Signal != "":
		return agent.Unfinished(e)
	case strings.TrimSpace(s.final) == "":
		return agent.End{Class: agent.Failed, Message: "ended with an empty result"}
	}
	return agent.End{Class: agent.OK, Final: s.final}
}

// blame classifies by message, body and status, and says the message.
func (f *fault) blame(e agent.Ended) agent.End {
	text := f.Data.Message + "\n" + f.Data.Body
	end := agent.Blame(text, agent.Status(f.Data.Status), e.Now)
	words := slices.DeleteFunc([]string{f.Name, f.Data.Message}, func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(words) > 0 {
		end.Message = agent.OneLine(strings.Join(words, ": "))
	}
	if end.Class == agent.RateLimited && end.Wait == 0 {
		end.Wait = agent.Wait("retry-after: "+f.Data.Headers["retry-after"], e.Now)
	}
	return end
}

func (l *line) usage() cache.Usage {
	u := cache.Usage{CostUSD: agent.Cost(l.Part.Cost)}
	t := l.Part.Tokens
	if t == nil {
		return u
	}
	u.InputTokens = total(t.Input, t.Cache.Read, t.Cache.Write)
	u.CachedTokens = agent.Count(t.Cache.Read)
	u.OutputTokens = total(t.Output, t.Reasoning)
	return u
}

// total adds details to a count; a detail that is missing adds nothing.
func total(count *agent.Number, details ...*agent.Number) *int64 {
	sum := agent.Count(count)
	for _, d := range details {
		if n := agent.Count(d); n != nil && sum != nil {
			*sum += *n
		}
	}
	return sum
}

func sum(steps []cache.Usage) cache.Usage {
	var all cache.Usage
	for i, u := range steps {
		if i > 0 {
			u = agent.Add(all, u)
		}
		all = u
	}
	return all
}

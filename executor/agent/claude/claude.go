// Package claude drives Claude Code: the adapter "claude".
//
// The prompt goes to standard input of "claude --print --output-format stream-json". The stream is
// JSON lines; the last one, of type result, has usage, cost, session and the final text. Known forms
// of its end, all seen with version 2.1: is_error with api_error_status, stop_reason refusal, exit 0
// with an empty result, zero turns, and a text such as "Claude AI usage limit reached|1772370000".
//
// Danger: as root the program refuses its permission mode unless IS_SANDBOX=1 is in its environment.
package claude

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
)

// Driver implements agent.Driver.
type Driver struct{}

var _ agent.Driver = Driver{}

// Start returns the command for a prompt on standard input.
func (Driver) Start(s agent.Start) (agent.Command, error) {
	argv := append(agent.Program(s, "claude"), "--print", "--output-format", "stream-json", "--verbose")
	if m := s.Profile.Model; m != "" {
		argv = append(argv, "--model", m)
	}
	if e := s.Profile.Effort; e != "" {
		argv = append(argv, "--effort", e)
	}
	args := agent.Args(s)
	if s.BudgetUSD > 0 && !agent.Has(args, "--max-budget-usd") {
		argv = append(argv, "--max-budget-usd", strconv.FormatFloat(s.BudgetUSD, 'f', -1, 64))
	}
	if !agent.Has(args, "--permission-mode", "--dangerously-skip-permissions") {
		argv = append(argv, "--permission-mode", "bypassPermissions")
	}
	return agent.Command{Argv: append(argv, args...), Stdin: []byte(s.Prompt)}, nil
}

// line is what is read of a line of the stream.
type line struct {
	Type       string        `json:"type"`
	Subtype    string        `json:"subtype"`
	Session    string        `json:"session_id"`
	Model      string        `json:"model"` // of system init
	IsError    bool          `json:"is_error"`
	Status     *agent.Number `json:"api_error_status"`
	NumTurns   *agent.Number `json:"num_turns"`
	Result     string        `json:"result"`
	Errors     []string      `json:"errors"`
	StopReason string        `json:"stop_reason"`
	CostUSD    *agent.Number `json:"total_cost_usd"`
	Usage      *usage        `json:"usage"`
	Message    struct {
		ID    string `json:"id"`
		Usage *usage `json:"usage"`
	} `json:"message"`
}

type usage struct {
	Input      *agent.Number `json:"input_tokens"`
	CacheWrite *agent.Number `json:"cache_creation_input_tokens"`
	CacheRead  *agent.Number `json:"cache_read_input_tokens"`
	Output     *agent.Number `json:"output_tokens"`
}

// stream is what is kept of all lines.
type stream struct {
	model, session string
	result         *line
	calls          map[string]*usage // progress of each call by message id
}

var (
	_ agent.Metered = Driver{}
	_ agent.Meter   = (*stream)(nil)
)

// Meter implements agent.Metered.
func (Driver) Meter() agent.Meter { return newStream() }

// Read reads the stream.
func (Driver) Read(e agent.Ended) agent.End {
	s := newStream()
	for b := range agent.Objects(e.Log) {
		s.Line(b)
	}
	end := s.class(e)
	end.Usage = s.Usage()
	return end
}

func newStream() *stream { return &stream{calls: map[string]*usage{}} }

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
	case "system":
		if l.Model != "" {
			s.model = l.Model
		}
	case "assistant":
		if l.Message.Usage != nil && l.Message.ID != "" {
			s.calls[l.Message.ID] = l.Message.Usage
		}
	case "result":
		s.takeResult(&l)
	}
}

// takeResult takes the last result for what the program says in the end. What it does not say of money and tokens, one
// before it said.
func (s *stream) takeResult(l *line) {
	if was := s.result; was != nil {
		if agent.Cost(l.CostUSD) == nil {
			l.CostUSD = was.CostUSD
		}
		if l.Usage == nil {
			l.Usage = was.Usage
		}
	}
	s.result = l
}

func (s *stream) class(e agent.Ended) agent.End {
	r := s.result
	switch {
	case r == nil:
		return agent.Unfinished(e)
	case r.StopReason == "refusal":
		return agent.End{Class: agent.Refused, Message: agent.OneLine(r.words())}
	case r.Subtype == "error_max_budget_usd":
		return agent.End{Class: agent.OverBudget, Message: agent.OneLine(r.words())}
	case r.IsError:
		return agent.Blame(r.words(), agent.Status(r.Status), e.Now)
	case r.Subtype != "success":
		return r.stopped(e)
	case strings.TrimSpace(r.Result) == "":
		return agent.End{Class: agent.Failed, Message: "ended with an empty result"}
	}
	if end, ok := limitText(r.Result, e); ok {
		return end
	}
	if r.NumTurns != nil && *r.NumTurns == 0 {
		return agent.End{Class: agent.Failed, Message: agent.OneLine("ended without a turn: " + r.Result)}
	}
	if e.Exit != 0 || e.Signal != "" {
		return agent.Unfinished(e)
	}
	return agent.End{Class: agent.OK, Final: r.Result}
}

// stopped reads a result that is no success and calls itself no error, such as that of the last turn allowed. Its errors may be
// those of the account; a report beside them must not speak for it.
func (l *line) stopped(e agent.Ended) agent.End {
	end := agent.Blame(strings.Join(l.Errors, "\n"), agent.Status(l.Status), e.Now)
	if end.Class == agent.Failed {
		end.Message = agent.OneLine(l.words())
	}
	return end
}

// limitText knows the notices that come in place of a result, without is_error. They are short and
// alone; a report about rate limits is not.
func limitText(result string, e agent.Ended) (agent.End, bool) {
	const longest = 200 // bytes; a notice is one sentence
	if len(result) > longest || strings.Contains(strings.TrimSpace(result), "\n") {
		return agent.End{}, false
	}
	if kind, _, ok := strings.Cut(result, " limit reached"); ok && !strings.Contains(kind, ".") && len(kind) <= len("Claude AI usage") {
		return agent.Classify(result, e.Now)
	}
	for _, start := range []string{"API Error", "You've hit your", "You've reached your", "Credit balance is too low", "Invalid API key", "Not logged in"} {
		if strings.HasPrefix(result, start) {
			return agent.Classify(result, e.Now)
		}
	}
	return agent.End{}, false
}

// words is what the program says of an end that is no success.
func (l *line) words() string {
	if strings.TrimSpace(l.Result) != "" {
		return l.Result
	}
	if len(l.Errors) > 0 {
		return fmt.Sprintf("%s: %s", l.Subtype, strings.Join(l.Errors, "; "))
	}
	if l.Subtype != "" {
		return l.Subtype
	}
	return "its result says neither success nor error"
}

// Usage is that of the result, which covers all calls. Without one it is what the calls said so far, a lower
// bound: their input is complete, their output is not.
func (s *stream) Usage() cache.Usage {
	var u cache.Usage
	if s.result != nil {
		u = s.result.Usage.read()
		u.CostUSD = agent.Cost(s.result.CostUSD)
	} else {
		first := true
		for _, c := range s.calls {
			if first {
				u, first = c.read(), false
			} else {
				u = agent.Add(u, c.read())
			}
		}
		u.AtLeast = !first
	}
	u.Model, u.Session = s.model, s.session
	return u
}

// read counts cache reads and writes as input, which they are.
func (u *usage) read() cache.Usage {
	if u == nil {
		return cache.Usage{}
	}
	input := agent.Count(u.Input)
	for _, part := range []*agent.Number{u.CacheWrite, u.CacheRead} {
		if n := agent.Count(part); n != nil && input != nil {
			*input += *n
		}
	}
	return cache.Usage{InputTokens: input, CachedTokens: agent.Count(u.CacheRead), OutputTokens: agent.Count(u.Output)}
}

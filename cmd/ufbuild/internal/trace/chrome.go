package trace

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/ufbuild/ufbuild/executor/event"
)

// Chrome writes the trace event format of Chrome, which Perfetto reads too: one lane a slot of the build with
// attempts and their phases, the waits before them, and two curves, of running attempts and of money. The
// file can be opened also when the build was killed: the format allows its end to be missing.
type Chrome struct {
	w     io.Writer
	spans *Spans
	zero  time.Time
	lanes int
	wrote bool
	err   error
}

// The processes of the trace are its sections.
const (
	sectionSlots = 1
	sectionWaits = 2
	sectionBuild = 3
)

// chromeEvent is one entry. Times are microseconds since the build began.
type chromeEvent struct {
	Name  string         `json:"name"`
	Cat   string         `json:"cat,omitempty"`
	Phase string         `json:"ph"`
	Time  float64        `json:"ts"`
	Dur   *float64       `json:"dur,omitempty"`
	PID   int            `json:"pid"`
	TID   int            `json:"tid"`
	ID    string         `json:"id,omitempty"`
	Args  map[string]any `json:"args,omitempty"`
}

// NewChrome writes to w as events come. Close ends the file.
func NewChrome(w io.Writer) *Chrome {
	c := &Chrome{w: w}
	c.spans = Fold(Sink{Wait: c.wait, Attempt: c.attempt, Count: c.count, Spent: c.spent})
	return c
}

// Emit implements event.Sink.
func (c *Chrome) Emit(e event.Event) {
	if e.Kind == event.BuildStarted {
		c.zero = e.Time
		for pid, name := range map[int]string{sectionSlots: "attempts", sectionWaits: "waiting", sectionBuild: "build " + e.Build} {
			c.put(chromeEvent{Name: "process_name", Phase: "M", PID: pid, Args: map[string]any{"name": name}})
			c.put(chromeEvent{Name: "process_sort_index", Phase: "M", PID: pid, Args: map[string]any{"sort_index": pid}})
		}
	}
	c.spans.Emit(e)
}

// Close ends the file and returns the first error of writing it.
func (c *Chrome) Close() error {
	if !c.wrote {
		c.raw("[")
	}
	c.raw("\n]\n")
	return c.err
}

func (c *Chrome) attempt(s Span) {
	for ; c.lanes <= s.Lane; c.lanes++ {
		c.put(chromeEvent{Name: "thread_name", Phase: "M", PID: sectionSlots, TID: c.lanes, Args: map[string]any{"name": fmt.Sprintf("slot %d", c.lanes+1)}})
	}
	args := map[string]any{"outcome": s.Outcome, "attempt": s.N, "reason": s.Reason}
	if s.Message != "" {
		args["message"] = s.Message
	}
	if s.Profile != "" {
		args["profile"] = s.Profile
	}
	if s.CostUSD != nil {
		args["cost_usd"] = *s.CostUSD
	}
	c.complete(s.Address, "attempt", sectionSlots, s.Lane, s.Begin, s.End, args)
	for _, p := range s.Phases {
		c.complete(string(p.Phase), "phase", sectionSlots, s.Lane, p.Begin, p.End, nil)
	}
}

func (c *Chrome) complete(name, cat string, pid, tid int, begin, end time.Time, args map[string]any) {
	d := c.us(end) - c.us(begin)
	c.put(chromeEvent{Name: name, Cat: cat, Phase: "X", Time: c.us(begin), Dur: &d, PID: pid, TID: tid, Args: args})
}

// wait is an asynchronous pair: waits overlap without an order that lanes could show.
func (c *Chrome) wait(s Span) {
	args := map[string]any{"reason": s.Reason}
	c.put(chromeEvent{Name: s.Address, Cat: "wait", Phase: "b", Time: c.us(s.Begin), PID: sectionWaits, ID: s.Address, Args: args})
	c.put(chromeEvent{Name: s.Address, Cat: "wait", Phase: "e", Time: c.us(s.End), PID: sectionWaits, ID: s.Address})
}

func (c *Chrome) count(at time.Time, running int) {
	c.put(chromeEvent{Name: "running attempts", Phase: "C", Time: c.us(at), PID: sectionBuild, Args: map[string]any{"running": running}})
}

func (c *Chrome) spent(at time.Time, usd float64) {
	c.put(chromeEvent{Name: "spent", Phase: "C", Time: c.us(at), PID: sectionBuild, Args: map[string]any{"usd": usd}})
}

func (c *Chrome) us(t time.Time) float64 { return float64(t.Sub(c.zero).Nanoseconds()) / 1000 }

func (c *Chrome) put(e chromeEvent) {
	b, err := json.Marshal(e)
	if err != nil {
		panic("BUG: encode trace: " + err.Error())
	}
	if c.wrote {
		c.raw(",\n")
	} else {
		c.raw("[\n")
		c.wrote = true
	}
	c.raw(string(b))
}

func (c *Chrome) raw(s string) {
	if c.err == nil {
		_, c.err = io.WriteString(c.w, s)
	}
}

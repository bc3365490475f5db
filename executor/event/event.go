// Package event defines the typed facts of a build and the sinks that receive them.
//
// One stream feeds the terminal, the JSON output and later views. Events are plain data with a
// schema version; readers ignore kinds and fields they do not know. Emit is called from one
// goroutine at a time and must not block for long: a slow sink slows the build.
package event

import "time"

// SchemaVersion is the version of the events' JSON form. It grows when a field changes meaning.
const SchemaVersion = 1

// Kind says what an event reports.
type Kind string

// The kinds of event.
const (
	BuildStarted   Kind = "build_started"   // Total is set; Counts are those nobody will hear of
	NodeDecided    Kind = "node_decided"    // State is stale; Reason, and Account where its slots are limited
	AttemptStarted Kind = "attempt_started" // Ordinal, Key
	AttemptPhase   Kind = "attempt_phase"   // Phase begins
	AttemptOutput  Kind = "attempt_output"  // Text is a chunk of the log, masked
	AttemptUsed    Kind = "attempt_used"    // CostUSD, InputTokens, OutputTokens: at least this much so far
	AttemptEnded   Kind = "attempt_ended"   // Outcome, Message, Duration, Enforced
	NodeDone       Kind = "node_done"       // State is fresh, ran, failed, skipped or cancelled
	PoolPaused     Kind = "pool_paused"     // Account, Until (zero: until a person acts), Message; Text says it all
	PoolResumed    Kind = "pool_resumed"    // Account, Text
	BuildHeld      Kind = "build_held"      // a person paused the build; Text says who and why
	BuildReleased  Kind = "build_released"  // a person let it go on; Text
	Notice         Kind = "notice"          // Text for the user
	Warning        Kind = "warning"         // Text for the user: what somebody should look at
	Unclean        Kind = "unclean"         // Text: a file was written where no task had to write; Address is who ran then
	BuildEnded     Kind = "build_ended"     // Counts
)

// Phase is a part of an attempt. Each ends where the next one begins, the last one with the attempt.
type Phase string

// The phases of an attempt, in their order.
const (
	Materialize Phase = "materialize" // its workspace is laid out
	Run         Phase = "run"         // its program runs
	Capture     Phase = "capture"     // what it left is taken into the store
	Judge       Phase = "judge"       // its contracts look at that
)

// Event is one fact. Unused fields are empty.
type Event struct {
	Schema   int            `json:"schema_version"`
	Kind     Kind           `json:"kind"`
	Time     time.Time      `json:"time"`
	Build    string         `json:"build,omitempty"`
	Address  string         `json:"address,omitempty"`
	State    string         `json:"state,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	Key      string         `json:"key,omitempty"`
	Ordinal  int            `json:"ordinal,omitempty"` // under the key
	N        int            `json:"n,omitempty"`       // in the history of the address, as `show TARGET@N` counts
	Outcome  string         `json:"outcome,omitempty"`
	Phase    Phase          `json:"phase,omitempty"`
	Message  string         `json:"message,omitempty"`
	Text     string         `json:"text,omitempty"`
	Account  string         `json:"account,omitempty"`  // "pool NAME", or "agent NAME" of one without a pool
	Enforced []string       `json:"enforced,omitempty"` // what was withheld from the process and by what
	Until    time.Time      `json:"until,omitzero"`
	Duration time.Duration  `json:"duration_ns,omitempty"`
	Total    int            `json:"total,omitempty"`
	Counts   map[string]int `json:"counts,omitempty"`

	Profile      string   `json:"profile,omitempty"`  // of a prompt: the rung that runs it
	CostUSD      *float64 `json:"cost_usd,omitempty"` // nil: unknown
	InputTokens  *int64   `json:"input_tokens,omitempty"`
	OutputTokens *int64   `json:"output_tokens,omitempty"`
}

// Sink receives events.
type Sink interface {
	Emit(Event)
}

// Func adapts a function to Sink.
type Func func(Event)

// Emit calls f.
func (f Func) Emit(e Event) { f(e) }

// Tee hands every event to several sinks, in their order.
func Tee(sinks ...Sink) Sink {
	if len(sinks) == 1 {
		return sinks[0]
	}
	return Func(func(e Event) {
		for _, s := range sinks {
			s.Emit(e)
		}
	})
}

// Discard drops every event.
var Discard Sink = Func(func(Event) {})

package trace

import (
	"maps"
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/executor/event"
)

// Span is a stretch of time of one instance.
type Span struct {
	Address string
	Begin   time.Time
	End     time.Time
	Lane    int    // attempts that overlap in time have different ones, from 0 up
	N       int    // ordinal of the attempt under its key
	Reason  string // why it ran
	Outcome string // "" for a wait
	Message string
	Profile string   // of a prompt
	CostUSD *float64 // nil: unknown
	Phases  []Part
}

// Part is a phase of an attempt.
type Part struct {
	Phase event.Phase
	Begin time.Time
	End   time.Time
}

// Sink receives what a build's events amount to, each as soon as it is whole.
type Sink struct {
	Wait    func(Span)                      // stale, and now started
	Attempt func(Span)                      // ended
	Count   func(at time.Time, running int) // how many attempts run
	Spent   func(at time.Time, usd float64) // what attempts that ended have cost so far
	Build   func(begin, end time.Time, id string, counts map[string]int)
}

// Spans folds events; it implements event.Sink. It is not safe for concurrent use.
type Spans struct {
	to      Sink
	begin   time.Time
	queued  map[string]event.Event
	running map[string]*Span
	lanes   []bool // taken
	spent   float64
}

// Fold returns what turns events into spans. Functions of the sink may be nil.
func Fold(to Sink) *Spans {
	return &Spans{to: to, queued: map[string]event.Event{}, running: map[string]*Span{}}
}

// Emit implements event.Sink.
func (s *Spans) Emit(e event.Event) {
	switch e.Kind {
	case event.BuildStarted:
		s.begin = e.Time
	case event.NodeDecided:
		s.queued[e.Address] = e
	case event.AttemptStarted:
		s.start(e)
	case event.AttemptPhase:
		if sp := s.running[e.Address]; sp != nil {
			sp.enter(e.Phase, e.Time)
		}
	case event.AttemptEnded:
		s.end(e)
	case event.BuildEnded:
		if s.to.Build != nil {
			s.to.Build(s.begin, e.Time, e.Build, e.Counts)
		}
	}
}

func (s *Spans) start(e event.Event) {
	if q, ok := s.queued[e.Address]; ok {
		delete(s.queued, e.Address)
		if s.to.Wait != nil {
			s.to.Wait(Span{Address: e.Address, Begin: q.Time, End: e.Time, Reason: q.Reason})
		}
	}
	s.running[e.Address] = &Span{Address: e.Address, Begin: e.Time, Lane: s.takeLane(), N: e.Ordinal, Reason: e.Reason, Profile: e.Profile}
	s.count(e.Time)
}

func (s *Spans) end(e event.Event) {
	sp := s.running[e.Address]
	if sp == nil {
		return
	}
	delete(s.running, e.Address)
	s.lanes[sp.Lane] = false
	sp.enter("", e.Time)
	sp.End, sp.Outcome, sp.Message, sp.CostUSD = e.Time, e.Outcome, e.Message, e.CostUSD
	if s.to.Attempt != nil {
		s.to.Attempt(*sp)
	}
	s.count(e.Time)
	if e.CostUSD != nil {
		s.spent += *e.CostUSD
		if s.to.Spent != nil {
			s.to.Spent(e.Time, s.spent)
		}
	}
}

func (s *Spans) count(at time.Time) {
	if s.to.Count != nil {
		s.to.Count(at, len(s.running))
	}
}

// takeLane takes the lowest lane that is free.
func (s *Spans) takeLane() int {
	i := slices.Index(s.lanes, false)
	if i < 0 {
		i = len(s.lanes)
		s.lanes = append(s.lanes, false)
	}
	s.lanes[i] = true
	return i
}

// enter ends the last phase and begins another one, unless it is "".
func (sp *Span) enter(p event.Phase, at time.Time) {
	if n := len(sp.Phases); n > 0 {
		sp.Phases[n-1].End = at
	}
	if p != "" {
		sp.Phases = append(sp.Phases, Part{Phase: p, Begin: at})
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

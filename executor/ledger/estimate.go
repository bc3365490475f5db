package ledger

import (
	"cmp"
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/cache"
)

// History answers what nodes are likely to take. It is immutable after NewHistory.
type History struct {
	byKey     map[cache.Key][]sample
	byAddress map[place][]sample
	byTask    map[place][]sample
}

type place struct{ campaign, name string }

type sample struct {
	duration time.Duration
	cost     *float64
	tokens   *int64
}

// Basis says what an estimate was made from, best first.
type Basis string

// The bases.
const (
	SameKey     Basis = "same key"     // the same work, done before
	SameAddress Basis = "same address" // the node as it was before an edit
	SameTask    Basis = "same task"    // other instances of its task
)

// Estimate is what a node is likely to take: medians over past good attempts.
type Estimate struct {
	Duration time.Duration
	CostUSD  *float64 // nil: the cost of none of them is known
	Tokens   *int64   // input and output; nil: unknown
	N        int      // how many attempts; 0: nothing is known
	Basis    Basis
}

// NewHistory sorts the good attempts of entries by what they tell about.
func NewHistory(entries []Entry) *History {
	h := &History{byKey: map[cache.Key][]sample{}, byAddress: map[place][]sample{}, byTask: map[place][]sample{}}
	for i := range entries {
		e := &entries[i]
		if !e.good() {
			continue
		}
		s := sample{duration: e.Duration}
		if !e.Usage.AtLeast { // a lower bound tells nothing about the next one
			s.cost, s.tokens = e.Usage.CostUSD, tokensOf(e)
		}
		h.byKey[e.Key] = append(h.byKey[e.Key], s)
		at, task := place{e.Campaign, e.Address}, place{e.Campaign, taskOf(e.Address)}
		h.byAddress[at] = append(h.byAddress[at], s)
		h.byTask[task] = append(h.byTask[task], s)
	}
	return h
}

// Estimate returns what the node at an address of a campaign is likely to take: from attempts of its
// key, else of its address, else of its task.
func (h *History) Estimate(campaign, address string, key cache.Key) Estimate {
	if s := h.byKey[key]; len(s) > 0 {
		return estimate(s, SameKey)
	}
	if s := h.byAddress[place{campaign, address}]; len(s) > 0 {
		return estimate(s, SameAddress)
	}
	if s := h.byTask[place{campaign, taskOf(address)}]; len(s) > 0 {
		return estimate(s, SameTask)
	}
	return Estimate{}
}

func tokensOf(e *Entry) *int64 {
	if e.Usage.InputTokens == nil || e.Usage.OutputTokens == nil {
		return nil
	}
	n := *e.Usage.InputTokens + *e.Usage.OutputTokens
	return &n
}

func estimate(samples []sample, basis Basis) Estimate {
	e := Estimate{N: len(samples), Basis: basis}
	durations := make([]time.Duration, len(samples))
	var costs []float64
	var tokens []int64
	for i, s := range samples {
		durations[i] = s.duration
		if s.cost != nil {
			costs = append(costs, *s.cost)
		}
		if s.tokens != nil {
			tokens = append(tokens, *s.tokens)
		}
	}
	e.Duration = median(durations)
	if len(costs) > 0 {
		c := median(costs)
		e.CostUSD = &c
	}
	if len(tokens) > 0 {
		n := median(tokens)
		e.Tokens = &n
	}
	return e
}

// median is the middle one; of an even number the smaller of the two, which did happen. It sorts values.
func median[N cmp.Ordered](values []N) N {
	slices.Sort(values)
	return values[(len(values)-1)/2]
}

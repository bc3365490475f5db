package ledger

import (
	"strings"
	"time"
)

// Sum is what a set of entries comes to.
type Sum struct {
	Attempts int
	Duration time.Duration
	CostUSD  float64
	Unknown  int // attempts whose cost is unknown: CostUSD is a lower bound when it is not 0
	Input    int64
	Output   int64
	Untold   int // attempts that did not say all of their tokens: Input and Output are lower bounds when it is not 0

	Hits            int
	Elsewhere       int // hits on attempts that other machines made
	SavedDuration   time.Duration
	SavedUSD        float64
	SavedUSDUnknown int // hits on attempts whose cost is unknown
}

// Add counts an entry.
func (s *Sum) Add(e Entry) {
	switch e.Kind {
	case Ran:
		s.Attempts++
		s.Duration += e.Duration
		s.CostUSD += value(e.Usage.CostUSD)
		s.Input += value(e.Usage.InputTokens)
		s.Output += value(e.Usage.OutputTokens)
		if e.Usage.CostUSD == nil || e.Usage.AtLeast {
			s.Unknown++
		}
		if u := e.Usage; u.InputTokens == nil || u.OutputTokens == nil || u.AtLeast {
			s.Untold++
		}
	case Saved:
		s.Hits += e.Hits
		s.Elsewhere += e.Elsewhere
		s.SavedDuration += e.Duration
		s.SavedUSD += value(e.Usage.CostUSD)
		s.SavedUSDUnknown += e.Unknown
	}
}

func value[N int64 | float64](n *N) N {
	if n == nil {
		return 0
	}
	return *n
}

// By sums entries by what name says of them.
func By(entries []Entry, name func(Entry) string) map[string]Sum {
	out := map[string]Sum{}
	for _, e := range entries {
		if e.Kind != Ran && e.Kind != Saved {
			continue // it took and saved nothing, and may be of no build, profile or pool
		}
		n := name(e)
		s := out[n]
		s.Add(e)
		out[n] = s
	}
	return out
}

// Task names the task of an entry, for By.
func Task(e Entry) string { return taskOf(e.Address) }

// Profile names the profile of an entry, for By; "" for commands.
func Profile(e Entry) string { return e.Profile }

// Build names the build of an entry, for By.
func Build(e Entry) string { return e.Build }

// taskOf cuts an address down to the name of its task.
func taskOf(address string) string {
	if i := strings.IndexAny(address, "/@#"); i >= 0 {
		return address[:i]
	}
	return address
}

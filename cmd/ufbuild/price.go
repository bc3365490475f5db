package main

import (
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/lang"
)

// price is what a node of a plan took, or is likely to take.
type price struct {
	Past      bool          // it is what the last selected attempt took; else an estimate from others
	Duration  time.Duration // 0: unknown
	USD       *float64      // nil: unknown
	Paid      bool          // it runs a prompt, so it costs something
	AtMost    int           // of a task that expands: how many instances it may get; 0 for other nodes
	Attempts  int           // how many attempts an estimate was made from
	WorstUSD  *float64      // of a task that expands: AtMost times what one is likely to take
	WorstTime time.Duration
}

// pricing prices the nodes of one plan. The ledger is read when the first node asks for it.
type pricing struct {
	s        *session
	estimate func(lang.Address, cache.Key) ledger.Estimate
}

// of returns the price of a node that may run.
func (p *pricing) of(r *executor.NodeResult) (price, error) {
	if r.State != executor.WouldRun && r.State != executor.Unknown && r.State != executor.Paused {
		return price{}, nil
	}
	var out price
	if task, ok := p.s.campaign.Task(r.Address.Task); ok {
		out.Paid = task.Kind == lang.Prompt
		if id, ok := p.s.graph.Find(r.Address); ok && p.s.graph.Node(id).Template {
			out.AtMost = task.Expand.MaxItems
			if out.AtMost == 0 {
				out.AtMost = p.s.campaign.MaxDynamicTasks
			}
		}
	}
	if at, ok := p.s.lastSelected(r.Address); ok && at.Captured != nil {
		out.Past, out.Duration, out.USD = true, at.Captured.Duration, at.Captured.Usage.CostUSD
		return out, nil
	}
	return p.estimated(out, r)
}

// duration is how long an attempt is likely to take; 0 when nobody knows.
func (p *pricing) duration(address, key string) time.Duration {
	a, err := lang.ParseAddress(address)
	if err != nil {
		return 0
	}
	if at, ok := p.s.lastSelected(a); ok && at.Captured != nil {
		return at.Captured.Duration
	}
	k, err := cache.ParseKey(key)
	if err != nil {
		return 0
	}
	if err := p.open(); err != nil {
		return 0
	}
	return p.estimate(a, k).Duration
}

// open reads the ledger when the first estimate is asked for.
func (p *pricing) open() error {
	if p.estimate != nil {
		return nil
	}
	entries, err := p.s.accounts()
	if err != nil {
		return err
	}
	p.estimate = p.s.estimates(entries)
	return nil
}

func (p *pricing) estimated(out price, r *executor.NodeResult) (price, error) {
	if err := p.open(); err != nil {
		return out, err
	}
	e := p.estimate(r.Address, r.Key)
	out.Attempts, out.Duration, out.USD = e.N, e.Duration, e.CostUSD
	if out.AtMost > 0 && e.N > 0 {
		out.WorstTime = time.Duration(out.AtMost) * e.Duration
		if e.CostUSD != nil {
			usd := float64(out.AtMost) * *e.CostUSD
			out.WorstUSD = &usd
		}
	}
	return out, nil
}

// lastSelected is the attempt that an address read last, also when it was retried since.
func (s *session) lastSelected(a lang.Address) (cache.Attempt, bool) {
	last, ok := s.view.Last(a)
	if !ok {
		return cache.Attempt{}, false
	}
	attempts, err := s.store.Attempts(last.Key)
	if err != nil {
		return cache.Attempt{}, false
	}
	for _, at := range attempts {
		if at.Ordinal == last.Ordinal {
			return at, true
		}
	}
	return cache.Attempt{}, false
}

// words says the price of one node in a few words; "" when nothing is known.
func (p *price) words() string {
	switch {
	case p.WorstTime > 0 && p.WorstUSD != nil:
		return "at worst " + ui.Duration(p.WorstTime) + " and " + ui.Money(p.WorstUSD)
	case p.WorstTime > 0:
		return "at worst " + ui.Duration(p.WorstTime)
	case p.Duration == 0:
		return ""
	}
	words := "last took "
	if !p.Past {
		words = "likely takes "
	}
	return words + spentWords(p.Duration, p.USD)
}

// priceSum adds up the prices of a plan.
type priceSum struct{ past, likely, worst bill }

// bill is time, and money where something is paid for.
type bill struct {
	time time.Duration
	cost costSum
	paid bool
}

func (b *bill) add(d time.Duration, usd *float64, paid bool) {
	b.time += d
	b.paid = b.paid || paid
	b.cost.add(usd, paid)
}

// String leaves out money of which nothing at all is known.
func (b *bill) String() string {
	if b.paid && b.cost.usd > 0 {
		return ui.Duration(b.time) + " and " + b.cost.String()
	}
	return ui.Duration(b.time)
}

func (t *priceSum) add(p *price) {
	switch {
	case p.AtMost > 0:
		t.worst.add(p.WorstTime, p.WorstUSD, p.Paid)
	case p.Past:
		t.past.add(p.Duration, p.USD, p.Paid)
	default:
		t.likely.add(p.Duration, p.USD, p.Paid)
	}
}

// words ends the last line of a plan.
func (t *priceSum) words() string {
	s := ""
	if t.past.time > 0 {
		s += "; what may run took " + t.past.String() + " last time"
	}
	if t.likely.time > 0 {
		s += "; what is new likely takes " + t.likely.String()
	}
	if t.worst.time > 0 {
		s += "; what expands takes at worst " + t.worst.String()
	}
	return s
}

// priceReport is the price of a node in the JSON of plan. Fields that are missing are unknown.
type priceReport struct {
	PastMS    int64    `json:"past_ms,omitempty"`
	PastUSD   *float64 `json:"past_usd,omitempty"`
	LikelyMS  int64    `json:"likely_ms,omitempty"`
	LikelyUSD *float64 `json:"likely_usd,omitempty"`
	AtMost    int      `json:"at_most,omitempty"` // instances that a task may expand to
	WorstMS   int64    `json:"worst_ms,omitempty"`
	WorstUSD  *float64 `json:"worst_usd,omitempty"`
}

func (p *price) report() *priceReport {
	r := priceReport{AtMost: p.AtMost, WorstMS: p.WorstTime.Milliseconds(), WorstUSD: p.WorstUSD}
	if p.Past {
		r.PastMS, r.PastUSD = p.Duration.Milliseconds(), p.USD
	} else {
		r.LikelyMS, r.LikelyUSD = p.Duration.Milliseconds(), p.USD
	}
	if r == (priceReport{}) {
		return nil
	}
	return &r
}

// costSum adds up money of which parts may be unknown.
type costSum struct {
	usd     float64
	unknown bool
	counted bool // an attempt of an agent is in it
}

func newCostSum() *costSum { return &costSum{} }

// add adds a cost; counted says that there was an attempt that may have cost something.
func (c *costSum) add(usd *float64, counted bool) {
	switch {
	case usd != nil:
		c.usd += *usd
	case counted:
		c.unknown = true
	}
}

// addUsage adds what an attempt of an agent cost.
func (c *costSum) addUsage(u cache.Usage) {
	c.counted = true
	c.add(u.CostUSD, true)
	c.unknown = c.unknown || u.AtLeast
}

// String marks a sum with unknown parts as a lower bound.
func (c *costSum) String() string {
	s := ui.Money(&c.usd)
	if c.unknown {
		s += "+"
	}
	return s
}

package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/lang"
)

// ledgerDir holds the accounts across builds, beside the store: it survives a lost campaign directory.
func (s *session) ledgerDir() string { return filepath.Join(s.store.Dir(), "ledger") }

// account writes an attempt, or what a hit saved, into the ledger, and adds what ran to spent. lost is told of an
// attempt that could not be written: the next build writes it.
func (s *session) account(l *ledger.Ledger, build string, spent *costSum, lost func()) func(executor.Account) {
	return func(acc executor.Account) {
		e := entryOf(acc.Attempt)
		e.Campaign, e.Build, e.Profile, e.Model, e.Pool = s.campaign.Root, build, acc.Profile, acc.Model, acc.Pool
		if acc.Attempt.Captured == nil {
			e.Usage = acc.Seen
		}
		if acc.Hit {
			e.Time = time.Now() // that is when it was saved, whenever the attempt was made
			if acc.Attempt.From != nil {
				e.Elsewhere = 1
			}
			l.Hit(e)
			return
		}
		if acc.Attempt.Outcome == cache.OK {
			s.times.Note(acc.Attempt.Address, e.Duration)
		}
		if e.Profile != "" {
			spent.addUsage(e.Usage)
		}
		err := l.Append(e)
		if err != nil {
			lost()
			err = l.Append(e) // there may be room now
		}
		s.app.warn(err)
	}
}

// entryOf is the line of an attempt, as far as its own record goes.
func entryOf(at cache.Attempt) ledger.Entry {
	e := ledger.Entry{
		Kind: ledger.Ran, Campaign: at.Campaign, Build: at.Build, Time: at.EndedAt, Address: at.Address, Key: at.Key,
		Ordinal: at.Ordinal, Outcome: at.Outcome, Profile: at.Rung, Model: at.Agent.Model, Pool: at.Agent.Pool,
	}
	if c := at.Captured; c != nil {
		e.Duration, e.Usage = c.Duration, c.Usage
	}
	if e.Time.IsZero() {
		e.Time = time.Now() // it was captured, and waits for a person or a command that judges it
	}
	return e
}

// accountDead returns what writes into the ledger what attempts of dead builds took. Most of them are there:
// a build dies with few attempts under way.
func (s *session) accountDead(l *ledger.Ledger) func(cache.Attempt) {
	type attempt struct {
		key     cache.Key
		ordinal int
	}
	known := map[string]map[attempt]bool{} // by build
	return func(at cache.Attempt) {
		if known[at.Build] == nil {
			known[at.Build] = map[attempt]bool{}
			entries, _, err := ledger.Read(s.ledgerDir(), ledger.Filter{Build: at.Build})
			s.app.warn(err)
			for _, e := range entries {
				known[at.Build][attempt{e.Key, e.Ordinal}] = true
			}
		}
		if id := (attempt{at.Key, at.Ordinal}); !known[at.Build][id] {
			known[at.Build][id] = true
			s.app.warn(l.Append(entryOf(at)))
		}
	}
}

// openTimes opens what attempts of this campaign took.
func openTimes(root string) *ledger.Times {
	return ledger.OpenTimes(filepath.Join(root, journal.Dir, "times"))
}

// took answers how long the last good attempt at an address took.
func (s *session) took(a lang.Address) time.Duration { return s.times.Of(a.String()) }

// keepTimes saves them, without what the campaign does not have any more.
func (s *session) keepTimes() error {
	if s.slice != nil {
		return s.times.Save(nil)
	}
	known := make(map[string]bool, s.graph.Len())
	for _, n := range s.graph.Nodes() {
		known[n.Address.String()] = true
	}
	return s.times.Save(func(a string) bool { return known[a] })
}

// fund tells a build what it may spend, what was spent of it, and what is likely to be needed.
func (s *session) fund(b *executor.Builder, f buildFlags) error {
	b.Whole = f.stamp && len(f.targets) == 0
	s.limit(f.budget)
	return s.fundBy(b)
}

// fundBy is fund with the ceilings that the session knows.
func (s *session) fundBy(b *executor.Builder) error {
	b.Ceiling = s.campaign.Budget
	if !s.hasCeilings() {
		return nil
	}
	entries, err := s.allAccounts()
	if err != nil {
		return err
	}
	sp, err := s.spending(entries)
	if err != nil {
		return err
	}
	b.Spent, b.SpentOf, b.SpentAt, b.SpentBy = sp.all, sp.of, sp.at, sp.builds
	s.open = slices.Concat(sp.builds, sp.unnamed)
	b.Estimate = s.estimates(entries)
	return nil
}

// closeAccount tells the ledger, at the end of a build that leaves all fresh, whose spending that closes. The
// journal says it too, and is lost with the campaign's directory; what was spent is not.
func (s *session) closeAccount(l *ledger.Ledger, b *executor.Builder, sum *executor.Summary, spent *costSum) error {
	if !b.Whole || !sum.Complete() {
		return nil
	}
	ids := slices.Clone(s.open)
	if spent.counted { // a budget may be set later
		ids = append(ids, b.Build)
		builds, err := s.view.Builds()
		if err != nil {
			return err
		}
		closed, err := s.view.Closed()
		if err != nil {
			return err
		}
		for _, earlier := range builds {
			if !closed(earlier.ID) {
				ids = append(ids, earlier.ID)
			}
		}
	}
	if len(ids) == 0 {
		return nil
	}
	slices.Sort(ids)
	return l.Append(ledger.Entry{
		Kind: ledger.Closed, Campaign: s.campaign.Root, Build: b.Build, Time: time.Now(), Closes: slices.Compact(ids),
	})
}

// accounts are the entries of this campaign, without those that close accounts.
func (s *session) accounts() ([]ledger.Entry, error) {
	entries, err := s.allAccounts()
	return slices.DeleteFunc(entries, func(e ledger.Entry) bool { return e.Kind == ledger.Closed }), err
}

// allAccounts are the entries of this campaign.
func (s *session) allAccounts() ([]ledger.Entry, error) {
	ours := map[string]bool{} // a campaign that was moved goes on with its account
	builds, err := s.view.Builds()
	if err != nil {
		return nil, err
	}
	for _, b := range builds {
		ours[b.ID] = true
	}
	entries, lost, err := ledger.Read(s.ledgerDir(), ledger.Filter{Campaign: s.campaign.Root, Builds: ours})
	if lost > 0 {
		fmt.Fprintf(s.app.err, "warning: ledger: %d damaged stretches were passed over; sums are lower bounds\n", lost)
	}
	for i := range entries {
		entries[i].Campaign = s.campaign.Root
		s.price(&entries[i])
	}
	return entries, err
}

// price fills in what an attempt cost by the table of today, where neither its program nor the table of its
// day knew: it may have been salvaged by a build of another campaign.
func (s *session) price(e *ledger.Entry) {
	if e.Kind != ledger.Ran || e.Profile == "" || e.Usage.CostUSD != nil {
		return
	}
	p, ok := s.campaign.Prices[e.Usage.Model]
	if !ok {
		p, ok = s.campaign.Prices[e.Model]
	}
	if ok {
		e.Usage.CostUSD = budget.Price(p, e.Usage)
	}
}

// estimates answers what nodes are likely to take.
func (s *session) estimates(entries []ledger.Entry) func(lang.Address, cache.Key) ledger.Estimate {
	h := ledger.NewHistory(entries)
	return func(a lang.Address, k cache.Key) ledger.Estimate { return h.Estimate(s.campaign.Root, a.String(), k) }
}

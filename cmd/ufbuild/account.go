package main

import (
	"fmt"
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/lang"
)

// ledgerDir holds the accounts across builds, beside the store: it survives a lost campaign directory.
func (s *session) ledgerDir() string { return filepath.Join(s.store.Dir(), "ledger") }

// account writes an attempt, or what a hit saved, into the ledger, and adds what ran to spent.
func (s *session) account(l *ledger.Ledger, build string, spent *costSum, warn func(error)) func(executor.Account) {
	return func(acc executor.Account) {
		at := acc.Attempt
		e := ledger.Entry{
			Kind: ledger.Ran, Campaign: s.campaign.Root, Build: build, Time: at.EndedAt, Address: at.Address, Key: at.Key,
			Ordinal: at.Ordinal, Outcome: at.Outcome, Profile: acc.Profile, Model: acc.Model, Pool: acc.Pool,
		}
		if c := at.Captured; c != nil {
			e.Duration, e.Usage = c.Duration, c.Usage
		}
		if acc.Hit {
			l.Hit(e)
			return
		}
		if e.Profile != "" {
			spent.addUsage(e.Usage)
		}
		if err := l.Append(e); err != nil {
			warn(err)
		}
	}
}

// fund tells a build what it may spend, what was spent of it, and what is likely to be needed.
func (s *session) fund(b *executor.Builder, f buildFlags) error {
	b.Whole = f.stamp && len(f.targets) == 0
	b.Ceiling = s.campaign.Budget
	if f.budget > 0 {
		b.Ceiling.USD = f.budget
	}
	if f.budget == 0 && !s.hasCeilings() {
		return nil
	}
	entries, err := s.accounts()
	if err != nil {
		return err
	}
	sp := s.spending(entries)
	b.Spent, b.SpentOf, b.SpentBy = sp.all, sp.of, sp.builds
	b.Estimate = s.estimates(entries)
	return nil
}

// accounts are the entries of this campaign.
func (s *session) accounts() ([]ledger.Entry, error) {
	entries, lost, err := ledger.Read(s.ledgerDir(), ledger.Filter{Campaign: s.campaign.Root})
	if lost > 0 {
		fmt.Fprintf(s.app.err, "warning: ledger: %d damaged stretches were passed over; sums are lower bounds\n", lost)
	}
	return entries, err
}

// estimates answers what nodes are likely to take.
func (s *session) estimates(entries []ledger.Entry) func(lang.Address, cache.Key) ledger.Estimate {
	h := ledger.NewHistory(entries)
	return func(a lang.Address, k cache.Key) ledger.Estimate { return h.Estimate(s.campaign.Root, a.String(), k) }
}

package main

import (
	"path/filepath"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/ledger"
)

// ledgerDir holds the accounts across builds, beside the store: it survives a lost campaign directory.
func (s *session) ledgerDir() string { return filepath.Join(s.store.Dir(), "ledger") }

// account writes an attempt, or what a hit saved, into the ledger.
func (s *session) account(l *ledger.Ledger, build string, warn func(error)) func(executor.Account) {
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
		if err := l.Append(e); err != nil {
			warn(err)
		}
	}
}

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/remote"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/lang"
)

// reachedAt says how a remote is reached: "slurm with grpc://host:port". What it says of an attempt is kept with it.
func reachedAt(r *lang.Remote, address string) string {
	return r.Engine + " with " + remote.Name(address)
}

// unreached says why what was placed at a remote cannot be asked for there: the campaign has it no more, or means another one by
// its name. A verb without --remote may not know the address; then the engine counts.
func (s *session) unreached(p *cache.Placed) string {
	r, ok := s.campaign.RemoteNamed(p.Remote)
	if !ok {
		return fmt.Sprintf("the campaign has no remote %q any more", p.Remote)
	}
	address := cmp.Or(r.Address, s.remoteAddress, s.campaign.Remote)
	engine, _, _ := strings.Cut(p.At, " with ")
	now := reachedAt(r, address)
	if p.At == "" || p.At == now || address == "" && engine == r.Engine {
		return ""
	}
	return fmt.Sprintf("remote %q is %s now, and was %s", p.Remote, now, p.At)
}

// endTime bounds how long a retry tries to end what goes on elsewhere.
const endTime = 30 * time.Second

// endElsewhere ends the attempts of a retry that go on at a remote, so that nobody pays for what nobody wants. One that
// cannot be ended is told of; the retry is a person's decision all the same.
func (s *session) endElsewhere(inv executor.Invalidation, flags *remoteFlags, id string) {
	s.remoteAddress = flags.address
	f := s.enlist(nil, s.store, flags, id, func(string, string) {})
	accounts := ledger.Open(s.ledgerDir())
	defer func() { s.app.warn(errors.Join(f.closeClients(), accounts.Close())) }()
	account := s.accountDead(accounts)
	for _, n := range inv.Nodes {
		if n.Open == nil {
			continue
		}
		if err := s.endOne(f, n, account); err != nil {
			s.app.warn(fmt.Errorf("%s: it may go on at %s, and cost: %w", n.Address, n.Open, err))
			continue
		}
		fmt.Fprintf(s.app.err, "%s: ended at %s\n", n.Address, n.Open)
	}
}

// endOne ends one attempt, unless another build waits for it. What it cost until then nobody will learn, also when it cannot be ended,
// so the ledger hears first that it cost something.
func (s *session) endOne(f *fleet, n executor.InvalidatedNode, account func(cache.Attempt)) error {
	ctx, cancel := context.WithTimeout(s.app.context(), endTime)
	defer cancel()
	soon, stop := context.WithTimeout(ctx, time.Second)
	defer stop()
	release, err := s.store.Lock(soon, n.Key)
	if err != nil {
		return errors.New("another build that shares the store waits for it")
	}
	defer release()
	attempts, err := s.store.Attempts(n.Key)
	if err != nil {
		return err
	}
	for _, at := range attempts {
		if at.Ordinal == n.Selected && at.State == cache.Started {
			at.Outcome, at.EndedAt = cache.Cancelled, time.Now()
			account(at)
		}
	}
	if why := s.unreached(n.Open); why != "" {
		return errors.New(why)
	}
	r, err := f.runner(n.Open.Remote)
	if err != nil {
		return err
	}
	if err := r.End(ctx, *n.Open); err != nil {
		return err
	}
	return s.store.Append(cache.EndedRecord(n.Key, n.Selected, cache.Cancelled, "ended by retry "+f.build, time.Now()))
}

package executor

import (
	"fmt"
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// lostTries is how often a command runs again that got lost elsewhere, where its remote does not say. A lost prompt may have
// been paid for, so it does not run again by itself.
const lostTries = 2

// Granted divides what a remote grants at most (most; 0: not known) between a program with a timeout and what is done beside it over
// there: laying it out, and keeping what it left. Where both are more than it grants the program has less, since a remote keeps
// nothing of what it ends itself, and one that is asked for more refuses, or waits for ever. A timeout of more than most is refused before.
func Granted(timeout, beside, most time.Duration) (program, all time.Duration) {
	all = timeout + beside
	if most <= 0 || all <= most {
		return timeout, all
	}
	return min(timeout, most-min(beside, most/20)), most
}

// CutShort says that a program was stopped at less than its timeout; see Granted.
func CutShort(program, timeout time.Duration, remote string, most time.Duration) string {
	return fmt.Sprintf("was stopped after %s of its %s: remote %q grants %s (max_timeout) for all of it, and what it left has to be kept", program, timeout, remote, most)
}

// adopt finds the attempt of a key that a dead build had run elsewhere and nobody has waited for since. It goes on as the same
// attempt: what it does over there is paid for. The caller holds the key, so no living builder waits for it.
func (b *Builder) adopt(inst *lang.Instance, dec *Decision, attempts []cache.Attempt) (cache.Attempt, bool, error) {
	for _, at := range slices.Backward(attempts) {
		if !b.openElsewhere(&at) || b.unreached(&at) != "" {
			continue
		}
		if p, ok := b.Campaign.Profile(at.Rung); ok && p.Name != dec.Action.Profile {
			lower := inst.With(func(s *lang.Settings) { s.Profile = p })
			var err error
			if dec.Action, err = b.onRung(lower, dec.Action); err != nil {
				return at, false, err
			}
		}
		var err error
		at.Workspace, err = b.Work.begin(at.Key, at.Ordinal, inst.Address)
		return at, err == nil, err
	}
	return cache.Attempt{}, false, nil
}

// openElsewhere reports whether an attempt that nobody holds may go on at a remote.
func (d *Decider) openElsewhere(at *cache.Attempt) bool {
	if at.State != cache.Started || at.Placed == nil || at.Discarded != nil {
		return false
	}
	_, gone := d.View.DiscardedBy(journal.Attempt{Key: at.Key, Ordinal: at.Ordinal})
	return !gone
}

// unreached says why an attempt that is open elsewhere cannot be waited for.
func (d *Decider) unreached(at *cache.Attempt) string {
	if d.Unreached != nil {
		return d.Unreached(at.Placed)
	}
	if _, known := d.Campaign.RemoteNamed(at.Placed.Remote); !known {
		return fmt.Sprintf("the campaign has no remote %q any more", at.Placed.Remote)
	}
	return ""
}

// Stranded says that an attempt may go on at a remote which the campaign does not reach any more. To run it once more might pay
// for it twice.
type Stranded struct {
	Ordinal int
	Placed  cache.Placed
	Why     string
}

// Error implements error.
func (e *Stranded) Error() string {
	return fmt.Sprintf("attempt %d was given to %s and may go on there: %s\nhint: with the remote as it was a build waits for it; `ufbuild retry` gives it up and runs it again, which may pay for it twice", e.Ordinal, &e.Placed, e.Why)
}

// stranded finds an attempt of a key that may go on where nobody can ask for it.
func (d *Decider) stranded(attempts []cache.Attempt) *Stranded {
	for _, at := range slices.Backward(attempts) {
		if !d.openElsewhere(&at) {
			continue
		}
		if why := d.unreached(&at); why != "" {
			return &Stranded{at.Ordinal, *at.Placed, why}
		}
	}
	return nil
}

// passStranded lets a command begin beside an attempt of it that is stranded, and says so. A prompt may have been paid for.
func (b *Builder) passStranded(a *Action, attempts []cache.Attempt) error {
	left := b.stranded(attempts)
	switch {
	case left == nil:
		return nil
	case a.Kind == lang.Prompt:
		return left
	}
	b.emit(event.Event{Kind: event.Notice, Address: a.Address.String(), Text: fmt.Sprintf(
		"attempt %d was given to %s and may go on there: %s; it runs again", left.Ordinal, &left.Placed, left.Why)})
	return nil
}

// placing keeps where an attempt runs, before anything waits for it there. at must not be read while the attempt runs.
func (b *Builder) placing(at *cache.Attempt) func(cache.Placed) error {
	key, ordinal, turn := at.Key, at.Ordinal, 0
	if at.Placed != nil {
		turn = at.Placed.Turn
	}
	return func(p cache.Placed) error {
		turn++
		p.Turn = turn
		if err := b.Store.Append(cache.PlacedRecord(key, ordinal, p)); err != nil {
			return err
		}
		return b.Store.Sync()
	}
}

// toRemote adds what a remote needs to know.
func (b *Builder) toRemote(inv *Invocation, a *Action, at *cache.Attempt) {
	inv.Remote = a.Remote
	if at.Placed != nil {
		inv.Remote, inv.Placed = at.Placed.Remote, at.Placed
	}
	if inv.Remote == "" {
		return
	}
	inv.Place = b.placing(at)
	inv.ByName = slices.Clone(a.PassEnv)
	for _, s := range a.Secrets {
		inv.ByName = append(inv.ByName, s.Name)
	}
	slices.Sort(inv.ByName)
	inv.ByName = slices.Compact(inv.ByName)
}

// lostAgain says whether an attempt that got lost is made again, and counts it.
func (s *scheduler) lostAgain(n *nodeState, inst *lang.Instance) bool {
	limit := lostTries
	if inst.Profile != nil {
		limit = 0
	}
	if r, ok := s.b.Campaign.RemoteNamed(n.decision.Action.Remote); ok && r.RetryLost >= 0 {
		limit = r.RetryLost
	}
	n.lost++
	return int(n.lost) <= limit
}

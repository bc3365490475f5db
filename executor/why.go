package executor

import (
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/lang"
)

// reason says why a node is stale. The order is from what a person did to what the files say: the
// first that applies is what the user can act on.
func (d *Decider) reason(inst *lang.Instance, dec *Decision, attempts []cache.Attempt, seen *sightings) Reason {
	if last := len(attempts) - 1; last >= 0 && d.openElsewhere(&attempts[last]) && d.unreached(&attempts[last]) == "" {
		return Reason{Kind: RunsThere, Ordinal: attempts[last].Ordinal, Detail: attempts[last].Placed.String()}
	}
	if left := d.stranded(attempts); left != nil {
		return Reason{Kind: LeftThere, Ordinal: left.Ordinal, Detail: left.Placed.String(), Why: left.Why}
	}
	switch {
	case !inst.Cache:
		return Reason{Kind: NeverCached}
	case seen.damage != nil:
		return damageReason(seen)
	}
	if r, ok := d.retryReason(dec, attempts); ok {
		return r
	}
	if seen.failing != nil {
		return d.withChanges(Reason{Kind: FailsContract, Ordinal: seen.ordinal, Messages: seen.failing.Messages}, dec)
	}
	if u := d.unstored(attempts); u != nil {
		return Reason{Kind: NotStoredYet, Ordinal: u.Ordinal, Detail: u.Dir}
	}
	if r, ok := lastReason(attempts); ok {
		return d.withChanges(r, dec)
	}
	if r, ok := d.changeReason(dec); ok {
		return r
	}
	if last, ok := d.View.Last(dec.Action.Address); ok && len(attempts) == 0 {
		return Reason{Kind: NotInStore, Ordinal: last.Ordinal}
	}
	return Reason{Kind: FirstAttempt}
}

func damageReason(seen *sightings) Reason {
	r := Reason{Kind: BlobCorrupt, Ordinal: seen.ordinal, Detail: seen.damage.Error()}
	if cache.IsMissing(seen.damage) {
		r.Kind = BlobMissing
	}
	return r
}

// retryReason applies when the attempt that the address read last was retried, or when the attempts
// of the key were discarded by another campaign that shares the store.
func (d *Decider) retryReason(dec *Decision, attempts []cache.Attempt) (Reason, bool) {
	if last, ok := d.View.Last(dec.Action.Address); ok {
		r, gone := d.View.DiscardedBy(last.Attempt)
		if gone && !(last.Key == dec.Key && d.answered(attempts, last.Ordinal)) {
			out := Reason{Kind: Retried, Who: r.Who, Why: r.Why, When: r.Time, RetryID: r.ID, Ordinal: last.Ordinal}
			if last.Key != dec.Key {
				out.Changes = d.changesSince(last.Attempt, dec)
			}
			return out, true
		}
	}
	for i := len(attempts) - 1; i >= 0; i-- {
		a := attempts[i]
		if r, gone := d.View.DiscardedBy(journal.Attempt{Key: a.Key, Ordinal: a.Ordinal}); gone {
			return Reason{Kind: Retried, Who: r.Who, Why: r.Why, When: r.Time, RetryID: r.ID, Ordinal: a.Ordinal}, true
		}
		if a.Discarded != nil && countsIfKept(&a) {
			return Reason{Kind: DiscardedBy, Who: a.Discarded.Who, Why: a.Discarded.Why, When: a.Discarded.When, RetryID: a.Discarded.ID, Ordinal: a.Ordinal, Detail: a.Discarded.Campaign}, true
		}
		if d.answers(&a) {
			return Reason{}, false
		}
	}
	return Reason{}, false
}

// answered reports whether a retry that discarded the attempt with an ordinal was carried out under the same key: what is wrong
// now is wrong with what that made, and the retry explains nothing any more.
func (d *Decider) answered(attempts []cache.Attempt, ordinal int) bool {
	return slices.ContainsFunc(attempts, func(a cache.Attempt) bool { return a.Ordinal > ordinal && d.answers(&a) })
}

// answers reports whether an attempt left what a contract can judge, and nobody has discarded it.
func (d *Decider) answers(a *cache.Attempt) bool {
	_, gone := d.View.DiscardedBy(journal.Attempt{Key: a.Key, Ordinal: a.Ordinal})
	return !gone && a.Discarded == nil && a.Captured != nil && (countsIfKept(a) || a.Outcome == cache.Rejected)
}

func countsIfKept(a *cache.Attempt) bool {
	return a.Captured != nil && (a.Outcome == cache.OK || a.Outcome == cache.Partial)
}

// lastReason applies when the newest attempt of the key did not succeed.
func lastReason(attempts []cache.Attempt) (Reason, bool) {
	if len(attempts) == 0 {
		return Reason{}, false
	}
	a := attempts[len(attempts)-1]
	if a.State != cache.Ended || a.Outcome == cache.Interrupted {
		return Reason{Kind: Interrupted, Ordinal: a.Ordinal, Outcome: cache.Interrupted}, true
	}
	if a.Outcome == cache.OK || a.Outcome == cache.Partial {
		return Reason{}, false
	}
	return Reason{Kind: LastFailed, Ordinal: a.Ordinal, Outcome: a.Outcome, Messages: nonEmpty(a.Message)}, true
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// changeReason applies when the address read an attempt of another key before.
func (d *Decider) changeReason(dec *Decision) (Reason, bool) {
	last, ok := d.View.Last(dec.Action.Address)
	if !ok || last.Key == dec.Key {
		return Reason{}, false
	}
	return Reason{Kind: Changed, Ordinal: last.Ordinal, Changes: d.changesSince(last.Attempt, dec)}, true
}

// withChanges adds to a reason what made the key differ from what the address read last: that is why the attempt ran of which
// the reason speaks.
func (d *Decider) withChanges(r Reason, dec *Decision) Reason {
	if c, ok := d.changeReason(dec); ok {
		r.Changes = c.Changes
	}
	return r
}

// changesSince compares with the manifest of an earlier attempt. A manifest that is gone leaves the
// changes unknown, which is no reason to fail.
func (d *Decider) changesSince(last journal.Attempt, dec *Decision) []Change {
	old, err := d.manifestOf(last)
	if err != nil {
		return nil
	}
	return DiffManifests(old, dec.Manifest, dec.Action.Inflows)
}

// maxManifest bounds a manifest that is read back; the largest prompt is 256 KiB.
const maxManifest = 64 << 20

func (d *Decider) manifestOf(at journal.Attempt) ([]byte, error) {
	a, ok, err := findAttempt(d.Store, at)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, cache.ErrMissing{}
	}
	return cache.ReadAll(d.Store, a.Manifest, maxManifest)
}

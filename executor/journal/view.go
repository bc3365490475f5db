package journal

import (
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// View is what the records of a journal add up to. It is a value: nobody changes it after Fold.
type View struct {
	Selected map[lang.Address]Selection // what readers read now
	Last     map[lang.Address]Selection // what was selected last, even when it was retried since
	Ended    map[lang.Address]Ended     // how the last attempt ended
	Skipped  map[lang.Address]Skip      // why the last build that wanted it did not run it, while the cause has not succeeded since
	Retries  []Retry                    // oldest first
	Rulings  []Ruling                   // oldest first
	Builds   []Build                    // oldest first
	History  map[lang.Address][]Attempt // attempts of an address, oldest first, each once

	Decisions map[lang.Address][]Decision // what persons did, oldest first

	Own      map[string]bool // files that the campaign named when it was built last
	Disowned []Disowned      // files that it named before

	concerned map[string][]lang.Address       // of a decision, by its ID
	skippedBy map[lang.Address][]lang.Address // by the cause, what Skipped may name it for
	approvals map[approvalKey]Approval
	closed    map[string]bool // builds before all was fresh
	discarded map[Attempt]int // index into Retries of the live retry that discards it
	seen      map[historyKey]bool
}

type approvalKey struct {
	address lang.Address
	outputs digest.Digest
}

type historyKey struct {
	address lang.Address
	attempt Attempt
}

func newView() *View {
	return &View{
		Selected:  map[lang.Address]Selection{},
		Last:      map[lang.Address]Selection{},
		Ended:     map[lang.Address]Ended{},
		Skipped:   map[lang.Address]Skip{},
		History:   map[lang.Address][]Attempt{},
		Decisions: map[lang.Address][]Decision{},
		concerned: map[string][]lang.Address{},
		skippedBy: map[lang.Address][]lang.Address{},
		approvals: map[approvalKey]Approval{},
		Own:       map[string]bool{},
		closed:    map[string]bool{},
		discarded: map[Attempt]int{},
		seen:      map[historyKey]bool{},
	}
}

// Fold adds up records in their order. The order of records is the only order there is: times in
// them are never looked at.
func Fold(records []Record) *View {
	v := newView()
	for i := range records {
		v.apply(&records[i])
	}
	return v
}

// DiscardedBy returns the retry of this campaign that discards the attempt and was not undone.
func (v *View) DiscardedBy(a Attempt) (Retry, bool) {
	i, ok := v.discarded[a]
	if !ok {
		return Retry{}, false
	}
	return v.Retries[i], true
}

// LastRetry returns the newest retry that was not undone.
func (v *View) LastRetry() (Retry, bool) {
	for _, r := range slices.Backward(v.Retries) {
		if !r.Undone {
			return r, true
		}
	}
	return Retry{}, false
}

func (v *View) apply(r *Record) {
	v.decide(r)
	switch r.Kind {
	case kindBuildStarted:
		v.Builds = append(v.Builds, Build{ID: r.Build, Who: r.Who, Started: r.Time, Targets: r.Targets})
	case kindBuildEnded:
		v.endBuild(r)
	case kindSelected:
		v.selectAttempt(r)
	case kindEnded:
		v.Ended[r.Address] = Ended{Attempt: Attempt{r.Key, r.Ordinal}, Outcome: cache.Outcome(r.Outcome), Message: r.Message, Build: r.Build, Time: r.Time}
		delete(v.Skipped, r.Address)
		v.remember(r)
	case kindSkipped:
		v.Skipped[r.Address] = Skip{Cause: r.Cause, Message: r.Message, Build: r.Build, Time: r.Time}
		v.skippedBy[r.Cause] = append(v.skippedBy[r.Cause], r.Address)
	case kindRetry:
		v.retry(r)
	case kindApproval:
		v.approve(r)
	case kindRuling:
		v.rule(r)
	case kindOwn:
		v.own(r)
	case kindUndo:
		v.unrule(r.Undoes)
		v.undo(r)
	}
}

// ApprovalOf returns what was said last of the bytes of an address.
func (v *View) ApprovalOf(a lang.Address, outputs digest.Digest) (Approval, bool) {
	said, ok := v.approvals[approvalKey{a, outputs}]
	return said, ok
}

// Closed reports whether all of the campaign was fresh at the end of a build or since: what it spent is in
// no budget any more.
func (v *View) Closed(build string) bool { return v.closed[build] }

func (v *View) close(r *Record) {
	for _, b := range v.Builds {
		v.closed[b.ID] = true
	}
	for _, id := range r.Closes {
		v.closed[id] = true
	}
}

func (v *View) endBuild(r *Record) {
	if r.Complete {
		v.close(r)
	}
	for i := range slices.Backward(v.Builds) {
		if v.Builds[i].ID == r.Build {
			v.Builds[i].Ended, v.Builds[i].Counts = r.Time, r.Counts
			return
		}
	}
}

func (v *View) selectAttempt(r *Record) {
	s := Selection{Attempt: Attempt{r.Key, r.Ordinal}, Build: r.Build, Time: r.Time, Reason: r.Reason}
	v.Selected[r.Address], v.Last[r.Address] = s, s
	delete(v.Skipped, r.Address)
	for _, a := range v.skippedBy[r.Address] { // what kept them from running is gone, also from templates, which never run
		if v.Skipped[a].Cause == r.Address {
			delete(v.Skipped, a)
		}
	}
	delete(v.skippedBy, r.Address)
	v.remember(r)
}

func (v *View) remember(r *Record) {
	k := historyKey{r.Address, Attempt{r.Key, r.Ordinal}}
	if !v.seen[k] {
		v.seen[k] = true
		v.History[r.Address] = append(v.History[r.Address], k.attempt)
	}
}

func (v *View) retry(r *Record) {
	v.Retries = append(v.Retries, Retry{ID: r.ID, Who: r.Who, Why: r.Why, Time: r.Time, Targets: r.Targets, Nodes: r.Nodes})
	for _, n := range r.Nodes {
		delete(v.Selected, n.Address)
		for _, o := range n.Discards {
			v.discarded[Attempt{n.Key, o}] = len(v.Retries) - 1
		}
	}
}

func (v *View) undo(r *Record) {
	for i := range v.Retries {
		if v.Retries[i].ID == r.Undoes {
			v.Retries[i].Undone = true
		}
	}
	for _, n := range r.Nodes {
		for _, o := range n.Discards {
			delete(v.discarded, Attempt{n.Key, o})
		}
		if n.Selected > 0 {
			s := Selection{Attempt: Attempt{n.Key, n.Selected}, Time: r.Time, Reason: "undo of " + r.Undoes}
			v.Selected[n.Address], v.Last[n.Address] = s, s
		}
	}
}

package journal

import (
	"slices"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// View is what the records of a journal add up to. It is a value: nobody changes it once its records are read. Its
// fields are what counts now, with what is selected; what was is asked for by methods too, and read when it is.
type View struct {
	Skipped map[lang.Address]Skip // why the last build that wanted it did not run it, while the cause has not succeeded since
	Retries []Retry               // oldest first
	Rulings []Ruling              // oldest first

	Own      map[string]bool // files that the campaign named when it was built last
	Disowned []Disowned      // files that it named before

	skippedBy map[lang.Address][]lang.Address // by the cause, what Skipped may name it for
	approvals map[approvalKey]Approval
	discarded map[Attempt]int // index into Retries of the live retry that discards it
	open      int             // how many builds, from the first, came before all was fresh

	rows                   // by address what is selected and how attempts ended
	wanted map[string]bool // names of the tasks that the view is about; nil for all

	root string // of the campaign; "" for a view of records that are in no file
	end  int64  // of the last record in the journal

	mu sync.Mutex // guards what follows, which is read when it is asked for
	past
}

type approvalKey struct {
	address lang.Address
	outputs digest.Digest
}

func newView() *View {
	return &View{
		rows:      newRows(),
		Skipped:   map[lang.Address]Skip{},
		Own:       map[string]bool{},
		skippedBy: map[lang.Address][]lang.Address{},
		approvals: map[approvalKey]Approval{},
		discarded: map[Attempt]int{},
		past:      newPast(),
	}
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

// apply adds a record. An error is one of the checkpoint that v began with, and v is then of no use.
func (v *View) apply(r *Record) error {
	if err := v.decide(r); err != nil {
		return err
	}
	switch r.Kind {
	case kindBuildStarted:
		v.builds = append(v.builds, Build{ID: r.Build, Who: r.Who, Started: r.Time, Targets: r.Targets})
	case kindBuildEnded:
		return v.endBuild(r)
	case kindSelected:
		return v.selectAttempt(r)
	case kindEnded:
		v.noteEnd(r.Address, Ended{Attempt: Attempt{r.Key, r.Ordinal}, Outcome: cache.Outcome(r.Outcome), Message: r.Message, Build: r.Build, Time: r.Time})
		delete(v.Skipped, r.Address)
		return v.remember(r)
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
		v.unrule(r)
		v.undo(r)
	}
	return nil
}

// ApprovalOf returns what was said last of the bytes of an address.
func (v *View) ApprovalOf(a lang.Address, outputs digest.Digest) (Approval, bool) {
	said, ok := v.approvals[approvalKey{a, outputs}]
	return said, ok
}

func (v *View) selectAttempt(r *Record) error {
	v.pick(r.Address, Selection{Attempt: Attempt{r.Key, r.Ordinal}, Build: r.Build, Time: r.Time, Reason: r.Reason})
	delete(v.Skipped, r.Address)
	for _, a := range v.skippedBy[r.Address] { // what kept them from running is gone, also from templates, which never run
		if v.Skipped[a].Cause == r.Address {
			delete(v.Skipped, a)
		}
	}
	delete(v.skippedBy, r.Address)
	return v.remember(r)
}

func (v *View) retry(r *Record) {
	v.Retries = append(v.Retries, Retry{ID: r.ID, Who: r.Who, Why: r.Why, Time: r.Time, Targets: r.Targets, Nodes: r.Nodes})
	for _, n := range r.Nodes {
		v.unpick(n.Address)
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
			v.restore(n.Address, Attempt{n.Key, n.Selected}, r)
		}
	}
}

// restore lets an address read what it read before what was undone.
func (v *View) restore(a lang.Address, at Attempt, undone *Record) {
	v.pick(a, Selection{Attempt: at, Time: undone.Time, Reason: "undo of " + undone.Undoes})
}

package journal

import (
	"slices"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

// RulingOf returns what a person said last of an address and a key, unless it was taken back or a retry
// discarded the attempt since.
func (v *View) RulingOf(a lang.Address, k cache.Key) (Ruling, bool) {
	for _, r := range slices.Backward(v.Rulings) {
		if r.Undone || r.Address != a || r.For != k || r.Word == Unpin {
			continue
		}
		if i, gone := v.discarded[r.Attempt]; gone && i >= r.retries {
			return Ruling{}, false
		}
		return r, true
	}
	return Ruling{}, false
}

// PinOf returns the pin that holds an attempt at an address.
func (v *View) PinOf(a lang.Address, at Attempt) (Ruling, bool) {
	for _, r := range slices.Backward(v.Rulings) {
		if !r.Undone && r.Address == a && r.Attempt == at && (r.Word == Pin || r.Word == Unpin) {
			return r, r.Word == Pin
		}
	}
	return Ruling{}, false
}

// LastRuling returns the newest ruling that was not undone, if no standing retry came after it.
func (v *View) LastRuling() (Ruling, bool) {
	for _, r := range slices.Backward(v.Rulings) {
		if r.Undone {
			continue
		}
		for _, later := range v.Retries[r.retries:] {
			if !later.Undone {
				return Ruling{}, false
			}
		}
		return r, true
	}
	return Ruling{}, false
}

// Together returns what was said in the same breath as a ruling, itself included, oldest first.
func (v *View) Together(r Ruling) []Ruling {
	var all []Ruling
	for _, other := range v.Rulings {
		if other.ID == r.ID {
			all = append(all, other)
		}
	}
	return all
}

func (v *View) rule(r *Record) {
	for _, c := range r.choices() {
		before, _ := v.Selected(c.Address)
		rl := Ruling{
			Attempt: Attempt{c.Key, c.Ordinal}, ID: r.ID, Address: c.Address, Word: r.Word, For: c.For, Verdict: c.Verdict,
			Who: r.Who, Why: r.Why, Time: r.Time, Before: before, retries: len(v.Retries),
		}
		v.Rulings = append(v.Rulings, rl)
		if r.Word != Unpin {
			v.pick(c.Address, Selection{Attempt: rl.Attempt, Time: r.Time, Reason: string(r.Word) + " by " + r.Who})
		}
	}
}

// approve keeps what a person said of bytes. It is a ruling too, so that it can be taken back in its turn.
func (v *View) approve(r *Record) {
	said := Approval{ID: r.ID, Denied: r.Denied, Who: r.Who, Why: r.Why, Time: r.Time}
	v.approvals[approvalKey{r.Address, r.Outputs}] = said
	if r.ID == "" {
		return // of an earlier release: nothing could name it
	}
	word := Approve
	if r.Denied {
		word = Deny
	}
	v.Rulings = append(v.Rulings, Ruling{
		Attempt: Attempt{r.Key, r.Ordinal}, ID: r.ID, Address: r.Address, Word: word, Outputs: r.Outputs,
		Who: r.Who, Why: r.Why, Time: r.Time, retries: len(v.Retries),
	})
}

// unapprove lets what was said before of the same bytes count again.
func (v *View) unapprove(undone *Ruling) {
	k := approvalKey{undone.Address, undone.Outputs}
	delete(v.approvals, k)
	for _, r := range v.Rulings {
		if !r.Undone && r.Address == k.address && r.Outputs == k.outputs && (r.Word == Approve || r.Word == Deny) {
			v.approvals[k] = Approval{ID: r.ID, Denied: r.Word == Deny, Who: r.Who, Why: r.Why, Time: r.Time}
		}
	}
}

// unrule takes back the ruling that undone names: the address reads what it read before, where the ruling had changed that.
func (v *View) unrule(undone *Record) {
	for i := range v.Rulings {
		r := &v.Rulings[i]
		if r.ID != undone.Undoes || r.Undone {
			continue
		}
		r.Undone = true
		switch {
		case r.Word == Approve, r.Word == Deny:
			v.unapprove(r)
		case r.Word == Unpin: // it changed nothing of what is read
		case r.Before.Ordinal == 0:
			v.unpick(r.Address)
		default:
			v.restore(r.Address, r.Before.Attempt, undone)
		}
	}
}

package journal

import (
	"time"

	"github.com/ufbuild/ufbuild/lang"
)

// Decision is what a person did to an address: a retry, a ruling, an approval, or taking one of them back.
type Decision struct {
	Attempt // that was retried, chosen or looked at; zero when there was none
	ID      string
	Word    string // "retry", "accept", "select", "pin", "unpin", "approve", "deny", "recheck", "undo"
	Undoes  string // undo: the ID of what it took back
	Who     string
	Why     string
	Time    time.Time
	Undone  bool
}

// decide adds what r says a person did to the histories of the addresses it concerns.
func (v *View) decide(r *Record) error {
	switch r.Kind {
	case kindRetry, kindRecheck, kindRuling, kindApproval, kindUndo:
		if err := v.needDecisions(); err != nil {
			return err
		}
	default:
		return nil
	}
	d := Decision{Attempt: Attempt{r.Key, r.Ordinal}, ID: r.ID, Who: r.Who, Why: r.Why, Time: r.Time}
	switch r.Kind {
	case kindRetry:
		d.Word = "retry"
		for _, n := range r.Nodes {
			d.Attempt = Attempt{}
			if n.Selected > 0 {
				d.Attempt = Attempt{n.Key, n.Selected}
			}
			v.note(n.Address, d)
		}
	case kindRecheck:
		d.Word, d.Attempt = "recheck", Attempt{}
		for _, n := range r.Nodes {
			v.note(n.Address, d)
		}
	case kindRuling:
		d.Word = string(r.Word)
		for _, c := range r.choices() {
			d.Attempt = Attempt{c.Key, c.Ordinal}
			v.note(c.Address, d)
		}
	case kindApproval:
		d.Word = "approve"
		if r.Denied {
			d.Word = "deny"
		}
		v.note(r.Address, d)
	case kindUndo:
		v.takeBack(r, d)
	}
	return nil
}

// takeBack notes at all addresses that a decision concerned that it was undone.
func (v *View) takeBack(r *Record, d Decision) {
	d.Word, d.Undoes = "undo", r.Undoes
	for _, a := range v.concerned[r.Undoes] {
		for i := range v.decisions[a] {
			if was := &v.decisions[a][i]; was.ID == r.Undoes {
				was.Undone, d.Attempt = true, was.Attempt
			}
		}
		v.note(a, d)
	}
}

func (v *View) note(a lang.Address, d Decision) {
	v.decisions[a] = append(v.decisions[a], d)
	if d.ID != "" {
		v.concerned[d.ID] = append(v.concerned[d.ID], a)
	}
}

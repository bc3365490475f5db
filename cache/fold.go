package cache

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Fold turns the records of k into its attempts, in order of their ordinals. Records of other keys are ignored. The result
// depends on the set of records alone, neither on their order nor on repetitions: where two say different things the rules
// below choose, so that every reader of several logs chooses alike.
//
//   - Of two starts or two captures of one ordinal (which only a broken lock could make) the capture with more existing
//     outputs, then the smaller text, counts.
//   - Of several places the one of the highest turn counts.
//   - Of two ends the outcome that stands earlier in the closed set counts; interrupted, which another builder may have
//     guessed, yields to all others.
//   - Verdicts follow Verdict.Round.
//   - A discard stands unless a restore has its ID.
func Fold(k Key, records []Record) []Attempt {
	byOrdinal := map[int]*folding{}
	for _, r := range records {
		if r.Key != k || !r.known() {
			continue
		}
		f := byOrdinal[r.Ordinal]
		if f == nil {
			f = &folding{}
			byOrdinal[r.Ordinal] = f
		}
		f.add(r)
	}
	out := make([]Attempt, 0, len(byOrdinal))
	for n, f := range byOrdinal {
		out = append(out, f.attempt(k, n))
	}
	slices.SortFunc(out, func(a, b Attempt) int { return cmp.Compare(a.Ordinal, b.Ordinal) })
	return out
}

// folding is what the records of one ordinal say.
type folding struct {
	start, placed *Record
	captured, end *Record
	verdicts      map[VerdictKey]Verdict
	discards      map[string]Discard
	restored      map[string]bool
}

func (f *folding) add(r Record) {
	switch r.Kind {
	case KindStarted:
		f.start = choose(f.start, &r, func(*Record) int { return 0 })
	case KindPlaced:
		f.placed = choose(f.placed, &r, func(r *Record) int { return -r.Placed.Turn })
	case KindCaptured:
		f.captured = choose(f.captured, &r, func(r *Record) int { return -existing(r.Captured.Outputs) })
	case KindEnded:
		f.end = choose(f.end, &r, func(r *Record) int { return endRank(r.End.Outcome) })
	case KindVerdict:
		f.addVerdict(*r.Verdict)
	case KindDiscard:
		f.addDiscard(*r.Discard)
	case KindRestore:
		if f.restored == nil {
			f.restored = map[string]bool{}
		}
		f.restored[r.Discard.ID] = true
	}
}

// choose returns the one of lower rank, or of smaller text.
func choose(have, r *Record, rank func(*Record) int) *Record {
	if have == nil {
		return r
	}
	if c := cmp.Compare(rank(r), rank(have)); c != 0 {
		if c < 0 {
			return r
		}
		return have
	}
	if bytes.Compare(text(r), text(have)) < 0 {
		return r
	}
	return have
}

// text is a total order over facts; it matters in conflicts only, so its price does not.
func text(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("BUG: encode %T: %v", v, err))
	}
	return b
}

func existing(outputs []Output) int {
	n := 0
	for _, o := range outputs {
		n += b2i(o.Exists)
	}
	return n
}

// endRank puts unknown outcomes before interrupted: somebody newer knew better than a guess.
func endRank(o Outcome) int {
	if o == Interrupted {
		return len(outcomes) + 1
	}
	return o.rank()
}

func (f *folding) addVerdict(v Verdict) {
	if f.verdicts == nil {
		f.verdicts = map[VerdictKey]Verdict{}
	}
	if have, ok := f.verdicts[v.Key]; ok && !outranks(v, have) {
		return
	}
	f.verdicts[v.Key] = v
}

func outranks(v, have Verdict) bool {
	c := cmp.Or(
		cmp.Compare(have.Round, v.Round),
		cmp.Compare(b2i(v.Inconclusive), b2i(have.Inconclusive)),
		cmp.Compare(b2i(v.Pass), b2i(have.Pass)),
	)
	if c == 0 {
		c = bytes.Compare(text(v), text(have))
	}
	return c < 0
}

func (f *folding) addDiscard(d Discard) {
	if f.discards == nil {
		f.discards = map[string]Discard{}
	}
	if have, ok := f.discards[d.ID]; ok && bytes.Compare(text(d), text(have)) >= 0 {
		return
	}
	f.discards[d.ID] = d
}

func (f *folding) attempt(k Key, n int) Attempt {
	a := Attempt{Key: k, Ordinal: n, Verdicts: f.verdicts}
	f.setStart(&a)
	f.setState(&a)
	for id, d := range f.discards {
		if !f.restored[id] {
			a.Discards = append(a.Discards, d)
		}
	}
	if last := len(a.Discards) - 1; last >= 0 {
		slices.SortFunc(a.Discards, func(x, y Discard) int { return cmp.Compare(x.ID, y.ID) })
		a.Discarded = &a.Discards[last]
	}
	return a
}

func (f *folding) setStart(a *Attempt) {
	if f.start == nil {
		return
	}
	s := f.start.Start
	a.Address, a.Campaign, a.Build = s.Address, s.Campaign, s.Build
	a.Manifest, a.Prompt, a.Feedback = s.Manifest, s.Prompt, s.Feedback
	a.Reason, a.Rung, a.Agent, a.Owner, a.Workspace, a.From = s.Reason, s.Rung, s.Agent, s.Owner, s.Workspace, s.From
	a.StartedAt = f.start.At
}

func (f *folding) setState(a *Attempt) {
	if f.placed != nil {
		a.Placed = f.placed.Placed
	}
	if f.captured != nil {
		a.Captured = f.captured.Captured
	}
	switch {
	case f.end != nil:
		a.State, a.Outcome, a.Message, a.EndedAt = Ended, f.end.End.Outcome, f.end.End.Message, f.end.At
	case f.captured != nil:
		a.State = CapturedState
	case f.start != nil:
		a.State = Started
	default: // nothing can be waited for or reaped, but the ordinal stays used
		a.State, a.Outcome, a.Message = Ended, Interrupted, "the record of its start is lost"
	}
}

package executor

import (
	"context"

	"github.com/ufbuild/ufbuild/executor/place"
)

// tryRuling makes a node fresh by the attempt that a person chose for its key, whatever key the attempt
// was made under. It counts while its bytes are there, and its outputs pass or fail exactly as they did
// when the person looked.
func (d *Decider) tryRuling(ctx context.Context, dec *Decision) bool {
	r, ok := d.View.RulingOf(dec.Action.Address, dec.Key)
	if !ok {
		return false
	}
	at, ok, err := findAttempt(d.Store, r.Attempt)
	if err != nil || !ok || at.Captured == nil {
		return false
	}
	v, _, err := d.judge(ctx, dec.Action, at.Captured.Outputs, at.Verdicts)
	if err != nil || !v.Pass && v.Key != r.Verdict {
		return false
	}
	dec.Place, dec.Differ = d.Placer.Check(dec.Action.Address, at.Captured.Outputs, outPaths(dec.Action.Outputs))
	if dec.Place != place.InPlace && d.verify(at.Captured.Outputs) != nil {
		return false
	}
	dec.Answer, dec.Attempt, dec.Verdict = Fresh, at, v
	return true
}

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
	mends, err := d.whole(dec.Action, at.Captured.Outputs, d.lookAt(dec))
	if err != nil {
		return false
	}
	v, _, err := d.judge(ctx, dec.Action, at.Captured.Outputs, at.Verdicts)
	if damaged(err) && !d.among(at.Captured.Outputs, err) {
		dec.Answer, dec.Err = Broken, err // bytes of another task that it is judged by, which has to make them again
		return true
	}
	if err != nil || !v.Pass && v.Key != r.Verdict {
		return false
	}
	d.lookInPlace(dec, &at)
	if dec.Place != place.InPlace {
		if mends, err = d.whole(dec.Action, at.Captured.Outputs, d.reads); err != nil {
			return false
		}
	}
	dec.Answer, dec.Attempt, dec.Verdict, dec.Mends = Fresh, at, v, mends
	return true
}

package executor

import (
	"context"

	"github.com/ufbuild/ufbuild/executor/place"
)

// tryRuling makes a node fresh by the attempt that a person chose for its key, whatever key the attempt
// was made under. It counts while its bytes are there, and its outputs pass or fail exactly as they did
// when the person looked. What cannot be read is no reason to run it again.
func (d *Decider) tryRuling(ctx context.Context, dec *Decision) bool {
	r, ok := d.View.RulingOf(dec.Action.Address, dec.Key)
	if !ok {
		return false
	}
	broken := func(err error) bool {
		dec.Answer, dec.Err = Broken, err
		return true
	}
	at, ok, err := findAttempt(d.Store, r.Attempt)
	if err != nil {
		return broken(err)
	}
	if !ok || at.Captured == nil {
		return false
	}
	mends, err := d.whole(dec.Action, at.Captured.Outputs, d.lookAt(dec))
	if err != nil {
		return !damaged(err) && broken(err)
	}
	v, _, err := d.judge(ctx, dec.Action, at.Captured.Outputs, at.Verdicts)
	switch {
	case damaged(err) && d.among(at.Captured.Outputs, err):
		return false
	case err != nil: // also bytes of another task that it is judged by, which has to make them again
		return broken(err)
	case !v.Pass && v.Key != r.Verdict:
		return false
	}
	d.lookInPlace(dec, &at)
	if dec.Place != place.InPlace {
		if mends, err = d.whole(dec.Action, at.Captured.Outputs, d.reads); err != nil {
			return !damaged(err) && broken(err)
		}
	}
	dec.Answer, dec.Attempt, dec.Verdict, dec.Mends = Fresh, at, v, mends
	return true
}

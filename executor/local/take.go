package local

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/workspace"
)

// captureTries is how often it is tried to store what an attempt left: trouble that comes and goes must not cost a
// result, and waiting would not end trouble that stays.
const captureTries = 2

// take captures what an ended attempt left: whatever stopped it, its bytes are paid for.
func (r *Runner) take(ctx context.Context, inv *executor.Invocation, note *workspace.Note, laid *workspace.Laid, end ending) (cache.Captured, error) {
	if inv.Paid {
		// That it cannot be noted matters only if it cannot be stored either.
		_ = note.Write(end.noted(), false)
	}
	inv.Enter(event.Capture)
	var err error
	for range captureTries {
		var taken workspace.Captured
		var captured cache.Captured
		if taken, err = workspace.Capture(ctx, inv.Dir, r.cas, laid, executor.ToCapture(inv.Outputs), inv.Mask); err == nil {
			captured, err = r.captured(inv.Dir, end, taken)
		}
		if err == nil {
			return captured, nil
		}
		if why, back := workspace.Lost(inv.Dir); why != "" {
			if end.problems = append(end.problems, why); !back {
				return r.captured(inv.Dir, end, nothing(inv.Outputs))
			}
		}
	}
	if !inv.Paid {
		if reserveErr := note.Reserve(); reserveErr != nil {
			return cache.Captured{}, err
		}
	}
	// Capture may have opened what its maker had closed, which the first note does not know.
	if noteErr := note.Write(end.noted(), true); noteErr != nil {
		return cache.Captured{}, errors.Join(err, noteErr)
	}
	return cache.Captured{}, end.notStored(inv.Dir, err)
}

// nothing is what there is to capture where the workspace is gone.
func nothing(specs []executor.OutputSpec) workspace.Captured {
	var none workspace.Captured
	for _, o := range specs {
		none.Outputs = append(none.Outputs, cache.Output{Name: o.Name})
	}
	return none
}

// notStored says why an ended attempt is not stored, and what is needed to tell what it took.
func (e *ending) notStored(dir string, err error) error {
	log, _ := logTail(filepath.Join(dir, workspace.Log), maxLogEnd) // what cannot be read is not known
	return &executor.NotStored{
		Err: err, Exit: e.exit, Signal: e.signal, StoppedBy: e.stoppedBy, Log: append([]byte(log), e.tail...),
	}
}

// noted is an ending for the note beside a workspace.
func (e *ending) noted() workspace.End {
	return workspace.End{
		Exit: e.exit, Signal: e.signal, StoppedBy: e.stoppedBy, Duration: e.duration,
		Problems: e.problems, Sandbox: e.sandbox, Enforced: e.enforced, Tail: e.tail,
	}
}

// Finish implements executor.Salvager.
func (r *Runner) Finish(ctx context.Context, dir string, mask []string) (cache.Captured, bool, error) {
	taken, e, ok, err := workspace.Finish(ctx, dir, r.cas, mask)
	if !ok {
		return cache.Captured{}, false, err
	}
	end := ending{
		exit: e.Exit, signal: e.Signal, stoppedBy: e.StoppedBy, duration: e.Duration,
		problems: e.Problems, sandbox: e.Sandbox, enforced: e.Enforced, tail: e.Tail,
	}
	var c cache.Captured
	if err == nil {
		c, err = r.captured(dir, end, taken)
	}
	if err != nil {
		return c, true, end.notStored(dir, err)
	}
	return c, true, nil
}

// maxLogEnd is how much of a log is read to learn what an agent took that cannot be stored yet.
const maxLogEnd = 8 << 20

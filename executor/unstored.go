package executor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/workspace"
	"github.com/ufbuild/ufbuild/lang"
)

// Unstored says that an attempt ended whose result is only in its directory so far. To run it once more would pay
// for it twice.
type Unstored struct {
	Ordinal int
	Dir     string
	Err     error // why it could not be stored; nil when that was met by another build
}

// Error implements error.
func (e *Unstored) Error() string {
	why := ""
	if e.Err != nil {
		why = fmt.Sprintf(": %v", e.Err)
	}
	return fmt.Sprintf("attempt %d ended and is not stored yet%s\nhint: its result is kept in %s; the next build stores it and pays nothing, and a retry gives it up", e.Ordinal, why, e.Dir)
}

// Unwrap implements the convention of package errors.
func (e *Unstored) Unwrap() error { return e.Err }

// NoRoom says that nothing paid is begun, since what it leaves could hardly be stored.
type NoRoom struct{ Words string }

// Error implements error.
func (e *NoRoom) Error() string { return e.Words }

// unstored finds an attempt of a key whose end is noted and whose result nobody has stored, unless a person gave it up.
func (d *Decider) unstored(attempts []cache.Attempt) *Unstored {
	if d.Noted == nil {
		return nil
	}
	for _, a := range attempts {
		if a.State != cache.Started || a.Discarded != nil || a.Workspace == "" {
			continue
		}
		if _, gone := d.View.DiscardedBy(journal.Attempt{Key: a.Key, Ordinal: a.Ordinal}); !gone && d.Noted(a.Workspace) {
			return &Unstored{Ordinal: a.Ordinal, Dir: a.Workspace}
		}
	}
	return nil
}

// mayBegin is asked while the key is held, so that nothing paid for is paid for again, and nothing is paid for that
// could not be stored.
func (b *Builder) mayBegin(a *Action, attempts []cache.Attempt) error {
	if u := b.unstored(attempts); u != nil {
		return u
	}
	if err := b.passStranded(a, attempts); err != nil {
		return err
	}
	if a.Kind == lang.Prompt && b.Room != nil {
		return b.Room()
	}
	return nil
}

// UsageLeft reads what an attempt of an agent used from its workspace ws, since it is not in the store yet. The prices
// are those of this campaign.
func (d *Decider) UsageLeft(at cache.Attempt, ws string, kept *NotStored) cache.Usage {
	driver, err := d.Drivers.Driver(at.Agent.Adapter)
	if err != nil {
		return cache.Usage{} // of a command
	}
	e := agent.Ended{Exit: kept.Exit, Signal: kept.Signal, StoppedBy: kept.StoppedBy, Log: kept.Log, Files: map[string][]byte{}, Now: d.Now()}
	for _, p := range []string{agent.UsagePath, agent.LastPath} {
		if text, _, ok := readLeft(filepath.Join(ws, filepath.FromSlash(p)), nil); ok {
			e.Files[p] = text
		}
	}
	e.Usage = e.Files[agent.UsagePath]
	return d.pricedAs(at.Agent.Model, driver.Read(e))
}

// readLeft reads a small file that an agent writes, unless it is as it was: was is nil or what an earlier call
// returned. It belongs to the agent, so it is opened with care: no link is followed, and a pipe does not hold us up.
func readLeft(path string, was os.FileInfo) (b []byte, is os.FileInfo, ok bool) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, false
	}
	defer func() { _ = f.Close() }()
	is, err = f.Stat()
	if err != nil || !is.Mode().IsRegular() || is.Size() > maxUsage || was != nil && unchanged(is, was) {
		return nil, nil, false
	}
	b, err = io.ReadAll(io.LimitReader(f, maxUsage))
	return b, is, err == nil
}

// finish stores what an attempt left that had ended when its build died or found no room, as its own build would
// have: nobody is paid again. It returns nil where that cannot be shown to be safe.
func (r *Rescue) finish(ctx context.Context, l workLine, a cache.Attempt) (*Rescued, error) {
	c, ok, err := r.Salvager.Finish(ctx, l.dir, r.Mask())
	if !ok {
		if errors.Is(err, workspace.ErrWritten) {
			return r.interrupted(ctx, l, a, err.Error())
		}
		if err != nil {
			return &Rescued{Address: l.address, Attempt: a, Err: err}, nil
		}
		return nil, nil
	}
	if err == nil {
		takeKept(&c)
		if a.Agent.Adapter != "" && r.Usage != nil {
			c.Usage = r.Usage(a, c)
		}
		holdToOutputs(r.Store, c.Sandbox, &c)
		a.State, a.Captured = cache.CapturedState, &c
		err = r.record(&a)
	}
	if err != nil {
		r.accountLeft(l, a, err)
		return &Rescued{Address: l.address, Attempt: a, Err: err}, nil
	}
	r.Reap(l.dir)
	return &Rescued{Address: l.address, Attempt: a}, nil
}

// accountLeft tells of what an attempt used that still cannot be stored: that money is gone.
func (r *Rescue) accountLeft(l workLine, a cache.Attempt, err error) {
	var kept *NotStored
	if r.Account == nil || r.Left == nil || !errors.As(err, &kept) {
		return
	}
	a.Outcome, a.Captured = cache.Infra, &cache.Captured{Usage: r.Left(a, filepath.Join(l.dir, "ws"), kept)}
	r.Account(a)
}

// record writes what a finished attempt left, and how it ended where no contract has a word in that.
func (r *Rescue) record(a *cache.Attempt) error {
	if err := r.Store.Append(cache.CapturedRecord(a.Key, a.Ordinal, *a.Captured)); err != nil {
		return err
	}
	if r.Classify != nil {
		a.Outcome, a.Message = r.Classify(*a, *a.Captured)
	}
	switch a.Outcome {
	case "", cache.OK, cache.Partial:
		a.Outcome, a.Message = "", ""
	default:
		a.State = cache.Ended
		if err := r.Store.Append(cache.EndedRecord(a.Key, a.Ordinal, a.Outcome, a.Message, r.Now())); err != nil {
			return err
		}
	}
	return r.Store.Sync()
}

// SalvagedEnd says how an attempt of another build ended, as far as that can be known without its campaign.
func (d *Decider) SalvagedEnd(at cache.Attempt, c cache.Captured) (cache.Outcome, string) {
	a := &Action{Kind: lang.Command}
	if at.Agent.Adapter != "" {
		a.Kind = lang.Prompt
		a.Agent.Adapter = at.Agent.Adapter
	}
	if c.StoppedBy == "timeout" || c.StoppedBy == "idle" { // what that means stands in the task
		return "", ""
	}
	return d.classify(a, "", c)
}

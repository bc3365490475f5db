package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/lang"
)

// Shared is what other machines made. A store with another one behind it is one; see package tiered.
type Shared interface {
	// Fetch looks for an attempt of a key and takes it into the store. It reports whether the store has something new.
	Fetch(ctx context.Context, ask cache.Ask) bool
	// Publish lets other machines have an attempt. It does not wait.
	Publish(at cache.Attempt)
}

// lookElsewhere decides a stale node again when another machine has made what it needs. A person who retried wants it
// run, whoever has a result.
func (d *Decider) lookElsewhere(ctx context.Context, inst *lang.Instance, dec *Decision) {
	if d.Shared == nil || dec.Answer != Stale || !inst.Cache || dec.Reason.Kind == Retried || ctx.Err() != nil {
		return
	}
	var full error
	found := d.Shared.Fetch(ctx, cache.Ask{
		Key: dec.Key, Manifest: dec.Manifest, Address: inst.Address.String(), Locked: dec.locked,
		Fits: func(c cache.Captured, cas cache.CAS) error { return fitsAction(dec.Action, c, cas) },
		Full: func(err error) { full = err },
	})
	if full != nil && dec.Action.Kind == lang.Prompt { // it was paid for elsewhere, and here it could not be stored either
		dec.Answer = Broken
		dec.Err = &NoRoom{Words: fmt.Sprintf("another machine has made this, and there is no room to take it: %v", full)}
		return
	}
	if found {
		*dec = Decision{Action: dec.Action, Manifest: dec.Manifest, Key: dec.Key, doubted: dec.doubted, locked: dec.locked}
		d.lookHere(ctx, inst, dec)
	}
}

// fitsAction says why an attempt of the action cannot have left what is captured. Another machine is not believed: not a path
// outside what the task declares, not a mode, not a link that leads out of the tree.
func fitsAction(a *Action, c cache.Captured, cas cache.CAS) error {
	if len(c.Problems) > 0 {
		return errors.New("it has problems, and says that it is good")
	}
	seen := map[string]bool{}
	for _, o := range c.Outputs {
		i := slices.IndexFunc(a.Outputs, func(s OutputSpec) bool { return s.Name == o.Name })
		switch {
		case i < 0 || seen[o.Name]:
			return fmt.Errorf("it has an output %q that the task does not declare", o.Name)
		case o.Tree != (a.Outputs[i].Path == ""):
			return fmt.Errorf("its output %q is not of the kind that the task declares", o.Name)
		case o.Mode&^0o777 != 0 || o.Exists && o.Digest.IsZero() || !o.Exists && !o.Tree && !o.Digest.IsZero():
			return fmt.Errorf("its output %q is impossible", o.Name)
		}
		seen[o.Name] = true
		if o.Tree && !o.Digest.IsZero() {
			if err := fitsTree(a.Outputs[i], o, cas); err != nil {
				return err
			}
		}
	}
	if len(seen) != len(a.Outputs) {
		return fmt.Errorf("it says nothing of some of the outputs that the task declares: it has %d of %d", len(seen), len(a.Outputs))
	}
	return nil
}

// fitsTree says why a tree cannot be one that was captured for globs.
func fitsTree(spec OutputSpec, o cache.Output, cas cache.CAS) error {
	t, err := cache.ReadTree(cas, o.Digest)
	if err != nil {
		return err
	}
	for _, e := range t.Entries {
		declared := slices.ContainsFunc(spec.Tree, func(glob string) bool { return doublestar.MatchUnvalidated(glob, e.Path) })
		if !declared {
			return fmt.Errorf("its tree %q has %s, which the task does not declare", o.Name, e.Path)
		}
		if e.Kind == cache.Link && !cache.LinkInside(e.Path, e.Target) {
			return fmt.Errorf("its tree %q has the link %s, which leaves it", o.Name, e.Path)
		}
	}
	return nil
}

// share lets other machines have an attempt that was found good. What a person still has to approve goes too: whoever takes it
// asks a person of their own. What the attempt ended as does not count: a contract that was edited since may have made it good.
func (b *Builder) share(inst *lang.Instance, at *cache.Attempt, good bool) {
	if b.Shared != nil && good && inst.Cache && at.Captured != nil && len(at.Captured.Problems) == 0 {
		b.Shared.Publish(*at)
	}
}

// shareDecided shares an attempt that a decision found good just now: by a contract that was edited, by judging again, or since
// its builder died before it could.
func (b *Builder) shareDecided(inst *lang.Instance, dec *Decision) {
	news := slices.ContainsFunc(dec.Records, func(r cache.Record) bool { return r.Kind == cache.KindEnded || r.Kind == cache.KindVerdict })
	b.share(inst, &dec.Attempt, news && (dec.Answer == Fresh && dec.Verdict.Pass || dec.Answer == Asked))
}

// Notice tells the user something of a build that runs. It may be called from any goroutine until Run returns.
func (b *Builder) Notice(text string) { b.emit(event.Event{Kind: event.Notice, Text: text}) }

// Warn is like Notice, for what somebody should look at.
func (b *Builder) Warn(text string) { b.emit(event.Event{Kind: event.Warning, Text: text}) }

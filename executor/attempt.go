package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// endedMsg is the one message a worker sends back for a node that was started.
type endedMsg struct {
	id         graph.NodeID
	found      bool          // another address or process made the attempt meanwhile
	changed    bool          // a source changed before the start: decide again
	asked      bool          // the outputs wait for a person's word
	ran        bool          // its program ran, and what it left could not be captured
	lost       bool          // it ran elsewhere, and nobody knows what became of it
	attempt    cache.Attempt // zero when none was made
	verdict    cache.Verdict
	damage     error  // stored bytes that it was to start from are missing or damaged
	err        error  // trouble of this machine
	undeclared string // what it left or changed that is no output; "" for nothing
	duration   time.Duration
	end        agent.End   // what the agent's own words say
	seen       cache.Usage // what was seen of its usage while it ran
}

// attempt carries out one attempt of a stale node, in the order of the semantics page: started, run,
// captured, judged, ended; each step is a record before the next one relies on it.
// tell is called with what it has used so far, from another goroutine, until it ended.
func (b *Builder) attempt(ctx context.Context, m endedMsg, inst *lang.Instance, dec Decision, tell func(cache.Usage)) endedMsg {
	release, err := b.lockKey(ctx, inst.Address, dec.Key)
	if err != nil {
		m.err = err
		return m
	}
	defer release()
	attempts, err := b.Store.Attempts(dec.Key)
	if err != nil {
		m.err = err
		return m
	}
	found, ok := b.madeMeanwhile(ctx, inst, dec, attempts)
	if ok {
		m.attempt, m.verdict, m.found = found.Attempt, found.Verdict, true
		m.err = b.settleDecision(inst, &found)
		return m
	}
	if m.err = found.Err; m.err != nil {
		return m
	}
	at, adopted, err := b.adopt(inst, &dec, attempts)
	if err == nil && !adopted {
		if m.err = b.mayBegin(dec.Action, attempts); m.err != nil {
			return m
		}
		at, err = b.begin(inst, &dec, attempts)
	}
	if err != nil {
		m.err, m.changed = err, b.renew(err)
		if !m.changed {
			b.Work.lose()
		}
		return m
	}
	key := at.Key.String()
	b.emit(event.Event{Kind: event.AttemptStarted, Address: inst.Address.String(), Key: key, Ordinal: at.Ordinal, Reason: startWords(&dec, &at), Profile: at.Rung})
	inv, err := b.invocation(inst, &dec, &at)
	if err != nil {
		return b.spoiled(m, &at, &NotStarted{err})
	}
	inv.Phase = b.phase(inst.Address, key, at.Ordinal)
	meter := b.startMeter(dec.Action, &at, tell)
	leave := b.enter(&inst.Address, dec.Action, &at)
	captured, err := b.Runner.Run(ctx, inv, meter.output(b.output(inst.Address)))
	leave(captured.Log)
	m.seen = meter.stop()
	var kept *NotStored
	switch {
	case errors.As(err, &kept):
		m.seen = budget.Fill(b.UsageLeft(at, b.workspace(dec.Action, &at), kept), m.seen)
		return b.unsaved(m, &at, &Unstored{Ordinal: at.Ordinal, Dir: at.Workspace, Err: err})
	case err != nil:
		return b.spoiled(m, &at, err)
	}
	m.duration = captured.Duration
	return b.conclude(ctx, m, inst, &dec, &at, captured, inv.Phase)
}

// sayAfter is how long a wait for another build may be silent.
const sayAfter = 2 * time.Second

// over is a context that has ended, for who does not want to wait.
var over = func() context.Context {
	ctx, end := context.WithCancel(context.Background())
	end()
	return ctx
}()

// lockKey takes the right to run a key, so that it runs once for everybody who shares the store. A wait
// that lasts says what it waits for.
func (b *Builder) lockKey(ctx context.Context, a lang.Address, k cache.Key) (release func(), err error) {
	if release, err := b.Store.Lock(over, k); !errors.Is(err, context.Canceled) { // hardly ever does another build have it
		return release, err
	}
	got := make(chan struct{})
	defer close(got)
	long := b.After(sayAfter)
	go func() {
		select {
		case <-long:
			b.emit(event.Event{Kind: event.Notice, Address: a.String(), Text: "waits for an attempt of the same key, here or in another build that shares the store"})
		case <-got:
		}
	}()
	return b.Store.Lock(ctx, k)
}

// madeMeanwhile looks again under the lock: another address with the same manifest, another process that
// shares the store, or another machine may have made the attempt while this one waited.
func (b *Builder) madeMeanwhile(ctx context.Context, inst *lang.Instance, dec Decision, attempts []cache.Attempt) (Decision, bool) {
	if len(attempts) == 0 && b.Shared == nil || !inst.Cache {
		return dec, false
	}
	return b.lookAgain(ctx, inst, dec)
}

// lookAgain is apart from madeMeanwhile for the decision that it changes to be copied to the heap for who has something to look at alone.
func (b *Builder) lookAgain(ctx context.Context, inst *lang.Instance, dec Decision) (Decision, bool) {
	dec.locked = true
	b.lookUp(ctx, inst, &dec)
	return dec, dec.Answer == Fresh
}

// begin records that the attempt exists. For a prompt that is durable before the process is: money
// may be spent from then on.
func (b *Builder) begin(inst *lang.Instance, dec *Decision, attempts []cache.Attempt) (cache.Attempt, error) {
	at := cache.Attempt{
		Key: dec.Key, Ordinal: cache.NextOrdinal(attempts), Address: inst.Address.String(), Campaign: b.Campaign.Root,
		Build: b.Build, Reason: dec.Reason.String(), Owner: b.Owner, StartedAt: b.Now(), State: cache.Started,
	}
	if err := b.storeCompared(dec.Action); err != nil {
		return at, err
	}
	var err error
	if at.Workspace, err = b.Work.begin(at.Key, at.Ordinal, inst.Address); err != nil {
		return at, err
	}
	if at.Manifest, err = cache.PutBytes(b.Store, dec.Manifest); err != nil {
		return at, err
	}
	if dec.Action.Kind == lang.Prompt {
		if err := b.Work.takeRoom(); err != nil {
			return at, err
		}
		at.Rung, at.Agent = dec.Action.Profile, b.agentOf(dec.Action, inst.Profile)
		if at.Prompt, err = cache.PutBytes(b.Store, []byte(b.fullPrompt(dec))); err != nil {
			return at, err
		}
	}
	if f := dec.Feedback; f != nil {
		if at.Feedback, err = cache.PutBytes(b.Store, agent.FeedbackFile(f.Messages)); err != nil {
			return at, err
		}
	}
	if err := b.Store.Append(cache.StartedRecord(at)); err != nil {
		return at, err
	}
	if dec.Action.Kind == lang.Prompt {
		return at, b.Store.Sync()
	}
	return at, nil
}

// conclude turns what was captured into an outcome and a verdict, and makes both visible. Who judges without a program, which takes no
// time, writes all that in one step; else what was captured is safe before it is judged, and durable when it was paid for.
func (b *Builder) conclude(ctx context.Context, m endedMsg, inst *lang.Instance, dec *Decision, at *cache.Attempt, captured cache.Captured, phase func(event.Phase)) endedMsg {
	captured, m.end = b.readUsage(dec.Action, captured)
	captured.Usage = budget.Fill(captured.Usage, m.seen)
	undeclared := holdToOutputs(b.Store, dec.Action.Sandbox, &captured)
	at.Captured, at.State = &captured, cache.CapturedState
	records := append(make([]cache.Record, 0, 3), cache.CapturedRecord(at.Key, at.Ordinal, captured)) // verdict and end come too
	if dec.Action.Kind == lang.Prompt || judgedLong(dec.Action) {
		if err := b.say(dec, &records); err != nil {
			return b.unsaved(m, at, err)
		}
	}
	at.Outcome, at.Message = b.classify(dec.Action, at.Rung, captured)
	if why := stopOf(ctx); why != nil && captured.StoppedBy == why.By {
		at.Message = why.Why
	}
	phase(event.Judge)
	if err := b.judgeEnd(ctx, &m, dec, at, &records); err != nil {
		m.attempt, m.err = *at, errors.Join(err, b.say(dec, &records))
		return m
	}
	open := m.verdict.Inconclusive && at.Outcome == cache.OK // not ended: the next build judges it again and pays nobody
	if !open {
		at.State, at.EndedAt = cache.Ended, b.Now()
		records = append(records, cache.EndedRecord(at.Key, at.Ordinal, at.Outcome, at.Message, at.EndedAt))
	}
	if err := b.say(dec, &records); err != nil {
		return b.unsaved(m, at, err)
	}
	if open {
		m.attempt = *at
		b.reap(at)
		return m
	}
	b.share(inst, at, m.verdict.Pass || m.asked)
	m.err = b.putInPlace(inst, dec, at)
	b.reap(at)
	m.attempt = *at
	m.undeclared = undeclared
	return m
}

// judgedLong reports whether judging may take time: of outputs without contracts nothing is asked but whether they are there.
func judgedLong(a *Action) bool {
	return slices.ContainsFunc(a.Contracts, func(o lang.Output) bool { return o.Contract != nil })
}

// say appends what there is to say of an attempt, in one step, and forgets it: durable when it returns for a prompt, with the next
// commit for a command.
func (b *Builder) say(dec *Decision, records *[]cache.Record) error {
	said := *records
	if *records = nil; len(said) == 0 {
		return nil
	}
	if err := b.Store.Append(said...); err != nil {
		return err
	}
	if dec.Action.Kind == lang.Prompt {
		return b.Store.Sync()
	}
	return nil
}

// judgeEnd judges what a process that ended well left, and adds the verdict to what there is to say. Outputs of a failed one are kept and
// not judged: no contract can make an exit code good.
func (b *Builder) judgeEnd(ctx context.Context, m *endedMsg, dec *Decision, at *cache.Attempt, records *[]cache.Record) error {
	if at.Outcome != cache.OK && at.Outcome != cache.Partial {
		return nil
	}
	if len(at.Captured.Problems) > 0 {
		at.Outcome, at.Message = cache.Rejected, joinLines(at.Captured.Problems)
		return nil
	}
	// A build that is being stopped still judges: the bytes are paid for.
	v, _, err := b.judge(context.WithoutCancel(ctx), dec.Action, at.Captured.Outputs, nil)
	if err != nil {
		return err
	}
	*records = append(*records, cache.VerdictRecord(at.Key, at.Ordinal, v))
	v, said := b.ask(dec.Action, at.Captured.Outputs, v)
	m.verdict, m.asked = v, said == unsaid
	if !v.Pass && !v.Inconclusive {
		at.Outcome, at.Message = cache.Rejected, joinLines(v.Messages)
	}
	return nil
}

// putInPlace shows outputs to the user: good ones at their place, rejected ones beside it. Earlier
// good outputs stay when an attempt fails.
func (b *Builder) putInPlace(inst *lang.Instance, dec *Decision, at *cache.Attempt) error {
	put := b.Placer.Put
	switch at.Outcome {
	case cache.OK, cache.Partial:
	case cache.Rejected:
		put = b.Placer.PutRejected
	default:
		return nil
	}
	report, err := put(inst.Address, at.Captured.Outputs, outPaths(dec.Action.Outputs))
	b.reportMoved(inst.Address, report.Moved)
	return err
}

// renew reports whether a source changed by other hands since the key was computed, and then sees to it that the next decision is about
// what is there now.
func (b *Builder) renew(err error) bool {
	var changed *SourceChanged
	if !errors.As(err, &changed) || changed.Inside {
		return false
	}
	b.Sources.Renew(changed.Path)
	return true
}

// spoiled ends an attempt that did not run to a captured end. Where a program ran its directory stays: what
// could not be captured is the only copy.
func (b *Builder) spoiled(m endedMsg, at *cache.Attempt, err error) endedMsg {
	var open *Elsewhere
	if errors.As(err, &open) {
		b.reap(at)
		m.err = fmt.Errorf("%w\nhint: it may go on there: the next build waits for it, and `ufbuild retry %s` gives it up", err, at.Address)
		return m
	}
	at.State, at.Outcome, at.Message, at.EndedAt = cache.Ended, cache.Infra, err.Error(), b.Now()
	var changed *SourceChanged
	if errors.As(err, &changed) {
		m.changed = b.renew(err)
		if changed.Inside {
			at.Outcome = cache.Failed
		}
		b.reap(at)
	}
	var idle *NotStarted
	var lost *Lost
	if m.lost = errors.As(err, &lost); m.lost && at.Rung != "" {
		at.Message += "\nhint: see what became of it there; the next build runs it again, which may pay for it twice"
	}
	if errors.As(err, &idle) || m.lost {
		b.reap(at)
	}
	m.ran = idle == nil && changed == nil && !m.lost
	if damaged(err) {
		m.damage = err
	}
	m.attempt = *at
	if appendErr := b.Store.Append(cache.EndedRecord(at.Key, at.Ordinal, at.Outcome, at.Message, at.EndedAt)); appendErr != nil {
		return b.unsaved(m, at, errors.Join(err, appendErr))
	}
	return m
}

// unsaved reports an attempt whose records could not be written.
func (b *Builder) unsaved(m endedMsg, at *cache.Attempt, err error) endedMsg {
	b.Work.Unaccounted()
	at.Outcome, at.Message = cache.Infra, err.Error()
	m.attempt, m.err = *at, err
	return m
}

// reap removes the directory of an attempt whose bytes are in the store.
func (b *Builder) reap(at *cache.Attempt) {
	if !b.KeepWork {
		b.Reap(at.Workspace)
	}
}

// keepVerdicts appends what judging again gave, and nothing else, and shares what it found good.
func (b *Builder) keepVerdicts(inst *lang.Instance, dec *Decision) error {
	for _, r := range dec.Records {
		if r.Kind != cache.KindVerdict {
			continue
		}
		if err := b.Store.Append(r); err != nil {
			return err
		}
	}
	b.shareDecided(inst, dec)
	return nil
}

// settleDecision appends the records that a decision asks for and puts outputs in place.
func (b *Builder) settleDecision(inst *lang.Instance, dec *Decision) error {
	if err := b.mend(inst.Address, dec.Mends); err != nil {
		return err
	}
	for _, r := range dec.Records {
		if err := b.Store.Append(r); err != nil {
			return err
		}
	}
	b.shareDecided(inst, dec)
	if dec.Answer != Fresh || len(dec.Differ) == 0 {
		return nil
	}
	if inst.KeepEdits && dec.Place == place.Edited {
		return nil
	}
	report, err := b.Placer.Put(inst.Address, dec.Attempt.Captured.Outputs, outPaths(dec.Action.Outputs))
	b.reportMoved(inst.Address, report.Moved)
	return err
}

func (b *Builder) reportMoved(a lang.Address, moved []string) {
	for _, m := range moved {
		b.emit(event.Event{Kind: event.Notice, Address: a.String(), Text: m})
	}
}

func (b *Builder) output(a lang.Address) func([]byte) {
	name := a.String()
	return func(p []byte) {
		b.emit(event.Event{Kind: event.AttemptOutput, Address: name, Text: string(p)})
	}
}

// phase tells how far an attempt is.
func (b *Builder) phase(a lang.Address, key string, ordinal int) func(event.Phase) {
	name := a.String()
	return func(p event.Phase) {
		b.emit(event.Event{Kind: event.AttemptPhase, Address: name, Key: key, Ordinal: ordinal, Phase: p})
	}
}

// readUsage takes the files meant for the driver out of the outputs and adds what the agent reported.
func (b *Builder) readUsage(a *Action, c cache.Captured) (cache.Captured, agent.End) {
	if a.Kind != lang.Prompt {
		return c, agent.End{}
	}
	takeKept(&c)
	end := b.agentEnd(a, a.Profile, c)
	c.Usage = b.priced(a, end)
	return c, end
}

// maxUsage bounds what is read of an agent's usage file.
const maxUsage = 1 << 20

func (d *Decider) smallBlob(dg digest.Digest) []byte {
	if dg.IsZero() {
		return nil
	}
	p, err := cache.ReadAll(d.Store, dg, maxUsage)
	if err != nil {
		return nil // usage stays unknown
	}
	return p
}

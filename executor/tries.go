package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// infraTries is how often trouble of the machine may spoil attempts of one node in one build; they
// use none of the task's own tries.
const infraTries = 2

// maxRedone bounds how often a node is decided again because its sources keep changing under it.
const maxRedone = 5

// start admits what may start.
func (s *scheduler) start(ctx context.Context) {
	s.lookAgain()
	for s.halted == "" {
		id, rung, ok := s.admit.pop()
		if !ok {
			return
		}
		s.set(id, Running)
		s.running++
		s.nodes[id].rung = rung
		s.reserve(id)
		s.carryOut(ctx, id)
	}
}

// carryOut begins an attempt of a node, which can be stopped by itself.
func (s *scheduler) carryOut(ctx context.Context, id graph.NodeID) {
	n := s.nodes[id]
	inst, dec := s.funded(id), n.decision // which nobody changes until the attempt has ended
	ctx, n.stop = context.WithCancelCause(ctx)
	tell := func(u cache.Usage) {
		select {
		case s.used <- usedMsg{id, u}:
		case <-s.quit:
		}
	}
	s.lend(func() {
		s.ended <- s.b.attemptOnRung(ctx, endedMsg{id: id}, inst, *dec, tell)
	})
}

// lend has something done by a goroutine that has done something like it, if one is idle: the stack that an attempt takes is made
// by doubling, and a new goroutine begins with the smallest.
func (s *scheduler) lend(do func()) {
	select {
	case s.hands <- do:
		return
	default:
	}
	go func() {
		for {
			do()
			select {
			case do = <-s.hands:
			case <-s.quit:
				return
			}
		}
	}()
}

// takeEnd takes the end of an attempt.
func (s *scheduler) takeEnd(ctx context.Context, m endedMsg) {
	n := s.nodes[m.id]
	n.stop(nil) // it is over: nothing of its context is needed
	s.admit.release(s.graph.Node(m.id).Instance, n.rung)
	s.spend(m)
	inst := s.onRung(m.id)
	s.endTrial(m, inst.Profile)
	n.result.Duration += m.duration
	if m.found && s.takeBack(ctx, m.id, m.err) {
		return
	}
	if m.found && m.err != nil { // it is there, and only not in place: never a reason to pay for it again
		s.fail(ctx, m.id, cache.Infra, m.err.Error())
		return
	}
	if m.found {
		n.decision.Attempt, n.decision.Verdict, n.decision.Answer = m.attempt, m.verdict, Fresh
		n.result.Reason = &noReason
		s.takeFresh(ctx, m.id)
		return
	}
	s.report(m, inst)
	at := &m.attempt
	s.takeGood(inst.Profile, at.Outcome)
	n.result.Ordinal, n.result.Outcome = at.Ordinal, at.Outcome
	n.result.setMessage(at.Message)
	n.result.setWarnings(m.verdict.Warnings)
	if m.end.Warning != "" {
		n.result.warn(event.PlainText(m.end.Warning))
	}
	if at.Captured != nil && at.Captured.LogDamage != "" {
		n.result.warn("its log is " + event.PlainText(at.Captured.LogDamage))
	}
	if m.undeclared != "" {
		n.result.warn(fmt.Sprintf("%s (`ufbuild show %s@%d --leftovers` lists them)", m.undeclared, inst.Address, s.number(m.id)))
	}
	switch {
	case m.changed && n.redone < maxRedone && s.halted == "":
		n.redone++
		s.ask(m.id)
	case s.takeBack(ctx, m.id, errors.Join(m.damage, m.err)):
	case n.short && (at.Outcome == cache.OverBudget || errors.Is(m.err, context.Canceled)):
		n.result.Unpaid = true
		s.pauseNode(m.id, at.Message)
	case m.err != nil:
		s.takeTrouble(ctx, m)
	case at.State != cache.Ended:
		n.decision.Attempt, n.decision.Verdict = *at, m.verdict
		if m.asked {
			s.takeAwaiting(ctx, m.id)
			return
		}
		s.takeUnjudged(ctx, m.id)
	case at.Outcome == cache.OK || at.Outcome == cache.Partial:
		s.takeSuccess(ctx, m)
	case ofAccount(at.Outcome) && s.halted == "":
		s.takeAccount(m, inst.Profile)
	default:
		s.takeFailure(ctx, m)
	}
}

// report tells the sink, the journal and the ledger about an attempt.
func (s *scheduler) report(m endedMsg, inst *lang.Instance) {
	at := m.attempt
	if at.Ordinal == 0 {
		return
	}
	n := s.nodes[m.id]
	n.made++
	var enforced []string
	if at.Captured != nil {
		enforced = at.Captured.Enforced
	}
	s.emit(event.Event{
		Kind: event.AttemptEnded, Enforced: enforced, Address: inst.Address.String(), Key: at.Key.String(), Ordinal: at.Ordinal,
		N:       s.number(m.id),
		Outcome: string(at.Outcome), Message: at.Message, Duration: m.duration, Profile: at.Rung, CostUSD: costOf(at),
	})
	s.records.ended(inst.Address, at)
	if s.b.Account != nil {
		acc := accountOf(s.b.Campaign, inst, at, false)
		acc.Seen = m.seen
		s.b.Account(acc)
	}
}

// number is that of the last attempt of a node in its history.
func (s *scheduler) number(id graph.NodeID) int {
	return s.b.View.Attempts(s.graph.Node(id).Address) + s.nodes[id].made
}

// costOf is what an attempt cost; nil when nobody knows.
func costOf(at cache.Attempt) *float64 {
	if at.Captured == nil {
		return nil
	}
	return at.Captured.Usage.CostUSD
}

func (s *scheduler) takeSuccess(ctx context.Context, m endedMsg) {
	n := s.nodes[m.id]
	n.result.setMessage("")
	n.left = leftBy(n.decision.Action, m.attempt)
	n.placed, n.placedAt = m.attempt.Captured.Outputs, s.b.Now().UnixNano()
	s.records.selected(s.graph.Node(m.id).Address, m.attempt, m.attempt.Reason)
	s.done(ctx, m.id, Ran)
}

// takeTrouble ends a node whose attempt could not be recorded, or that could not be started.
func (s *scheduler) takeTrouble(ctx context.Context, m endedMsg) {
	if errors.Is(m.err, context.Canceled) {
		s.nodes[m.id].result.setMessage("the build was stopped")
		s.stopped(m.id)
		return
	}
	var kept *Unstored
	var full *NoRoom
	var left *Stranded
	s.nodes[m.id].result.World = errors.As(m.err, &kept) || errors.As(m.err, &full) || errors.As(m.err, &left)
	s.fail(ctx, m.id, cache.Infra, m.err.Error())
}

// stopped ends a running node because the build was stopped.
func (s *scheduler) stopped(id graph.NodeID) {
	if s.haltAs == Paused {
		s.nodes[id].result.setMessage(s.halted)
	}
	s.set(id, s.haltAs)
	s.open--
}

// takeFailure tries again where the policy says so, else ends the node.
func (s *scheduler) takeFailure(ctx context.Context, m endedMsg) {
	n := s.nodes[m.id]
	inst := s.graph.Node(m.id).Instance
	at := &m.attempt
	if at.Outcome == cache.Cancelled {
		s.stopped(m.id)
		return
	}
	if m.ran && s.graph.Node(m.id).Task.Kind == lang.Prompt { // the machine's trouble is no reason to pay once more
		s.fail(ctx, m.id, at.Outcome, at.Message)
		return
	}
	if s.halted == "" && (m.lost && s.lostAgain(n, inst) || !m.lost && s.triesAgain(n, inst, at)) {
		n.decision.Reason = Reason{Kind: LastFailed, Ordinal: at.Ordinal, Outcome: at.Outcome, Messages: nonEmpty(at.Message)}
		if f := feedbackOf(inst, at); f != nil { // a crash says nothing of the outputs, so it takes none away
			n.decision.Feedback = f
		}
		s.rest(m.id, s.pause(n, inst))
		return
	}
	if s.halted == "" && s.fallsBack(n, inst, at) {
		n.decision.Reason = Reason{Kind: LastFailed, Ordinal: at.Ordinal, Outcome: at.Outcome, Messages: nonEmpty(at.Message)}
		s.rest(m.id, 0)
		return
	}
	s.fail(ctx, m.id, at.Outcome, at.Message)
}

// retryCause names the word of retry.on that covers an outcome.
var retryCause = map[cache.Outcome]string{
	cache.Failed: "crash", cache.TimedOut: "timeout", cache.Stalled: "stall", cache.Rejected: "contract",
}

// triesAgain says whether the policy grants another try, and counts it.
func (s *scheduler) triesAgain(n *nodeState, inst *lang.Instance, at *cache.Attempt) bool {
	if at.Outcome == cache.Infra {
		n.infra++
		return n.infra <= infraTries && !strings.Contains(at.Message, "no space left")
	}
	n.tries++
	return slices.Contains(inst.Retry.On, retryCause[at.Outcome]) && n.tries < inst.Retry.Attempts
}

// ofAgent are the outcomes that speak of the program or model and not of the work: another one may do it.
var ofAgent = []cache.Outcome{cache.Failed, cache.Stalled, cache.Refused}

// fallsBack gives up the rung that ran an attempt, once its tries are used up, and says whether another one
// takes over, with tries of its own. An account that is paused moves on without this, and comes back.
func (s *scheduler) fallsBack(n *nodeState, inst *lang.Instance, at *cache.Attempt) bool {
	if inst.Profile == nil || !slices.Contains(ofAgent, at.Outcome) || n.rung >= maxRungs {
		return false
	}
	n.given |= 1 << n.rung
	n.tries = 0
	rungs := rungsOf(s.b.Campaign, inst)
	for i, p := range rungs {
		if !n.given.has(i) {
			s.emit(event.Event{
				Kind: event.Notice, Address: inst.Address.String(),
				Text: fmt.Sprintf("profile %s: %s; profile %s takes over", rungs[n.rung].Name, at.Outcome, p.Name),
			})
			return true
		}
	}
	return false
}

// maxDoubled bounds what doubling makes of the declared back-off. One that is longer is meant.
const maxDoubled = 10 * time.Minute

// pause doubles the declared back-off with each try and spreads it by a quarter either way.
func (s *scheduler) pause(n *nodeState, inst *lang.Instance) time.Duration {
	d := inst.Retry.Backoff
	longest := max(d, maxDoubled)
	for i := 1; i < n.tries && d < longest; i++ {
		d *= 2
	}
	return time.Duration(float64(min(d, longest)) * (0.75 + s.b.Jitter()/2))
}

// rest waits before the next try without holding a slot. A wait that a person notices is told.
func (s *scheduler) rest(id graph.NodeID, d time.Duration) {
	s.set(id, Resting)
	if d >= time.Second {
		s.emit(event.Event{Kind: event.Notice, Address: s.nodes[id].result.Address.String(), Text: "tries again in " + d.Round(time.Second).String()})
	}
	s.resting++
	sendAfter(s, d, s.rested, id)
}

// requeue puts a rested node back in line, unless the build stopped meanwhile.
func (s *scheduler) requeue(id graph.NodeID) {
	if s.nodes[id].state != Resting {
		return
	}
	s.set(id, Queued)
	s.admit.push(id, s.graph.Node(id).Instance, s.nodes[id].given)
}

// accountOf is the ledger line of an attempt.
func accountOf(c *lang.Campaign, inst *lang.Instance, at cache.Attempt, hit bool) Account {
	acc := Account{Attempt: at, Hit: hit, Pool: inst.Pool}
	p := inst.Profile
	if rung, ok := c.Profile(at.Rung); ok {
		p = rung
	}
	if p != nil {
		acc.Profile, acc.Model = p.Name, p.Model
		if acc.Pool == "" {
			acc.Pool = p.Agent.Pool
		}
	}
	return acc
}

package executor

import (
	"context"
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/pause"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// The wait after a rate limit that does not say how long: it doubles with each pause in a row, up to what
// the shortest windows of providers take to reopen.
const (
	firstWait   = time.Minute
	longestWait = 15 * time.Minute
)

// accountPause is what the scheduler knows of one account. Its timer carries the number it was started
// with, so one that was overtaken by a longer pause ends nothing.
type accountPause struct {
	pause.Pause
	number  int
	ticking bool // a timer will end it
	foreign bool // another build began it
}

// resumedMsg says that the timer of a pause is over.
type resumedMsg struct {
	account pause.Account
	number  int
}

// loadPauses takes up what earlier builds left. A pause without an end, and one that is over, is tried by one
// attempt: a person, or time, may have mended it, and if not, one attempt is enough to hear so.
func (s *scheduler) loadPauses() {
	if s.plan || s.b.Pauses == "" {
		return
	}
	s.admit.free = s.free
	for _, p := range s.b.Pauses.All() {
		s.known[p.Account] = p
		if now := s.b.Now(); !p.Until.IsZero() && p.Holds(now) {
			s.hold(p, p.Until.Sub(now))
			continue
		}
		s.pauses[p.Account] = &accountPause{Pause: p}
		s.admit.proving[p.Account] = true
	}
}

// free reports whether other builds let an account be used. A pause that one of them began since the last
// look holds here too: the provider would say the same again, at the price of an attempt each.
func (s *scheduler) free(acc pause.Account) bool {
	p, ok := s.b.Pauses.Of(acc)
	had := s.known[acc]
	if !ok {
		delete(s.known, acc)
		return true
	}
	s.known[acc] = p
	if p.Build == s.b.Build || p.Same(had) || !p.Holds(s.b.Now()) {
		return true
	}
	wait := time.Duration(0)
	if !p.Until.IsZero() {
		wait = p.Until.Sub(s.b.Now())
	}
	s.hold(p, wait)
	s.pauses[acc].foreign = true
	return false
}

// lookAgain ends pauses without an end that another build began and that are gone: its account works.
func (s *scheduler) lookAgain() {
	for acc, h := range s.pauses {
		if h == nil || !h.foreign || !h.Until.IsZero() || !s.admit.paused[acc] {
			continue
		}
		if _, still := s.b.Pauses.Of(acc); !still {
			delete(s.known, acc)
			s.reopen(acc)
		}
	}
}

// reopen lets one attempt of an account start.
func (s *scheduler) reopen(acc pause.Account) {
	delete(s.admit.paused, acc)
	s.admit.proving[acc] = true
	s.emit(event.Event{Kind: event.PoolResumed, Account: acc.String(), Text: acc.String() + " goes on"})
}

// endTrial notes what the end of an attempt says of its account. Only one that ran to its end, and met
// nothing of the account, shows that it works.
func (s *scheduler) endTrial(m endedMsg, ran *lang.Profile) {
	if ran == nil {
		return
	}
	acc := accountOfAgent(ran.Agent)
	s.admit.tried(acc, m.id)
	at := &m.attempt
	if m.err != nil || m.found || at.Captured == nil || ofAccount(at.Outcome) || at.Outcome == cache.Cancelled {
		return
	}
	s.admit.proved(acc)
}

// ofAccount reports whether an attempt ended for a reason that concerns its account and not its task.
func ofAccount(o cache.Outcome) bool { return o == cache.RateLimited || o == cache.Account }

// takeAccount pauses the account of an attempt and puts its node back in line: no try is used and no
// slot is held.
func (s *scheduler) takeAccount(m endedMsg, ran *lang.Profile) {
	n := s.nodes[m.id]
	s.pauseAccount(accountOfAgent(ran.Agent), m.end)
	n.decision.Reason = Reason{Kind: LastFailed, Ordinal: m.attempt.Ordinal, Outcome: m.attempt.Outcome, Messages: nonEmpty(m.attempt.Message)}
	s.set(m.id, Queued)
	s.admit.push(m.id, s.graph.Node(m.id).Instance, n.given)
}

func (s *scheduler) pauseAccount(acc pause.Account, end agent.End) {
	now := s.b.Now()
	p := pause.Pause{Account: acc, Reason: event.PlainText(end.Message), Count: 1, Build: s.b.Build, Since: now}
	have := s.pauses[acc]
	limited := end.Class == agent.RateLimited
	if have != nil && limited != have.Until.IsZero() { // a limit after an empty account is the first of its kind
		p.Count = have.Count
		if !s.admit.paused[acc] {
			p.Count++ // attempts that were under way when the pause began say nothing new
		}
	}
	if have != nil && s.admit.paused[acc] && have.Until.IsZero() {
		return // said already
	}
	if end.Class != agent.RateLimited {
		s.keep(p)
		s.hold(p, 0)
		return
	}
	wait := end.Wait
	switch {
	case wait <= 0:
		wait = s.defaultWait(p.Count)
	case p.Count > wordsBelieved:
		wait = max(wait, s.defaultWait(p.Count-wordsBelieved))
	}
	if have != nil && s.admit.paused[acc] && have.Until.After(now.Add(wait)) {
		return // it holds for longer already
	}
	p.Until = now.Add(wait)
	s.keep(p)
	s.hold(p, wait)
}

// keep tells the other builds of this user, and the next one, of a pause.
func (s *scheduler) keep(p pause.Pause) {
	if s.b.Pauses != "" {
		s.known[p.Account] = p
		s.note(s.b.Pauses.Save(p))
	}
}

// wordsBelieved is how often in a row a provider's own word for the wait is taken as it is. One that says "in a
// second" each time would be asked, and perhaps paid, each second.
const wordsBelieved = 2

// defaultWait spreads the wait by a quarter upwards, so that builds that share an account do not come
// back at the same moment.
func (s *scheduler) defaultWait(count int) time.Duration {
	d := firstWait
	for i := 1; i < count && d < longestWait; i++ {
		d *= 2
	}
	return time.Duration(float64(min(d, longestWait)) * (1 + s.b.Jitter()/4))
}

// hold lets nothing of an account start. A pause with an end resumes by itself.
func (s *scheduler) hold(p pause.Pause, wait time.Duration) {
	s.holds++
	h := &accountPause{Pause: p, number: s.holds, ticking: !p.Until.IsZero()}
	if have := s.pauses[p.Account]; have != nil && have.ticking {
		s.timers-- // its timer counts for nothing any more
	}
	s.pauses[p.Account] = h
	s.admit.paused[p.Account] = true
	s.emit(event.Event{Kind: event.PoolPaused, Account: p.Account.String(), Until: p.Until, Text: p.String(), Message: p.Reason, Duration: wait})
	if p.Until.IsZero() {
		return
	}
	s.timers++
	sendAfter(s, wait, s.resumed, resumedMsg{p.Account, h.number})
}

// sendAfter sends a message to the scheduler when a time is over, unless the build ends before.
func sendAfter[T any](s *scheduler, wait time.Duration, to chan<- T, message T) {
	after := s.b.After(wait)
	go func() {
		select {
		case <-after:
		case <-s.quit:
			return
		}
		select {
		case to <- message:
		case <-s.quit:
		}
	}()
}

// resume ends a pause whose time is over.
func (s *scheduler) resume(m resumedMsg) {
	h := s.pauses[m.account]
	if h == nil || h.number != m.number {
		return
	}
	s.timers--
	h.ticking = false
	s.reopen(m.account)
}

// takeGood notes that an account works: the next pause begins with the shortest wait again.
func (s *scheduler) takeGood(ran *lang.Profile, o cache.Outcome) {
	if ran == nil || o != cache.OK && o != cache.Partial && o != cache.Rejected {
		return
	}
	acc := accountOfAgent(ran.Agent)
	if s.pauses[acc] == nil || s.admit.paused[acc] {
		return
	}
	s.pauses[acc] = nil
	if s.b.Pauses != "" {
		s.note(s.b.Pauses.Drop(acc))
	}
}

// note tells of trouble that stops nothing.
func (s *scheduler) note(err error) {
	if err != nil {
		s.emit(event.Event{Kind: event.Warning, Text: err.Error()})
	}
}

// hear does what a person wants. On hold nothing starts, also when everything else has ended; decisions go on, since they
// cost nothing.
func (s *scheduler) hear(h Hold) {
	if s.onHold == h.On {
		return
	}
	s.onHold, s.admit.onHold = h.On, h.On
	kind := event.BuildReleased
	if h.On {
		kind = event.BuildHeld
	}
	s.emit(event.Event{Kind: kind, Text: h.Text})
}

// idle reports whether nothing is under way that could let a queued node start.
func (s *scheduler) idle() bool {
	return !s.onHold && s.asking == 0 && s.running == 0 && s.resting == 0 && s.timers == 0
}

// held are the states in which a node can keep others waiting while nothing is under way.
var held = []State{Queued, Awaiting, Paused}

// giveUp ends what can only go on after a person has done something.
func (s *scheduler) giveUp() {
	if !slices.ContainsFunc(s.order, func(id graph.NodeID) bool { return slices.Contains(held, s.nodes[id].state) }) {
		panic("BUG: nodes are left and nothing is under way")
	}
	for _, id := range s.order {
		if s.nodes[id].state == Queued {
			s.pauseNode(id, s.whyQueued(id))
		}
	}
	s.pauseRest()
	s.admit.clear()
}

// pauseNode ends a node that a later build goes on with.
func (s *scheduler) pauseNode(id graph.NodeID, why string) {
	s.nodes[id].result.setMessage(why)
	s.set(id, Paused)
	s.open--
}

// pauseRest ends the nodes that wait for paused ones, or for a person's word.
func (s *scheduler) pauseRest() {
	for _, id := range s.order {
		if s.nodes[id].state == Waiting {
			s.pauseWaiting(id)
		}
	}
}

func (s *scheduler) pauseWaiting(id graph.NodeID) {
	dep := s.heldBy(id)
	if dep == nil {
		panic("BUG: " + s.nodes[id].result.Address.String() + " waits for nothing that waits")
	}
	s.putBehind(id, dep)
	s.set(id, dep.state)
	s.open--
}

// skipStuck skips what a failure skips although it has to wait for something else, too, and reports whether there was any. Who
// can go on without it wakes up.
func (s *scheduler) skipStuck(ctx context.Context) bool {
	found := false
	for _, id := range s.order {
		if s.nodes[id].state == Waiting && s.skipOrLeave(ctx, id) {
			found = true
		}
	}
	return found
}

// heldBy finds the dependency because of which a node does not go on before a person has done something: what lacks money
// comes before what a person is asked about. Builds and plans both ask here, so that they count alike; nil: there is none.
func (s *scheduler) heldBy(id graph.NodeID) *nodeState {
	var asked *nodeState
	for _, e := range s.graph.Deps(id) {
		dep := s.nodes[e.To]
		switch {
		case e.Kind == graph.Validation:
		case dep.state == Paused:
			return dep
		case dep.state == Awaiting && asked == nil:
			asked = dep
		}
	}
	return asked
}

// putBehind says of a node which other one holds it back.
func (s *scheduler) putBehind(id graph.NodeID, dep *nodeState) {
	r := &s.nodes[id].result
	w := r.say()
	w.Cause, w.Through = dep.result.root(), nil
	w.Message = "waits for " + w.Cause.String()
	if w.Cause != dep.result.Address {
		w.Through = &dep.result.Address
		w.Message += ", through " + w.Through.String()
	}
	if bound := s.boundOf(id); bound != "" {
		w.Message += "; " + bound
	}
}

// openAs is the state of a node that a plan does not decide, since others come first.
func (s *scheduler) openAs(id graph.NodeID) State {
	if dep := s.heldBy(id); dep != nil {
		return dep.state
	}
	return Unknown
}

// pausedAtOnce says of a stale node of a plan that a build could not pay for it, and reports whether that is so. What builds
// spend is never given back, so nothing that runs before it changes that.
func (s *scheduler) pausedAtOnce(id graph.NodeID) bool {
	if !s.b.Funded {
		return false
	}
	why := s.short(id)
	s.nodes[id].result.setMessage(why)
	s.nodes[id].result.Unpaid = why != ""
	return why != ""
}

// whyQueued says what keeps a queued node from starting.
func (s *scheduler) whyQueued(id graph.NodeID) string {
	for _, acc := range s.admit.blockedBy(s.graph.Node(id).Instance, s.nodes[id].given) {
		if h := s.pauses[acc]; h != nil {
			return h.Pause.String()
		}
	}
	if s.b.Unpaid != "" && s.graph.Node(id).Task.Kind == lang.Prompt {
		return s.b.Unpaid
	}
	if why := s.short(id); why != "" {
		s.nodes[id].result.Unpaid = true
		return why
	}
	panic("BUG: " + s.graph.Node(id).Address.String() + " is queued, nothing is under way and nothing holds it")
}

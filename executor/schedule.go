package executor

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/pause"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// scheduler is the loop that owns all state of one build. Workers get plain data and send back one
// message; nothing else is shared.
type scheduler struct {
	b        *Builder
	graph    *graph.Graph
	plan     bool
	recheck  bool // of a plan: keep the verdicts
	nodes    []*nodeState
	order    []graph.NodeID // wanted, topological
	open     int            // wanted nodes that are not done
	toAsk    chan question
	decided  chan decidedMsg
	ended    chan endedMsg
	rested   chan graph.NodeID
	quit     chan struct{} // closed at the end, for timers that nobody waits for
	hands    chan func()   // received from by goroutines that have ended an attempt
	asking   int
	gate     gate // before what decisions leave
	running  int
	resting  int
	backlog  []question // decisions that wait for a place in toAsk
	earlier  earlier    // of nodes that wait
	admit    admission
	ways     []time.Duration                 // by node; nil until something is to run
	pauses   map[pause.Account]*accountPause // also of accounts that were paused and did no better since
	resumed  chan resumedMsg
	known    map[pause.Account]pause.Pause    // what is kept of an account, as it was read or written last
	holds    int                              // pauses begun, to number them
	timers   int                              // pauses that will end by themselves
	budget   *budget.Account                  // of the campaign; nil: there is no ceiling
	budgets  map[string]*budget.Account       // of groups that have a ceiling
	owns     map[graph.NodeID]*budget.Account // by nodes with a ceiling of their own, of those that were asked for
	used     chan usedMsg
	records  *recorder
	onHold   bool   // a person wants nothing to start
	expanded int    // templates whose instances took their place
	halted   string // why nothing new starts; "" while it may
	haltAs   State  // what becomes of what may not start
	begun    time.Time
	unsound  error // see Summary.Unsound
}

type question struct {
	id   graph.NodeID
	inst *lang.Instance
	deps *dependencies
	// waits says that a dependency has to run first, or a person has to do something: only what is known without it is asked for.
	waits bool
}

type decidedMsg struct {
	id  graph.NodeID
	dec *Decision
	err error // records of the decision could not be kept
}

func newScheduler(b *Builder, plan bool) *scheduler {
	if m, ok := b.Store.(*mended); ok {
		b.Store = m.Store
	}
	if plan {
		b.Journal = nil
		b.Store = &mended{Store: b.Store, placer: b.Placer}
	}
	s := &scheduler{
		b: b, graph: b.Graph, plan: plan,
		nodes:   newNodeStates(b.Graph.Len()),
		toAsk:   make(chan question, 64),
		decided: make(chan decidedMsg, 64),
		ended:   make(chan endedMsg),
		rested:  make(chan graph.NodeID),
		quit:    make(chan struct{}),
		hands:   make(chan func()),
		admit:   newAdmission(b),
		pauses:  map[pause.Account]*accountPause{},
		resumed: make(chan resumedMsg),
		records: newRecorder(b),
		budgets: map[string]*budget.Account{},
		owns:    map[graph.NodeID]*budget.Account{},
		used:    make(chan usedMsg),
		known:   map[pause.Account]pause.Pause{},
		haltAs:  Cancelled,
		begun:   b.Now(),
	}
	s.admit.way = s.wayOf
	if !plan || b.Funded {
		s.fund()
	}
	return s
}

// run is the whole of a build.
func (s *scheduler) run(ctx context.Context, targets []graph.NodeID) (Summary, error) {
	s.want(targets)
	begin := event.Event{Kind: event.BuildStarted, Total: len(s.order) + s.b.Beyond}
	if s.b.Beyond > 0 {
		begin.Counts = map[string]int{IsFresh.String(): s.b.Beyond}
	}
	s.emit(begin)
	s.loadPauses()
	for range s.b.deciders() {
		go s.decideAll(ctx)
	}
	s.settle(ctx)
	for _, id := range s.order {
		if s.nodes[id].state == Waiting && s.nodes[id].waiting == 0 {
			s.ready(ctx, id)
		}
	}
	s.loop(ctx)
	close(s.toAsk)
	close(s.quit)
	sum := s.summary(ctx)
	return sum, s.records.close(sum.countNames(), s.b.Whole && sum.Complete())
}

// want marks what the targets need.
func (s *scheduler) want(targets []graph.NodeID) {
	s.order = s.graph.Closure(targets...)
	for _, id := range s.order {
		s.nodes[id].result.Address = s.graph.Node(id).Address
		s.set(id, Waiting)
	}
	for _, id := range s.order {
		for _, e := range s.graph.Deps(id) {
			if e.Kind != graph.Validation && s.nodes[e.To].state == Waiting {
				s.nodes[id].waiting++
			}
		}
	}
	s.open = len(s.order)
}

// loop runs until every wanted node is done. Each turn hands out what can be handed out, then takes
// one message.
func (s *scheduler) loop(ctx context.Context) {
	cancelled := ctx.Done()
	attempts, stop := context.WithCancel(ctx)
	defer stop()
	deadline := s.deadline()
	var patience <-chan time.Time
	for s.open > 0 {
		s.start(attempts)
		if s.open == 0 {
			return
		}
		if s.idle() {
			if s.skipStuck(ctx) {
				continue
			}
			s.giveUp()
			return
		}
		var ask chan question
		var next question
		if len(s.backlog) > 0 {
			ask, next = s.toAsk, s.backlog[0]
		}
		select {
		case ask <- next:
			s.backlog = s.backlog[1:]
		case m := <-s.decided:
			if s.nodes[m.id].state == Deciding { // else it came too late
				s.asking--
				s.takeDecision(ctx, m)
			}
		case m := <-s.ended:
			s.running--
			s.takeEnd(ctx, m)
		case m := <-s.used:
			s.takeUsed(m)
		case id := <-s.rested:
			s.resting--
			s.requeue(id)
		case m := <-s.resumed:
			s.resume(m)
		case h := <-s.b.Holds:
			s.hear(h)
		case <-cancelled:
			cancelled = nil
			s.halt("the build was stopped")
			patience = s.b.After(decidePatience)
		case <-patience:
			s.abandon()
		case <-deadline:
			deadline = nil
			s.expire()
			stop()
		}
	}
}

// ready is called when all dependencies of a node are done.
func (s *scheduler) ready(ctx context.Context, id graph.NodeID) {
	if s.halted != "" && !s.plan {
		s.cancel(id)
		return
	}
	if s.skipOrLeave(ctx, id) {
		return
	}
	if s.waitOthers(ctx, id) {
		return
	}
	if s.graph.Node(id).Template {
		s.expand(ctx, id)
		return
	}
	s.ask(id)
}

// skipOrLeave ends a node that nothing will run for since one that it needs failed, was skipped or is left out, and reports
// whether it is one.
func (s *scheduler) skipOrLeave(ctx context.Context, id graph.NodeID) bool {
	if cause, out := s.leftOutBy(id); out {
		s.leaveOut(ctx, id, cause)
		return true
	}
	if cause, withheld, skip := s.skipCause(id); skip {
		s.skip(ctx, id, cause, withheld)
		return true
	}
	return false
}

// waitOthers ends a node that cannot be decided until a dependency has run, or a person has done something, and reports
// whether it is one. What is known of it without that dependency a worker looks up first.
func (s *scheduler) waitOthers(ctx context.Context, id graph.NodeID) bool {
	n := s.nodes[id]
	if dep := s.heldBy(id); dep != nil {
		s.putBehind(id, dep)
	} else {
		cause, through, unknown := s.unknownCause(id)
		if !unknown {
			return false
		}
		if inst := s.graph.Node(id).Instance; s.plan && inst != nil && s.b.Campaign.Withheld(inst) {
			n.result.setMessage(whenFalse)
			s.skip(ctx, id, lang.Address{}, true)
			return true
		}
		n.result.setCause(cause, through)
		n.result.setMessage(s.boundOf(id))
	}
	if s.graph.Node(id).Instance == nil {
		s.done(ctx, id, s.openAs(id))
		return true
	}
	s.set(id, Deciding)
	s.asking++
	s.backlog = append(s.backlog, question{id: id, inst: s.graph.Node(id).Instance, deps: s.dependenciesOf(id), waits: true})
	return true
}

// whenFalse is what is said of a node that its own when skips.
const whenFalse = "when is false"

// boundOf says how many instances a template may get.
func (s *scheduler) boundOf(id graph.NodeID) string {
	node := s.graph.Node(id)
	if !node.Template {
		return ""
	}
	limit := node.Task.Expand.MaxItems
	if limit == 0 {
		limit = s.b.Campaign.MaxDynamicTasks
	}
	return fmt.Sprintf("at most %d instances", limit)
}

func (s *scheduler) ask(id graph.NodeID) {
	s.set(id, Deciding)
	s.asking++
	s.backlog = append(s.backlog, question{id: id, inst: s.graph.Node(id).Instance, deps: s.dependenciesOf(id)})
}

// skipCause finds the dependency because of which a node is skipped.
func (s *scheduler) skipCause(id graph.NodeID) (cause lang.Address, withheld, skip bool) {
	for _, e := range s.graph.Deps(id) {
		dep := s.nodes[e.To]
		if e.Tolerate || e.Kind != graph.Data && e.Kind != graph.Verdict {
			continue
		}
		switch dep.state {
		case Failed:
			return dep.result.Address, false, true
		case Skipped, Cancelled:
			if dep.result.Cause == (lang.Address{}) {
				return dep.result.Address, dep.result.Withheld, true
			}
			return dep.result.Cause, dep.result.Withheld, true
		}
	}
	return cause, false, false
}

// unknownCause finds what has to run before the node can be decided, and the dependency through which the node waits for
// it, where that is another one. What it is only judged by leaves its key known, so a plan asks; a build has nothing else to
// wait for.
func (s *scheduler) unknownCause(id graph.NodeID) (cause lang.Address, through *lang.Address, unknown bool) {
	for _, e := range s.graph.Deps(id) {
		dep := s.nodes[e.To]
		if e.Kind != graph.Data && (s.plan || e.Kind != graph.Verdict) {
			continue
		}
		switch dep.state {
		case WouldRun:
			return dep.result.Address, nil, true
		case Unknown:
			return dep.result.Cause, &dep.result.Address, true
		}
	}
	return lang.Address{}, nil, false
}

// dependenciesOf snapshots what the dependencies of a node left.
func (s *scheduler) dependenciesOf(id graph.NodeID) *dependencies {
	edges := s.graph.Deps(id)
	deps := &dependencies{cas: s.b.Store, doubted: s.nodes[id].doubted}
	deps.results.list = make([]leftAt, 0, len(edges))
	for _, e := range edges {
		dep := s.graph.Node(e.To)
		deps.results.set(dep.Address, s.nodes[e.To].left)
		if dep.Template { // a reader derives the instances again from what their list came from
			for _, e := range s.graph.Deps(e.To) {
				deps.results.set(s.graph.Node(e.To).Address, s.nodes[e.To].left)
			}
		}
	}
	return deps
}

// whereFound says where an attempt came from that this campaign had not selected.
func whereFound(at cache.Attempt) string {
	if at.From == nil {
		return "the store"
	}
	return at.From.Remote
}

// waitingDeciders is how many decisions may wait for what other machines made: each takes a round trip or more.
const waitingDeciders = 16

// deciders is how many nodes are decided at a time.
func (b *Builder) deciders() int {
	if b.Shared != nil {
		return max(waitingDeciders, runtime.GOMAXPROCS(0))
	}
	return runtime.GOMAXPROCS(0)
}

func (s *scheduler) takeDecision(ctx context.Context, m decidedMsg) {
	n := s.nodes[m.id]
	n.decision = m.dec
	n.result.Key = m.dec.Key
	n.result.setReason(m.dec.Reason)
	if s.plan {
		w := n.result.say()
		w.Manifest = m.dec.Manifest
		if m.dec.Action != nil {
			w.Inflows, w.Compared = m.dec.Action.Inflows, m.dec.Action.Compared
		}
	}
	if s.b.Sourced != nil && m.dec.Action != nil {
		s.b.Sourced(m.dec.Action.Address, m.dec.Action.Sources)
	}
	if s.takeBack(ctx, m.id, errors.Join(m.err, m.dec.Err)) {
		return
	}
	if m.err != nil {
		s.fail(ctx, m.id, cache.Infra, m.err.Error())
		return
	}
	switch m.dec.Answer {
	case Fresh:
		s.takeFresh(ctx, m.id)
	case Stale:
		s.takeStale(ctx, m.id)
	case Withheld:
		n.result.Withheld = true
		n.result.setMessage(whenFalse)
		s.skip(ctx, m.id, lang.Address{}, true)
	case Unjudged:
		s.takeUnjudged(ctx, m.id)
	case Waits:
		s.done(ctx, m.id, s.openAs(m.id))
	case Asked:
		s.takeAwaiting(ctx, m.id)
	case Broken:
		n.result.say().Diags = m.dec.Diagnostics
		outcome := cache.Failed
		var full *NoRoom
		if errors.As(m.dec.Err, &full) {
			n.result.World, outcome = true, cache.Infra
		}
		s.fail(ctx, m.id, outcome, brokenMessage(m.dec))
	}
}

func brokenMessage(dec *Decision) string {
	if dec.Err != nil {
		return dec.Err.Error()
	}
	for _, d := range dec.Diagnostics {
		if d.Severity == lang.Error {
			return d.Summary
		}
	}
	return "cannot be decided"
}

func (s *scheduler) takeFresh(ctx context.Context, id graph.NodeID) {
	n := s.nodes[id]
	dec := n.decision
	n.result.Ordinal = dec.Attempt.Ordinal
	n.result.setWarnings(dec.Verdict.Warnings)
	if dec.Note != "" {
		n.result.warn(dec.Note)
	}
	s.noteDiffer(id)
	if dec.Attempt.Key != dec.Key {
		n.result.From = &dec.Attempt.Key
	}
	n.result.Where = dec.Attempt.From
	n.left = leftBy(dec.Action, dec.Attempt)
	n.placed, n.placedAt = dec.Attempt.Captured.Outputs, s.b.Now().UnixNano()
	sel, ok := s.b.View.Selected(dec.Action.Address)
	if !ok || sel.Key != dec.Attempt.Key || sel.Ordinal != dec.Attempt.Ordinal {
		n.result.Found = true
		s.records.selected(dec.Action.Address, dec.Attempt, "found in "+whereFound(dec.Attempt))
	} else if _, was := s.b.View.Skipped[dec.Action.Address]; was {
		s.records.selected(dec.Action.Address, dec.Attempt, sel.Reason) // not skipped any more
	}
	if !s.plan && s.b.Account != nil && !n.doubted {
		s.b.Account(accountOf(s.b.Campaign, s.graph.Node(id).Instance, dec.Attempt, true))
	}
	s.done(ctx, id, IsFresh)
}

// noteDiffer says which outputs of a fresh node are missing or edited: they are restored, or reported
// where the task keeps edits.
func (s *scheduler) noteDiffer(id graph.NodeID) {
	n := s.nodes[id]
	dec := n.decision
	if s.graph.Node(id).Instance.KeepEdits && dec.Place == place.Edited {
		n.result.warn("edited, and kept so (keep_edits): " + strings.Join(dec.Differ, ", "))
		return
	}
	if n.result.Restored = len(dec.Differ) > 0; n.result.Restored || len(n.result.Differ) > 0 {
		n.result.say().Differ = dec.Differ
	}
}

func (s *scheduler) takeStale(ctx context.Context, id graph.NodeID) {
	n := s.nodes[id]
	s.emit(event.Event{Kind: event.NodeDecided, Address: n.result.Address.String(), State: "stale",
		Reason: n.result.Reason.String(), Key: n.result.Key.String(), Account: limitOf(s.graph.Node(id).Instance)})
	switch {
	case !s.mayStart(id):
		s.leaveOut(ctx, id, lang.Address{})
	case s.plan && n.result.Reason.Kind == NotStoredYet: // a build stores it, and then it is judged
		n.result.setMessage("until it is stored")
		n.result.setCause(n.result.Address, n.result.Through)
		s.done(ctx, id, Unknown)
	case s.plan && s.pausedAtOnce(id):
		s.done(ctx, id, Paused)
	case s.plan:
		s.done(ctx, id, WouldRun)
	case s.halted != "":
		s.cancel(id)
	default:
		s.set(id, Queued)
		s.admit.push(id, s.graph.Node(id).Instance, n.given)
	}
}

// takeUnjudged ends a node whose stored bytes no one can judge: a plan leaves it open, a build has
// tried and says so. Nothing is run: the bytes are paid for.
func (s *scheduler) takeUnjudged(ctx context.Context, id graph.NodeID) {
	n := s.nodes[id]
	n.result.Ordinal = n.decision.Attempt.Ordinal
	if s.plan {
		message, cause := "until judged", n.result.Address
		if until, open := n.decision.Action.pending(); open {
			message, cause = "", until
		}
		n.result.setMessage(message)
		n.result.setCause(cause, n.result.Through)
		s.done(ctx, id, Unknown)
		return
	}
	msg := "could not be judged; the attempt is kept and will be judged again"
	if ms := n.decision.Verdict.Messages; len(ms) > 0 {
		msg += ": " + ms[0]
	}
	s.fail(ctx, id, cache.Infra, msg)
}

// done makes a node final and tells its dependents.
func (s *scheduler) done(ctx context.Context, id graph.NodeID, to State) {
	n := s.nodes[id]
	s.set(id, to)
	s.open--
	n.decision, n.stop = nil, nil
	if !n.left.done {
		n.left = left{done: true, status: to.String(), until: s.until(id)}
	}
	if to == Expanded { // its instances are told of instead
		s.expanded++
	} else {
		s.tellDone(id, to)
	}
	for e := range s.graph.Dependents(id) {
		d := s.nodes[e.From]
		if e.Kind == graph.Validation || d.state != Waiting {
			continue
		}
		if d.waiting--; d.waiting == 0 {
			s.ready(ctx, e.From)
		}
	}
}

func (s *scheduler) tellDone(id graph.NodeID, to State) {
	n := s.nodes[id]
	s.emit(event.Event{
		Kind: event.NodeDone, Address: n.result.Address.String(), State: to.String(), Outcome: string(n.result.Outcome),
		Message: n.result.Message, Duration: n.result.Duration, Ordinal: n.result.Ordinal, Reason: n.result.Reason.String(),
		Total: len(s.order) - s.expanded + s.b.Beyond,
	})
}

// until names the node that has to run before what a node leaves is known; nil when it is known.
func (s *scheduler) until(id graph.NodeID) *lang.Address {
	switch n := s.nodes[id]; n.state {
	case WouldRun, Unknown, Awaiting, Paused:
		until := n.result.root()
		return &until
	}
	return nil
}

func (s *scheduler) fail(ctx context.Context, id graph.NodeID, o cache.Outcome, message string) {
	n := s.nodes[id]
	n.result.Outcome = o
	n.result.setMessage(message)
	n.left = left{done: true, status: "failed"}
	s.done(ctx, id, Failed)
	if s.b.FailFast || onFailure(s.graph.Node(id)) == "abort" {
		s.halt(n.result.Address.String() + " failed")
	}
}

func onFailure(n *graph.Node) string {
	if n.Instance == nil {
		return "fail"
	}
	return n.Instance.OnFailure
}

func (s *scheduler) skip(ctx context.Context, id graph.NodeID, cause lang.Address, withheld bool) {
	n := s.nodes[id]
	n.result.Withheld = withheld
	n.result.setCause(cause, n.result.Through)
	if cause != (lang.Address{}) {
		n.result.setMessage(cause.String() + " " + skipVerb(withheld))
		if !withheld {
			s.records.skipped(n.result.Address, cause, s.messageOf(cause))
		}
	}
	n.left = left{done: true, status: "skipped"}
	s.done(ctx, id, Skipped)
}

// messageOf is the first line of why a node failed.
func (s *scheduler) messageOf(a lang.Address) string {
	id, ok := s.graph.Find(a)
	if !ok {
		return ""
	}
	r := &s.nodes[id].result
	first, _, _ := strings.Cut(r.Message, "\n")
	if first == "" {
		first = string(r.Outcome)
	}
	return first
}

func skipVerb(withheld bool) string {
	if withheld {
		return "was skipped"
	}
	return "failed"
}

// cancel ends a node that the build will not start any more, without waking its dependents: they are
// cancelled by halt themselves.
func (s *scheduler) cancel(id graph.NodeID) {
	n := s.nodes[id]
	n.result.setMessage(s.halted)
	s.set(id, s.haltAs)
	s.open--
}

// halt starts nothing new. What runs goes on; a stopped context reaches it by itself.
func (s *scheduler) halt(why string) {
	if s.halted != "" {
		return
	}
	s.halted = why
	if s.plan {
		return
	}
	for _, id := range s.order {
		if st := s.nodes[id].state; st == Waiting || st == Queued || st == Resting {
			s.cancel(id)
		}
	}
	s.admit.clear()
}

func (s *scheduler) emit(e event.Event) {
	if s.plan {
		return
	}
	s.b.emit(e)
}

func (s *scheduler) summary(ctx context.Context) Summary {
	sum := Summary{Graph: s.graph, Counts: map[State]int{}, Stopped: ctx.Err() != nil, Duration: s.b.Now().Sub(s.begun)}
	results := make([]NodeResult, 0, len(s.order)) // by themselves, so that all else that was known of nodes can go
	for _, id := range s.graph.Order() {
		if n := s.nodes[id]; n.state == Paused && n.short {
			n.result.setMessage(s.whyShort(id))
		}
		r := &s.nodes[id].result
		r.Inherited = s.nodes[id].left.inherited
		if r.State == Unwanted || r.State == Expanded {
			continue
		}
		results = append(results, *r)
		sum.Counts[r.State]++
	}
	sum.Nodes = make([]*NodeResult, len(results))
	for i := range results {
		sum.Nodes[i] = &results[i]
	}
	sum.Total = len(sum.Nodes) + s.b.Beyond
	if s.b.Beyond > 0 {
		sum.Counts[IsFresh] += s.b.Beyond
	}
	s.putBack()
	sum.Unclean = s.unclean()
	sum.Unsound = s.unsound
	s.emit(event.Event{Kind: event.BuildEnded, Counts: sum.countNames(), Total: sum.Total, Duration: sum.Duration})
	return sum
}

// countNames counts nodes by the names of their states, and what makes a build unclean.
func (sum *Summary) countNames() map[string]int {
	out := map[string]int{}
	for s, n := range sum.Counts {
		out[s.String()] = n
	}
	if n := len(sum.Unclean); n > 0 {
		out["unclean"] = n
	}
	return out
}

package executor

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// State is where a node is in one build or plan.
type State uint8

// The states. Those from Done states on are final.
const (
	Unwanted  State = iota // not needed for the targets
	Waiting                // for dependencies
	Deciding               // a worker looks whether it is fresh
	Queued                 // stale, waits for a slot
	Running                // an attempt runs
	Resting                // between two tries, holds no slot
	IsFresh                // done: nothing had to run
	Ran                    // done: an attempt succeeded
	Failed                 // done: its last attempt failed, or it could not be decided
	Skipped                // done: a dependency failed or was skipped, when = false, or out of scope
	Cancelled              // done: the build stopped before it could run
	WouldRun               // done, plan only: stale
	Unknown                // done, plan only: cannot be decided until a dependency has run
	Paused                 // done: its account is paused or its money spent, and nothing else could run
	Awaiting               // done: its outputs, or those of what it needs, wait for a person's word
	Expanded               // done: a template whose instances are nodes of their own now
)

var stateNames = map[State]string{
	Unwanted: "unwanted", Waiting: "waiting", Deciding: "deciding", Queued: "queued", Running: "running",
	Resting: "resting", IsFresh: "fresh", Ran: "ran", Failed: "failed", Skipped: "skipped",
	Cancelled: "cancelled", WouldRun: "stale", Unknown: "unknown",
	Paused: "paused", Awaiting: "waiting", Expanded: "expanded",
}

// String returns the state as it is printed.
func (s State) String() string { return stateNames[s] }

// Final reports whether the node is done.
func (s State) Final() bool { return s >= IsFresh }

// legal lists the transitions. set panics on any other, so state cannot be lost in a corner.
var legal = map[State][]State{
	Unwanted: {Waiting},
	Waiting:  {Deciding, Skipped, Cancelled, Unknown, Paused, Awaiting},
	Deciding: {Waiting, IsFresh, Queued, Skipped, Failed, WouldRun, Unknown, Cancelled, Expanded, Paused, Awaiting},
	Queued:   {Running, Cancelled, Paused},
	Running:  {Waiting, Ran, IsFresh, Failed, Cancelled, Resting, Deciding, Queued, Paused, Awaiting},
	Resting:  {Queued, Cancelled, Paused},
	IsFresh:  {Waiting}, // stored bytes turned out to be damaged
	Ran:      {Waiting},
}

// nodeState is what the scheduler knows of a node. Only the scheduler goroutine touches it.
//
// There is one for each node of the campaign, to the end of the build, so its size counts: numbers are as small as what they count,
// and what is said of few nodes lies elsewhere.
type nodeState struct {
	result   NodeResult
	left     left
	decision *Decision               // nil before the first and once the node is done: it holds all that the task is given
	likely   *budget.Estimate        // nil until asked for
	stop     context.CancelCauseFunc // of a running one
	placed   []cache.Output          // what is in place; nil: nothing yet
	placedAt int64                   // when it was, in nanoseconds since 1970
	waiting  int32                   // dependencies that are not done
	tries    int                     // attempts in this build that used up a try
	made     int                     // attempts in this build
	rung     int                     // the rung of its agent that ran it last
	given    rungSet                 // rungs whose tries are used up
	infra    uint8                   // attempts in this build that the machine spoiled, a few at most
	redone   uint8                   // decisions repeated because a source changed, a few at most
	damaged  uint8                   // decisions repeated because of damaged bytes, a few at most
	lost     uint8                   // attempts in this build that got lost elsewhere
	state    State
	doubted  bool // taken back, since a reader met damaged bytes
	short    bool // it was stopped because a budget that it shares was spent
}

func newNodeStates(n int) []*nodeState {
	all := make([]nodeState, n)
	out := make([]*nodeState, n)
	for i := range all {
		all[i].result.Reason, all[i].result.Words = &noReason, &noWords
		out[i] = &all[i]
	}
	return out
}

// NodeResult is what a build or plan says of one node.
type NodeResult struct {
	Address   lang.Address
	Key       cache.Key     // zero while unknown
	Reason    *Reason       // why it ran or would run; Unknown: what speaks for a run whatever Cause leaves. Never nil, never changed
	From      *cache.Key    // IsFresh: the attempt's own key, where a person chose one of another key; else nil
	Where     *cache.From   // IsFresh by an attempt that another machine made; nil for those made here
	Ordinal   int           // of the attempt that it reads, or that failed
	Outcome   cache.Outcome // of the attempt made in this build
	Duration  time.Duration // of the attempts made in this build
	*Words                  // never nil
	State     State
	Withheld  bool // Skipped because of when = false
	Unpaid    bool // Paused because a ceiling is reached, so that only a higher one lets another build go on
	World     bool // Failed because of this machine: nothing was begun, or what it left is kept and not stored yet
	Inherited bool // of one that is fresh or ran: its trees record what they changed of others
	LeftOut   bool // Skipped because the scope of the build leaves it out, or Cause, which it needs
	Found     bool // IsFresh by an attempt that this campaign had not selected
	Restored  bool // IsFresh, and outputs were or would be put in place
}

// Words are what there is to say of a node that is not just fresh or ran. Most nodes share those that say nothing: who reads a
// result does not change them.
type Words struct {
	Message  string        // for people: why it failed or was skipped
	Cause    lang.Address  // Skipped: the root failure; Unknown, Paused, Awaiting: the node it waits for, zero for a root of these
	Through  *lang.Address // the dependency through which it waits for Cause; nil when it is Cause
	Differ   []string      // paths that were missing or edited
	Warnings []string
	Diags    lang.Diagnostics
	Manifest []byte     // plan only: what the key is the digest of
	Inflows  []Inflow   // plan only: what in1, in2, … of the manifest are
	Compared []Compared // plan only: what contracts compare with
}

// What most nodes have.
var (
	noWords      Words
	noReason     Reason
	firstAttempt = Reason{Kind: FirstAttempt}
)

// say returns words that are the node's own, to be changed.
func (r *NodeResult) say() *Words {
	if r.Words == &noWords {
		r.Words = new(Words)
	}
	return r.Words
}

func (r *NodeResult) setMessage(m string) {
	if m != r.Message {
		r.say().Message = m
	}
}

func (r *NodeResult) setCause(cause lang.Address, through *lang.Address) {
	if cause != r.Cause || through != r.Through {
		w := r.say()
		w.Cause, w.Through = cause, through
	}
}

func (r *NodeResult) setWarnings(w []string) {
	if len(w)+len(r.Warnings) > 0 {
		r.say().Warnings = w
	}
}

func (r *NodeResult) warn(text string) { r.setWarnings(append(slices.Clone(r.Warnings), text)) }

func (r *NodeResult) setReason(why Reason) {
	switch {
	case why.IsZero():
		r.Reason = &noReason
	case why.Kind == FirstAttempt && why.isBare():
		r.Reason = &firstAttempt
	default:
		own := why
		r.Reason = &own
	}
}

// root is the node at the end of what a node waits for: itself when it waits for none.
func (r *NodeResult) root() lang.Address {
	if r.Cause == (lang.Address{}) {
		return r.Address
	}
	return r.Cause
}

// set is the only place where a node's state changes.
func (s *scheduler) set(id graph.NodeID, to State) {
	n := s.nodes[id]
	for _, ok := range legal[n.state] {
		if ok == to {
			n.state = to
			n.result.State = to
			return
		}
	}
	panic(fmt.Sprintf("BUG: node %s goes from %s to %s", s.graph.Node(id).Address, n.state, to))
}

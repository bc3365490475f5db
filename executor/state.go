package executor

import (
	"context"
	"fmt"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// State is where a node is in one build or plan.
type State int

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
type nodeState struct {
	state    State
	waiting  int // dependencies that are not done
	left     left
	decision *Decision // nil before the first and once the node is done: it holds all that the task is given
	result   NodeResult
	tries    int                     // attempts in this build that used up a try
	infra    int                     // attempts in this build that the machine spoiled
	likely   *budget.Estimate        // nil until asked for
	rung     int                     // the rung of its agent that ran it last
	given    rungSet                 // rungs whose tries are used up
	redone   int                     // decisions repeated because a source changed
	damaged  int                     // decisions repeated because of damaged bytes
	doubted  bool                    // taken back, since a reader met damaged bytes
	lost     uint8                   // attempts in this build that got lost elsewhere; small, since memory is counted by node
	short    bool                    // it was stopped because a budget that it shares was spent
	made     int                     // attempts in this build
	stop     context.CancelCauseFunc // of a running one
	placed   []cache.Output          // what is in place; nil: nothing yet
	placedAt time.Time               // when it was
}

func newNodeStates(n int) []*nodeState {
	all := make([]nodeState, n)
	out := make([]*nodeState, n)
	for i := range all {
		out[i] = &all[i]
	}
	return out
}

// NodeResult is what a build or plan says of one node.
type NodeResult struct {
	Address   lang.Address
	State     State
	Reason    Reason        // why it ran or would run; Unknown: what speaks for a run whatever Cause leaves
	Key       cache.Key     // zero while unknown
	From      *cache.Key    // IsFresh: the attempt's own key, where a person chose one of another key; else nil
	Manifest  []byte        // plan only: what the key is the digest of
	Inflows   []Inflow      // plan only: what in1, in2, … of the manifest are
	Compared  []Compared    // plan only: what contracts compare with
	Ordinal   int           // of the attempt that it reads, or that failed
	Outcome   cache.Outcome // of the attempt made in this build
	Message   string        // for people: why it failed or was skipped
	Cause     lang.Address  // Skipped: the root failure; Unknown, Paused, Awaiting: the node it waits for, zero for a root of these
	Through   *lang.Address // the dependency through which it waits for Cause; nil when it is Cause
	Withheld  bool          // Skipped because of when = false
	Unpaid    bool          // Paused because a ceiling is reached, so that only a higher one lets another build go on
	World     bool          // Failed because of this machine: nothing was begun, or what it left is kept and not stored yet
	Inherited bool          // of one that is fresh or ran: its trees record what they changed of others
	LeftOut   bool          // Skipped because the scope of the build leaves it out, or Cause, which it needs
	Found     bool          // IsFresh by an attempt that this campaign had not selected
	Restored  bool          // IsFresh, and outputs were or would be put in place
	Differ    []string      // paths that were missing or edited
	Where     *cache.From   // IsFresh by an attempt that another machine made; nil for those made here
	Warnings  []string
	Duration  time.Duration // of the attempts made in this build
	Diags     lang.Diagnostics
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

package cache

import (
	"time"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// Outcome says how an attempt ended. The set is closed; a store written by a newer ufbuild may hold others, which are
// kept as they are and are not Valid.
type Outcome string

// The outcomes.
const (
	OK          Outcome = "ok"           // ended well and the contract passed
	Partial     Outcome = "partial"      // stopped by its own limit, and accepted
	Failed      Outcome = "failed"       // the process failed or crashed
	Rejected    Outcome = "rejected"     // by contract
	Refused     Outcome = "refused"      // by the agent
	Stalled     Outcome = "stalled"      // silent for longer than its idle timeout
	TimedOut    Outcome = "timed out"    // past its deadline
	RateLimited Outcome = "rate limited" // by the account's provider, for a time
	Account     Outcome = "account"      // no credit or no login
	OverBudget  Outcome = "over budget"  // stopped by a ceiling
	Cancelled   Outcome = "cancelled"    // by a person or by fail-fast
	Interrupted Outcome = "interrupted"  // its builder died
	Infra       Outcome = "infra"        // the world around the task failed: disk, network, fork
)

// outcomes lists the closed set; its order ranks conflicting ends in Fold.
var outcomes = []Outcome{
	OK, Partial, Rejected, Failed, Refused, Stalled, TimedOut, RateLimited, Account, OverBudget, Cancelled, Infra, Interrupted,
}

// Valid reports whether o is one of the closed set.
func (o Outcome) Valid() bool { return o.rank() < len(outcomes) }

// rank is the place of o in the closed set; what is unknown comes after all of it.
func (o Outcome) rank() int {
	for i, known := range outcomes {
		if o == known {
			return i
		}
	}
	return len(outcomes)
}

// State says how far the records of an attempt go.
type State string

// The states, in order. An attempt whose start was lost but which something else mentions is Ended and Interrupted.
const (
	Started       State = "started"  // the process may be running; nothing was captured
	CapturedState State = "captured" // its bytes are stored; not judged and ended yet
	Ended         State = "ended"    // has an Outcome
)

// Output is one declared output as captured.
type Output struct {
	Name   string        `json:"name"`
	Exists bool          `json:"exists,omitempty"`
	Tree   bool          `json:"tree,omitempty"`  // Digest names an encoded Tree
	Digest digest.Digest `json:"digest,omitzero"` // zero when it does not exist
	Mode   uint32        `json:"mode,omitempty"`  // permission bits of a file
}

// Usage is what an attempt consumed. Nil means unknown, which is not zero.
type Usage struct {
	InputTokens  *int64   `json:"input_tokens,omitempty"`
	CachedTokens *int64   `json:"cached_tokens,omitempty"` // part of the input that the provider had cached
	OutputTokens *int64   `json:"output_tokens,omitempty"`
	CostUSD      *float64 `json:"cost_usd,omitempty"`
	Model        string   `json:"model,omitempty"`   // as the agent reported it
	Session      string   `json:"session,omitempty"` // the agent's own name for the conversation
	// AtLeast says that the program was stopped before it told everything: each number is a lower bound.
	AtLeast bool `json:"at_least,omitempty"`
}

// Captured is what was taken when the process ended, whatever its exit.
type Captured struct {
	Exit               int           `json:"exit"`
	Signal             string        `json:"signal,omitempty"`     // "SIGKILL"; empty when it exited by itself
	StoppedBy          string        `json:"stopped_by,omitempty"` // "", "timeout", "idle", "cancel" or "budget"
	Outputs            []Output      `json:"outputs,omitempty"`
	Leftovers          digest.Digest `json:"leftovers,omitzero"` // a Tree of what was not declared, or zero
	LeftoversTruncated bool          `json:"leftovers_truncated,omitempty"`
	Given              digest.Digest `json:"given,omitzero"` // a Tree of the sources that output trees changed or deleted, as far as it could be stored; zero when no source lay where a tree matches
	Log                digest.Digest `json:"log,omitzero"`
	LogDamage          string        `json:"log_damage,omitempty"` // what of the log is lost, in words; "" when it is whole
	Usage              Usage         `json:"usage,omitzero"`
	Duration           time.Duration `json:"duration,omitempty"` // ns, monotonic
	Sandbox            string        `json:"sandbox,omitempty"`
	Enforced           []string      `json:"enforced,omitempty"` // what was withheld from the process and by what, one phrase each
	Where              string        `json:"where,omitempty"`    // "local" or the name of a remote
	Problems           []string      `json:"problems,omitempty"` // why an output is not what it was declared to be, or the program did not start
	Kept               []Output      `json:"kept,omitempty"`     // files for the agent's driver, named by their path in the workspace
}

// Agent is the program that was to carry out a prompt, so that what an attempt left can be read and accounted without the
// campaign that ran it.
type Agent struct {
	Adapter string `json:"adapter,omitempty"`
	Model   string `json:"model,omitempty"`   // as the campaign names it
	Pool    string `json:"pool,omitempty"`    // of the account
	Version string `json:"version,omitempty"` // as the program said it; "" when nobody asked
}

// Placed names an attempt that was given to another machine, so that whoever looks later can find it there.
type Placed struct {
	Remote string `json:"remote"`           // name of the remote in its campaign
	Action string `json:"action,omitempty"` // what the remote was asked to run, in its own notation
	Handle string `json:"handle,omitempty"` // how the remote calls it: the name of a job, or of an operation; "" while it has none
	At     string `json:"at,omitempty"`     // how the remote was reached, in words; another campaign may mean something else by its name
	Turn   int    `json:"turn,omitempty"`   // from 1; of several records about one attempt the highest counts
}

// String says where for people: "slurm, as job-1".
func (p *Placed) String() string {
	if p.Handle == "" {
		return p.Remote
	}
	return p.Remote + ", as " + p.Handle
}

// Verdict is what judging said about the outputs that Key names.
type Verdict struct {
	Key          VerdictKey `json:"key"`
	Pass         bool       `json:"pass,omitempty"`
	Inconclusive bool       `json:"inconclusive,omitempty"` // neither pass nor fail; judged again next time
	Messages     []string   `json:"messages,omitempty"`
	Warnings     []string   `json:"warnings,omitempty"`
	// Round orders verdicts of one attempt under one Key: who judges again writes the round it read plus one, and the
	// highest round counts. In one round a conclusive verdict beats an inconclusive one, and a failure beats a pass.
	Round int `json:"round,omitempty"`
}

// Owner is the process that runs an attempt, told apart from every other one that ever had its number.
type Owner struct {
	PID       int    `json:"pid,omitempty"`
	BootID    string `json:"boot_id,omitempty"`    // of the kernel, /proc/sys/kernel/random/boot_id
	StartTime uint64 `json:"start_time,omitempty"` // clock ticks after boot, field 22 of /proc/PID/stat
}

// Discard is a person's word that an attempt shall not be chosen by key any more.
type Discard struct {
	ID       string    `json:"id"` // of the retry that made it; the same for its whole cone
	Who      string    `json:"who,omitempty"`
	Why      string    `json:"why,omitempty"`
	Campaign string    `json:"campaign,omitempty"` // absolute root of the campaign it was given in
	When     time.Time `json:"when,omitzero"`      // display only
}

// Attempt is one execution of an action, folded from its records.
type Attempt struct {
	Key     Key
	Ordinal int // from 1; never used twice for a key

	Address  string // canonical address of the node that ran it first
	Campaign string // absolute root of its campaign
	Build    string // build id
	Manifest digest.Digest
	Prompt   digest.Digest // full text sent, appended section included; zero for commands
	Reason   string        // why it ran, rendered
	Feedback digest.Digest // what the try before was told to do better; zero when nothing
	Rung     string        // agent rung that ran it
	Agent    Agent         // of that rung; zero for commands
	Owner    Owner
	// Workspace is the absolute directory it ran in; it may be gone.
	Workspace string

	StartedAt, EndedAt time.Time // display only
	// Placed is where it runs or ran when that was not a process of its builder; nil for one that was. Such an attempt may
	// outlive its builder.
	Placed *Placed

	From *From // of an attempt that another machine made; nil for those made here

	State    State
	Captured *Captured // nil until captured
	Outcome  Outcome   // set when ended
	Message  string    // set when ended; may be empty
	Verdicts map[VerdictKey]Verdict
	// Discarded is nil when no discard stands, else the one of Discards with the greatest ID.
	Discarded *Discard
	// Discards are all that stand, ordered by ID: made and not restored. Several campaigns may each have made one.
	Discards []Discard
}

// NextOrdinal returns the ordinal of the next attempt of a key. Call it while holding the key's lock.
func NextOrdinal(attempts []Attempt) int {
	last := 0
	for _, a := range attempts {
		last = max(last, a.Ordinal)
	}
	return last + 1
}

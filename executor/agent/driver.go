package agent

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

// Paths in a workspace. All lie below .uf, which is in no tree, output or leftover.
const (
	PromptPath   = ".uf/prompt.md"            // the full text that is sent; $UF_PROMPT
	UsagePath    = ".uf/usage.json"           // what the program may report; $UF_USAGE
	LastPath     = ".uf/last.md"              // the final message, for programs that write one
	FeedbackPath = ".uf/feedback/contract.md" // the messages of the contract on a feedback try
	FeedbackDir  = ".uf/feedback/output"      // the earlier outputs at their declared paths
)

// Driver is the knowledge about one adapter. Implementations are pure and safe for concurrent use.
type Driver interface {
	// Start returns how to hand a prompt to the agent. The error is the user's fault in the
	// profile or agent and names what to change.
	Start(s Start) (Command, error)
	// Read says how an attempt ended. It accepts any bytes.
	Read(e Ended) End
}

// Metered is a driver whose stream says what an attempt uses while it runs.
type Metered interface {
	// Meter returns a meter for one attempt.
	Meter() Meter
}

// Meter reads the stream of an attempt that runs. It belongs to one goroutine at a time.
type Meter interface {
	// Line takes the next line of the stream, whatever it is. b is valid during the call only.
	Line(b []byte)
	// Usage is what the attempt has used at least, as far as its stream says.
	Usage() cache.Usage
}

// Registry finds a driver by the name of its adapter.
type Registry map[string]Driver

// Driver returns the driver of an adapter.
func (r Registry) Driver(adapter string) (Driver, error) {
	if d, ok := r[adapter]; ok {
		return d, nil
	}
	names := strings.Join(slices.Sorted(maps.Keys(r)), ", ")
	return nil, fmt.Errorf("find adapter %q: unknown\nhint: one of %s", adapter, names)
}

// Start is what a driver needs to start an agent.
type Start struct {
	Profile   *lang.Profile // its Agent is set
	Prompt    string        // the full text, also laid at PromptPath
	BudgetUSD float64       // ceiling of this attempt for programs that can hold one; 0: none
}

// Command is how to start an agent in the root of its workspace.
type Command struct {
	Argv  []string
	Stdin []byte            // what it reads from standard input; nil for nothing
	Env   map[string]string // beside what agent, profile and task list; those win
	Files []string          // paths below .uf to keep at the end for Read, beside UsagePath
}

// Ended is what is left of an attempt.
type Ended struct {
	Exit      int
	Signal    string // "SIGKILL"; "" when it exited by itself
	StoppedBy string // "", "timeout", "idle", "cancel" or "budget": the executor stopped it
	Log       []byte // standard output and error as they came; of a very long log its end
	Cut       bool   // some of Log is lost, so that what is not in it may have been said
	Usage     []byte // of UsagePath; nil when it was not written
	Files     map[string][]byte
	Now       time.Time // resolves "try again at 3:14 PM"; its location counts
}

// End is how an attempt ended as far as the agent's own words go. The contract has the last word on
// an end of class OK.
type End struct {
	Class   Class
	Message string        // one line in the program's words; "" for OK
	Wait    time.Duration // of RateLimited: what the program says to wait; 0 when it does not say
	Usage   cache.Usage
	Parts   []cache.Usage // of Usage, by model, where the program tells several apart: each has a price of its own
	Final   string        // the agent's last message; "" when unknown
	Warning string        // what could not be read, such as a malformed usage file; "" for none
}

// Class says how an agent ended.
type Class int

// The classes. The zero value is invalid so that a forgotten one shows.
const (
	OK          Class = iota + 1 // nothing speaks against it
	Failed                       // crashed, reported an error, did nothing
	Refused                      // declined the task
	RateLimited                  // the account has to wait
	Credit                       // the account is out of credit
	Login                        // the account is not logged in
	OverBudget                   // it stopped itself at the ceiling it was given
)

var classNames = map[Class]string{
	OK: "ok", Failed: "failed", Refused: "refused", RateLimited: "rate limited", Credit: "credit", Login: "login",
	OverBudget: "over budget",
}

// String returns the name of the class.
func (c Class) String() string {
	if name, ok := classNames[c]; ok {
		return name
	}
	return fmt.Sprintf("class(%d)", int(c))
}

// OfAccount reports whether the class is a condition of the account: it pauses the pool and uses no
// try.
func (c Class) OfAccount() bool { return c == RateLimited || c == Credit || c == Login }

// Outcome returns the outcome of an attempt that ended with the class.
func (c Class) Outcome() cache.Outcome {
	switch c {
	case OK:
		return cache.OK
	case Failed:
		return cache.Failed
	case Refused:
		return cache.Refused
	case RateLimited:
		return cache.RateLimited
	case Credit, Login:
		return cache.Account
	case OverBudget:
		return cache.OverBudget
	}
	panic(fmt.Sprintf("BUG: outcome of %v", c))
}

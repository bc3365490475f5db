package executor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/budget"
	"github.com/ufbuild/ufbuild/executor/event"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/ledger"
	"github.com/ufbuild/ufbuild/executor/pause"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// Builder brings nodes up to date. All fields are set before the first call; one Builder makes one
// plan or one build.
type Builder struct {
	Decider
	Graph   *graph.Graph
	Runner  Runner
	Journal *journal.Journal // nil for a plan
	Sink    event.Sink
	Account func(Account) // the ledger; nil: nothing is accounted
	Pauses  pause.Dir     // pauses of accounts across builds; "": none are kept
	Holds   <-chan Hold   // what a person wants meanwhile; nil: nobody does

	Ceiling  lang.Budget                                       // what may be spent until all is fresh; zero: no ceiling
	Spent    budget.Spending                                   // by earlier builds, of the same account
	SpentOf  map[string]budget.Spending                        // by earlier builds, by group, of those with a ceiling of their own
	SpentAt  map[lang.Address]budget.Spending                  // by earlier builds, by attempts of tasks with a ceiling of their own, since each was fresh
	SpentBy  []string                                          // their ids
	Funded   bool                                              // of a plan: it says what Ceiling and the others keep from starting
	Whole    bool                                              // all of the campaign is wanted: when it is fresh, the account is closed
	Sourced  func(a lang.Address, files []source.File)         // is told of the source files of each node that was decided; nil: nobody is
	Estimate func(a lang.Address, k cache.Key) ledger.Estimate // from history; nil: nothing is known

	Took     func(lang.Address) time.Duration       // by the last good attempt, 0: nobody knows; nil: of none
	Build    string                                 // build id
	Who      string                                 // the person, for records
	Owner    cache.Owner                            // this process
	Work     *WorkDir                               // where attempt directories are made
	Environ  func(name string) (string, bool)       // the environment that PATH, HOME and pass_env come from
	After    func(time.Duration) <-chan time.Time   // timers between tries
	Jitter   func() float64                         // in [0,1), spreads tries
	Only     map[graph.NodeID]map[lang.Address]bool // of a template node: the instances that are wanted; none: all
	Scope    *Scope                                 // which nodes may start; nil: all that are wanted
	Settled  map[graph.NodeID]Settled               // nodes that are not decided: it is known that they are fresh
	Beyond   int                                    // wanted nodes that are not in Graph, all of them fresh
	Touched  func() []TouchBeyond                   // which of their outputs are not what they were when all was fresh; nil: there are none
	Unseen   bool                                   // nobody looked at these outputs before the build
	Jobs     int                                    // parallel attempts, at least 1
	FailFast bool                                   // start nothing new after a failure
	Unpaid   string                                 // why no prompt is started; "": they are
	KeepWork bool                                   // keep workspaces
	Reap     func(dir string)                       // removes an attempt directory
	Room     func() error                           // says that the store has too little room to begin what costs money; nil: nobody asks
	Grace    time.Duration                          // between SIGINT and SIGKILL
	Reports  []string                               // slash paths, from the root, of the files that this build writes for people
	Later    bool                                   // nobody follows what commands print: the sink may have it when they end

	sinkMu   sync.Mutex
	witness  witness
	baseOnce sync.Once
	base     environ // what every task gets of the user's environment
}

// Hold is a person's word that a build starts nothing new, or that it goes on.
type Hold struct {
	On   bool
	Text string // what is said of it, such as "paused by ann: lunch"
}

// Account is one line for the ledger.
type Account struct {
	Attempt cache.Attempt
	Profile string
	Model   string
	Pool    string
	Hit     bool        // nothing ran: the attempt's usage was saved
	Seen    cache.Usage // of an attempt that could not be captured: what was seen of its usage while it ran
}

// Summary is what a build or plan came to. Nodes are in topological order.
type Summary struct {
	Nodes    []*NodeResult
	Graph    *graph.Graph // with the instances that came up at run time
	Total    int
	Counts   map[State]int
	Stopped  bool       // by a signal or a cancelled context
	Unclean  []Trespass // what was written where no task had to write
	Unsound  error      // a settled node is not what it was said to be: all has to be decided
	Duration time.Duration
}

// Plan says what Run would do with the wanted nodes, and writes nothing.
func (b *Builder) Plan(ctx context.Context, wanted []graph.NodeID) (Summary, error) {
	b.Validator = nil
	return newScheduler(b, true).run(ctx, wanted)
}

// Recheck judges what is stored for the wanted nodes again, validate commands included, and keeps the
// verdicts. Nothing runs and nothing is put in place: the next build goes by what was found.
func (b *Builder) Recheck(ctx context.Context, wanted []graph.NodeID) (Summary, error) {
	s := newScheduler(b, true)
	s.recheck = true
	sum, err := s.run(ctx, wanted)
	return sum, errors.Join(err, b.Store.Sync())
}

// Run brings the wanted nodes up to date. It returns an error only when the records of the build
// could not be kept; a task that fails is in the Summary.
func (b *Builder) Run(ctx context.Context, wanted []graph.NodeID) (Summary, error) {
	if b.KeepWork {
		if err := b.Work.keep(); err != nil {
			return Summary{}, err
		}
	}
	b.Placer.Begin()
	return newScheduler(b, false).run(ctx, wanted)
}

// NoticeOf tells the sink something about a task that only people care for.
func (b *Builder) NoticeOf(task, text string) {
	b.emit(event.Event{Kind: event.Notice, Address: task, Text: text})
}

// emit hands an event to the sink, one at a time: attempts emit their output from their own
// goroutines.
func (b *Builder) emit(e event.Event) {
	e.Schema, e.Time, e.Build = event.SchemaVersion, b.Now(), b.Build
	b.sinkMu.Lock()
	defer b.sinkMu.Unlock()
	b.Sink.Emit(e)
}

package executor

import (
	"context"
	"io"
	"os"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/agent"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/place"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// Decider answers whether a node is fresh. It never writes; Plan, Build, status and why all ask it,
// which is why they agree. Its fields are set once; Decide may be called concurrently.
type Decider struct {
	Campaign *lang.Campaign
	Store    cache.Store
	Shared   Shared        // what other machines made; nil: nothing is asked for
	View     *journal.View // as of the start
	Sources  *source.Files
	Placer   *place.Placer
	Drivers  agent.Registry
	Pins     Pins             // of references from outside; nil pins none
	Own      map[string]bool  // see [OwnFiles]; in no snapshot of the repository
	Former   map[string]bool  // see [FormerOwn]
	Now      func() time.Time // display, and what "try again at 3 PM" means

	// AgentVersion says which version of its program an agent has, where that counts in the key. nil: none.
	AgentVersion func(*lang.Agent) (string, error)
	// AgentSays is what the program of an agent says its version is, to be recorded and compared; "" when it does not say or
	// is not to be asked. nil: nobody is asked.
	AgentSays func(*lang.Agent) string

	// Noted says whether the end of an attempt is noted in its directory, so that it can be stored later. nil: never.
	Noted func(dir string) bool

	// Unreached says why what was placed at a remote cannot be asked for there; "" when it can. nil: it can where the campaign has
	// the remote.
	Unreached func(*cache.Placed) string

	// OnBlob, when set, is told of every blob that an answer rests on. It may be called concurrently.
	OnBlob func(digest.Digest)

	// Rejudge names the nodes whose stored outputs are judged again although a verdict is recorded.
	Rejudge map[lang.Address]bool

	// Validator runs validate commands over what an action produced. nil leaves them out: a verdict
	// that needs one stays open, as in a plan.
	Validator func(a *Action) contract.Validate
}

// Answer is what Decide says of a node.
type Answer int

// The answers.
const (
	Stale    Answer = iota + 1 // it has to run, Reason says why
	Fresh                      // Attempt makes it fresh
	Unjudged                   // stored bytes are there, but a validate command has to say whether they pass
	Withheld                   // when = false
	Asked                      // everything else passes; a person has to say whether the bytes are good
	Broken                     // it cannot run: Diagnostics or Err say why
	Waits                      // of a plan: a dependency has to run first; Reason is what speaks for a run all the same
)

// Decision is the answer for one node with everything that led to it.
type Decision struct {
	Answer      Answer
	Action      *Action
	Manifest    []byte
	Key         cache.Key
	Attempt     cache.Attempt    // Fresh and Unjudged
	Verdict     cache.Verdict    // of Attempt under today's contracts
	Records     []cache.Record   // what a build appends because of the decision: new verdicts, ends
	Reason      Reason           // Stale
	Feedback    *Feedback        // Stale: what the try before got wrong; nil for nothing
	Place       place.State      // Fresh: whether the outputs are in place
	Differ      []string         // paths that are missing or edited there
	Mends       []Mend           // blobs of Attempt that a build first stores again from where they are in place
	Note        string           // Fresh, of a build: what is to be known of the attempt; "" for nothing
	Diagnostics lang.Diagnostics // Broken
	Err         error            // Broken
	doubted     bool             // all its bytes are read before they are believed
	locked      bool             // the key's lock is held
	lower       bool             // a lower rung than the task's own profile carries it out
}

// Decide says whether the instance is fresh, given what its dependencies left.
func (d *Decider) Decide(ctx context.Context, inst *lang.Instance, deps *dependencies) *Decision {
	a, diags, err := d.resolve(inst, deps)
	switch {
	case diags.HasErrors() || err != nil:
		return &Decision{Answer: Broken, Diagnostics: diags, Err: err}
	case a == nil:
		return &Decision{Answer: Withheld}
	}
	dec := &Decision{Action: a, Manifest: a.Manifest(), doubted: deps.doubted}
	dec.Key = cache.KeyOf(dec.Manifest)
	d.lookUp(ctx, inst, dec)
	if dec.Answer == Stale {
		return d.withoutFormer(ctx, inst, deps, dec)
	}
	return dec
}

// lookUp fills in the answer for a known key: from the store here, and where that has none from what other machines made.
func (d *Decider) lookUp(ctx context.Context, inst *lang.Instance, dec *Decision) {
	d.lookHere(ctx, inst, dec)
	d.lookElsewhere(ctx, inst, dec)
}

// lookHere fills in the answer from the store.
func (d *Decider) lookHere(ctx context.Context, inst *lang.Instance, dec *Decision) {
	attempts, err := d.Store.Attempts(dec.Key)
	if err != nil {
		dec.Answer, dec.Err = Broken, err
		return
	}
	dec.Answer = Stale
	seen := sightings{}
	if d.tryRuling(ctx, dec) {
		return
	}
	if inst.Cache {
		if err := d.tryCandidates(ctx, dec, d.candidates(dec, attempts), &seen); err != nil {
			dec.Answer, dec.Err = Broken, err
			return
		}
	}
	if dec.Answer == Stale {
		dec.Reason = d.reason(inst, dec, attempts, &seen)
		dec.Feedback = d.lastFeedback(inst, dec, attempts, &seen)
	}
}

// sightings is what was met on the way to a stale answer.
type sightings struct {
	damage  error          // a blob is missing or corrupt
	failing *cache.Verdict // stored bytes that fail today's contracts
	ordinal int
}

// candidates are the attempts that can make the node fresh, best first. What this campaign retried
// is out even before the store has heard of it.
func (d *Decider) candidates(dec *Decision, attempts []cache.Attempt) []cache.Attempt {
	selected := 0
	if s, ok := d.View.Selected(dec.Action.Address); ok && s.Key == dec.Key {
		selected = s.Ordinal
	}
	var out []cache.Attempt
	for _, c := range cache.Candidates(attempts, selected) {
		if _, gone := d.View.DiscardedBy(journal.Attempt{Key: c.Key, Ordinal: c.Ordinal}); gone {
			continue
		}
		out = append(out, c)
	}
	return out
}

func (d *Decider) tryCandidates(ctx context.Context, dec *Decision, candidates []cache.Attempt, seen *sightings) error {
	for _, c := range candidates {
		if !d.mayCount(dec, &c) {
			continue
		}
		mends, err := d.whole(dec.Action, c.Captured.Outputs, d.lookAt(dec))
		if damaged(err) {
			seen.damage, seen.ordinal = err, c.Ordinal
			continue
		}
		if err != nil {
			return err
		}
		v, isNew, err := d.judge(ctx, dec.Action, c.Captured.Outputs, c.Verdicts)
		switch {
		case damaged(err) && d.among(c.Captured.Outputs, err):
			seen.damage, seen.ordinal, dec.Mends = err, c.Ordinal, mends
			continue
		case err != nil: // also bytes of another task that it is judged by: that one has to make them again
			return err
		}
		dec.Mends = mends
		if isNew {
			dec.Records = append(dec.Records, cache.VerdictRecord(c.Key, c.Ordinal, v))
		}
		v, said := d.ask(dec.Action, c.Captured.Outputs, v)
		switch {
		case said == unsaid:
			dec.Answer, dec.Attempt, dec.Verdict = Asked, c, v
			return nil
		case v.Pass:
			if d.settle(dec, c, v, seen) {
				return nil
			}
		case v.Inconclusive:
			dec.Answer, dec.Attempt, dec.Verdict = Unjudged, c, v
			return nil
		case seen.failing == nil: // of several, the one that would be read
			seen.failing, seen.ordinal = &v, c.Ordinal
		}
	}
	return nil
}

// mayCount reports whether an attempt ended in a way that a passing contract can make good. An
// attempt whose builder died between capture and judgement is classified now, and so is one that cost more
// than it might: a higher ceiling makes it good, and it is paid for.
//
// What capture found wrong with outputs (a link that leaves a tree, a secret, a socket) is in no contract, so no
// contract mends it: only a person may choose such an attempt.
func (d *Decider) mayCount(dec *Decision, c *cache.Attempt) bool {
	if c.Captured != nil && len(c.Captured.Problems) > 0 {
		return false
	}
	if c.State == cache.CapturedState || c.Outcome == cache.OverBudget {
		o, _ := d.classify(dec.Action, c.Rung, *c.Captured)
		return o == cache.OK || o == cache.Partial
	}
	return c.Outcome == cache.OK || c.Outcome == cache.Partial || c.Outcome == cache.Rejected
}

// settle makes the node fresh by attempt c. It returns false when outputs have to be put in place and
// their bytes turn out to be damaged.
func (d *Decider) settle(dec *Decision, c cache.Attempt, v cache.Verdict, seen *sightings) bool {
	d.lookInPlace(dec, &c)
	if dec.Place != place.InPlace {
		mends, err := d.whole(dec.Action, c.Captured.Outputs, d.reads)
		if err != nil {
			seen.damage, seen.ordinal, dec.Mends = err, c.Ordinal, nil
			return false
		}
		dec.Mends = mends
	}
	if c.State == cache.CapturedState {
		o, msg := d.classify(dec.Action, c.Rung, *c.Captured)
		dec.Records = append(dec.Records, cache.EndedRecord(c.Key, c.Ordinal, o, msg, c.StartedAt))
	}
	dec.Answer, dec.Attempt, dec.Verdict = Fresh, c, v
	return true
}

// lookInPlace says whether the outputs of an attempt are in place. Where the address may have read another one last, what that
// left there is looked for too; elsewhere it would be a walk through every directory for nothing.
func (d *Decider) lookInPlace(dec *Decision, c *cache.Attempt) {
	a := dec.Action
	check := d.Placer.Check
	if last, _ := d.View.Selected(a.Address); last.ByPerson() || last.Attempt != (journal.Attempt{Key: c.Key, Ordinal: c.Ordinal}) {
		check = d.Placer.CheckAfter
	}
	dec.Place, dec.Differ = check(a.Address, c.Captured.Outputs, outPaths(a.Outputs))
}

// judge returns the verdict of today's contracts over captured outputs: a recorded one if there is
// one, else a new one. What it was judged from is there. A plan that has to wait for what it compares with gets one that is not to be kept.
func (d *Decider) judge(ctx context.Context, a *Action, outputs []cache.Output, known map[cache.VerdictKey]cache.Verdict) (v cache.Verdict, isNew bool, err error) {
	others := Documents(a.Compared)
	key, err := contract.KeyOf(a.Contracts, ContractFiles{d.Sources}, outputs, others...)
	if err != nil {
		return v, false, err
	}
	before, judged := known[key]
	if judged && !before.Inconclusive && !d.Rejudge[a.Address] {
		return before, false, nil
	}
	var run contract.Validate
	if d.Validator != nil && judgedLong(a) {
		run = d.Validator(a)
	}
	v, err = contract.Judge(ctx, d.subjects(a, outputs), run, others...)
	if err != nil {
		return v, false, err
	}
	if v.Key = key; judged {
		v.Round = before.Round + 1
	}
	_, open := a.pending()
	return v, !open, nil
}

func (d *Decider) subjects(a *Action, outputs []cache.Output) []contract.Subject {
	out := make([]contract.Subject, len(a.Contracts))
	read := judgedLong(a)
	for i, o := range a.Contracts {
		if !read { // nobody asks for bytes
			out[i] = contract.Subject{Output: o, Captured: outputNamed(outputs, o.Name)}
			continue
		}
		out[i] = contract.SubjectOf(d.Store, o, outputNamed(outputs, o.Name))
	}
	return out
}

// ContractFiles lets contracts read the files that validate commands use.
type ContractFiles struct{ *source.Files }

// Reader implements contract.Files.
func (f ContractFiles) Reader(path string) (io.ReadCloser, error) {
	root, err := os.OpenRoot(f.Root())
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.Open(path)
}

func outputNamed(outputs []cache.Output, name string) cache.Output {
	for _, o := range outputs {
		if o.Name == name {
			return o
		}
	}
	return cache.Output{Name: name}
}

// eachBlob calls do for the digest of every output and of every file in its trees.
func (d *Decider) eachBlob(outputs []cache.Output, do func(digest.Digest) error) error {
	return d.eachBlobOf(outputs, nil, do)
}

// eachBlobOf is eachBlob with listings of trees that the store has no good bytes of.
func (d *Decider) eachBlobOf(outputs []cache.Output, listings map[digest.Digest]Mend, do func(digest.Digest) error) error {
	for _, o := range outputs {
		if !o.Exists {
			continue
		}
		if err := do(o.Digest); err != nil {
			return err
		}
		if !o.Tree {
			continue
		}
		var t cache.Tree
		var err error
		if m, ok := listings[o.Digest]; ok {
			t, err = cache.DecodeTree(m.Text)
		} else {
			t, err = cache.ReadTree(d.Store, o.Digest)
		}
		if err != nil {
			return err
		}
		for _, e := range t.Entries {
			if e.Kind != cache.File {
				continue
			}
			if err := do(e.Digest); err != nil {
				return err
			}
		}
	}
	return nil
}

func outPaths(outputs []OutputSpec) []place.OutPath {
	out := make([]place.OutPath, len(outputs))
	for i, o := range outputs {
		out[i] = place.OutPath{Name: o.Name, Path: o.Path}
	}
	return out
}

package main

import (
	"bufio"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cmd/ufbuild/internal/ui"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// retryFlags are the flags of retry beside those of a build.
type retryFlags struct {
	buildFlags
	alone   bool
	failed  bool
	noBuild bool
	yes     bool
	why     string
	only    bool
	until   []string

	// The page asks a person itself: agree is called instead of asking, and told when the records are written,
	// before anything is built. Both may be nil.
	agree func(executor.Invalidation) error
	told  func(executor.Invalidation)
}

func (a *app) retryCommand() *cobra.Command {
	var f retryFlags
	cmd := &cobra.Command{
		Use:   "retry TARGET…",
		Short: "Invalidate tasks and their dependents, then build them",
		Long: `Discards what the targets have selected and what all their dependents made of it,
then runs them again. The list, and what it took last time, is shown first; on a
terminal you are asked, elsewhere --yes is needed. A discarded attempt is never
chosen again by its key, and stays in the store: undo brings all of it back.

With --only the targets alone run, and with --until what leads up to a task. The rest
of the list is discarded too, and stale until a build wants it.`,
		Example: `  ufbuild retry 'hunt/reentrancy#0' --why "the model was drunk"
  ufbuild retry report --no-cone     # leave dependents to early cutoff
  ufbuild retry report --only        # look at it before its dependents run
  ufbuild retry --failed --yes       # what failed last time
  ufbuild retry lens --no-build      # only mark it stale`,
		Args:              cobra.ArbitraryArgs,
		ValidArgsFunction: a.completeTargets,
		RunE: func(_ *cobra.Command, targets []string) error {
			if f.failed {
				targets = append(targets, "@failed")
			}
			if len(targets) == 0 {
				return usageErrorf("retry needs a target\nhint: name tasks, or use --failed")
			}
			if err := f.check(); err != nil {
				return err
			}
			return a.runRetry(targets, f)
		},
	}
	f.bind(cmd)
	fs := cmd.Flags()
	fs.BoolVar(&f.alone, "no-cone", false, "discard the targets alone, not their dependents")
	fs.BoolVar(&f.failed, "failed", false, "retry what failed last time")
	fs.BoolVar(&f.only, "only", false, "run the targets alone, and leave their dependents stale")
	fs.StringArrayVar(&f.until, "until", nil, "run them up to `TARGET`, and leave what depends on that stale; may be repeated")
	a.completes(cmd, "until")
	fs.BoolVar(&f.noBuild, "no-build", false, "only invalidate")
	fs.BoolVarP(&f.yes, "yes", "y", false, "do not ask")
	fs.StringVar(&f.why, "why", "", "the reason, `TEXT`, kept with the record")
	cmd.MarkFlagsMutuallyExclusive("only", "until", "no-build")
	return cmd
}

func (a *app) runRetry(targets []string, f retryFlags) error {
	id := newID(time.Now())
	var concerned []lang.Address
	return a.decideAs("retry", id, f.wait, func(s *session, j *journal.Journal) error {
		inv, err := s.cone(targets, f.alone)
		if err != nil {
			return err
		}
		if len(inv.Nodes) == 0 {
			return a.retried(id, inv)
		}
		if concerned, err = s.part(inv, f); err != nil {
			return err
		}
		if err := s.refusePinned(inv); err != nil {
			return err
		}
		if f.agree != nil {
			err = f.agree(inv)
		} else {
			err = a.confirmRetry(inv, f)
		}
		if err != nil {
			return err
		}
		if !inv.Empty() { // building is all there is to do otherwise, and undo must not meet it
			err = s.invalidator().Discard(j, id, a.who(), f.why, targets, inv)
		}
		if err != nil {
			return err
		}
		s.endElsewhere(inv, &f.remote, id)
		if f.told != nil {
			f.told(inv)
		}
		return a.retried(id, inv)
	}, func(s *session) (selection, error) {
		return s.again(concerned, f), nil
	}, f)
}

// cone lists what a retry of targets would discard; nothing where they name nothing.
func (s *session) cone(targets []string, alone bool) (executor.Invalidation, error) {
	ids, err := s.selectTargets(targets)
	if err != nil || len(ids) == 0 {
		return executor.Invalidation{}, err
	}
	v := s.invalidator()
	if v.Reads, err = s.reads(); err != nil {
		return executor.Invalidation{}, err
	}
	return v.Cone(ids, alone)
}

// part are the addresses of a cone that the build after the retry is about: all, the targets alone, or where it stops.
func (s *session) part(inv executor.Invalidation, f retryFlags) ([]lang.Address, error) {
	var all []lang.Address
	for _, n := range inv.Nodes {
		if n.Target || !f.only {
			all = append(all, n.Address)
		}
	}
	if len(f.until) == 0 {
		return all, nil
	}
	cone := s.find(all)
	var part []lang.Address
	for _, name := range f.until {
		ids, err := s.selectTargets([]string{name})
		if err != nil {
			return nil, err
		}
		ends := common(ids, cone)
		if len(ends) == 0 {
			return nil, usageErrorf("--until %s: it does not depend on what is to be run again\nhint: nothing was changed; without --until all that depends on it runs", name)
		}
		for _, id := range ends {
			part = append(part, s.graph.Node(id).Address)
		}
	}
	return part, nil
}

// again is what the build after a retry is about.
func (s *session) again(concerned []lang.Address, f retryFlags) selection {
	sel := selection{ids: s.find(concerned)}
	if f.only || len(f.until) > 0 { // else the template stands for what will come of its list
		for _, a := range concerned {
			if _, ok := s.graph.Find(a); !ok {
				sel.later = append(sel.later, a)
			}
		}
	}
	if f.only {
		sel.start, sel.words = sel.ids, "--only"
	}
	return sel
}

// find turns addresses into nodes. One that is gone, since its list was planned again, is left out.
func (s *session) find(addresses []lang.Address) []graph.NodeID {
	var ids []graph.NodeID
	for _, a := range addresses {
		if id, ok := s.graph.Find(a); ok {
			ids = append(ids, id)
		}
	}
	return ids
}

// givenUp are the reasons of attempts that a retry gives up although no node reads them yet.
var givenUp = []executor.ReasonKind{executor.NotStoredYet, executor.RunsThere, executor.LeftThere}

// reads says which attempts make nodes fresh now, and after the one that a person chose what would instead of it.
func (s *session) reads() (map[lang.Address][]journal.Attempt, error) {
	sum, err := s.plan(s.allNodes())
	if err != nil {
		return nil, err
	}
	out := map[lang.Address][]journal.Attempt{}
	for i := range sum.Nodes {
		r := sum.Nodes[i]
		switch {
		case slices.Contains(givenUp, r.Reason.Kind):
			out[r.Address] = []journal.Attempt{{Key: r.Key, Ordinal: r.Reason.Ordinal}}
		case r.State == executor.IsFresh, r.State == executor.Awaiting && r.Ordinal > 0: // what waits for a person is read next
			out[r.Address] = []journal.Attempt{readsNow(r)}
		}
		if r.From == nil {
			continue
		}
		attempts, err := s.store.Attempts(r.Key)
		if err != nil {
			return nil, err
		}
		if own := cache.Candidates(attempts, 0); len(own) > 0 {
			out[r.Address] = append(out[r.Address], journal.Attempt{Key: r.Key, Ordinal: own[0].Ordinal})
		}
	}
	return out, nil
}

// retriedReport is the first line of what retry prints as JSON; the events of the build follow.
type retriedReport struct {
	SchemaVersion int           `json:"schema_version"`
	Kind          string        `json:"kind"` // "retried"
	ID            string        `json:"id"`
	Nodes         []retriedNode `json:"nodes"`
}

type retriedNode struct {
	Address    string   `json:"address"`
	Role       string   `json:"role"` // as in the table: named, depends on it, shares the attempt
	Key        string   `json:"key,omitempty"`
	Ordinal    int      `json:"ordinal,omitempty"`
	DurationMS int64    `json:"duration_ms,omitempty"`
	CostUSD    *float64 `json:"cost_usd,omitempty"` // missing: unknown
}

func retriedNodeOf(n executor.InvalidatedNode) retriedNode {
	node := retriedNode{Address: n.Address.String(), Role: retryRole(n), Ordinal: n.Selected, DurationMS: n.Duration.Milliseconds(), CostUSD: n.Usage.CostUSD}
	if n.Selected > 0 {
		node.Key = n.Key.String()
	}
	return node
}

// retried says what was discarded.
func (a *app) retried(id string, inv executor.Invalidation) error {
	if !a.json {
		if len(inv.Nodes) == 0 {
			fmt.Fprintln(a.out, "nothing failed")
		}
		return nil
	}
	r := retriedReport{SchemaVersion: 1, Kind: "retried", ID: id, Nodes: []retriedNode{}}
	for _, n := range inv.Listed() {
		r.Nodes = append(r.Nodes, retriedNodeOf(n))
	}
	return a.printLine(r)
}

// decideAs records a person's decision under the campaign's lock and then, unless told not to, builds
// what it concerns under the same lock, so that no other build comes between.
func (a *app) decideAs(verb, id string, wait bool, decide func(*session, *journal.Journal) error, targets func(*session) (selection, error), f retryFlags) (err error) {
	s, err := a.openSession(writing)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.hold(id, verb, wait); err != nil {
		return err
	}
	if err := s.record(decide); err != nil {
		return err
	}
	if err := s.readJournal(); err != nil {
		return err
	}
	a.warn(s.accountDecisions())
	sel, err := targets(s)
	if err != nil || f.noBuild || sel.empty() {
		return err
	}
	return s.build(newID(time.Now()), verb, f.buildFlags, sel)
}

// record lends the journal to a decision.
func (s *session) record(decide func(*session, *journal.Journal) error) error {
	j, err := journal.Open(s.campaign.Root)
	if err != nil {
		return err
	}
	defer func() { _ = j.Close() }()
	if err := s.store.RegisterCampaign(s.campaign.Root); err != nil {
		return err
	}
	return decide(s, j)
}

func (s *session) invalidator() *executor.Invalidator {
	return &executor.Invalidator{Graph: s.graph, Store: s.store, View: s.view, Root: s.campaign.Root, Now: time.Now}
}

// confirmRetry shows the list and its price and asks.
func (a *app) confirmRetry(inv executor.Invalidation, f retryFlags) error {
	var rows [][]string
	for _, n := range inv.Listed() {
		rows = append(rows, []string{n.Address.String(), retryRole(n), tookWords(n)})
	}
	if err := a.errTerm.Table(a.err, []string{"task", "", "last time"}, rows); err != nil {
		return err
	}
	price, question := retryPrice(inv.Listed()), "discard these results and run again?"
	switch {
	case f.noBuild:
		question = "discard these results?"
	case f.only:
		named := slices.DeleteFunc(slices.Clone(inv.Listed()), func(n executor.InvalidatedNode) bool { return !n.Target })
		price += "; --only runs " + retryPrice(named)
	}
	fmt.Fprintln(a.err, price)
	return a.confirm(question, f.yes)
}

// retryPrice adds up what tasks that are discarded took last time.
func retryPrice(nodes []executor.InvalidatedNode) string {
	var total time.Duration
	cost := newCostSum()
	for _, n := range nodes {
		total += n.Duration
		if n.Kind == lang.Prompt {
			cost.addUsage(n.Usage)
		}
	}
	return fmt.Sprintf("%s, %s and %s last time", ui.Count(len(nodes), "task"), ui.Duration(total), cost)
}

func retryRole(n executor.InvalidatedNode) string {
	switch {
	case n.Target:
		return "named"
	case n.Shared:
		return "shares the attempt"
	}
	return "depends on it"
}

func tookWords(n executor.InvalidatedNode) string {
	switch {
	case n.Open != nil:
		return "goes on at " + n.Open.String() + ": it is ended"
	case !n.Priced:
		return "not known"
	}
	words := spentWords(n.Duration, n.Usage.CostUSD)
	if n.Usage.AtLeast && n.Usage.CostUSD != nil {
		words += "+"
	}
	return words
}

// confirm asks on a terminal and needs --yes elsewhere.
func (a *app) confirm(question string, yes bool) error {
	if yes {
		return nil
	}
	if !a.errTerm.IsTTY || !isTerminal(a.in) {
		return usageErrorf("this needs a yes and there is no terminal to ask on\nhint: add --yes")
	}
	fmt.Fprintf(a.err, "%s [y/N] ", question)
	answer, _ := bufio.NewReader(a.in).ReadString('\n')
	switch strings.ToLower(strings.TrimSpace(answer)) {
	case "y", "yes":
		return nil
	}
	return &exitError{code: exitUsage, cause: fmt.Errorf("nothing was changed")}
}

package executor

import (
	"slices"
	"time"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// Invalidation is what a retry would discard, for the look before the act.
type Invalidation struct {
	Nodes []InvalidatedNode // topological order
}

// Empty reports whether there is nothing to discard.
func (inv *Invalidation) Empty() bool {
	return !slices.ContainsFunc(inv.Nodes, func(n InvalidatedNode) bool { return len(n.Discards) > 0 })
}

// Listed are the nodes that a person is shown: not a template whose instances are among them, as it has no
// attempts of its own.
func (inv *Invalidation) Listed() []InvalidatedNode {
	instances := map[string]bool{}
	for _, n := range inv.Nodes {
		if !n.Template {
			instances[n.Address.Task] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(inv.Nodes), func(n InvalidatedNode) bool { return n.Template && instances[n.Address.Task] })
}

// InvalidatedNode is one node of a cone, with what its selected attempt cost.
type InvalidatedNode struct {
	journal.Node
	ID       graph.NodeID
	Kind     lang.Kind
	Template bool // of an expand block
	Target   bool // named by the user; else reached through the cone
	Shared   bool // reads the same attempt as a node of the cone
	Priced   bool // an attempt says what it took: the selected one, else the last
	Duration time.Duration
	Usage    cache.Usage
	Open     *cache.Placed  // where the attempt may still run; nil for one that ended
	Also     []journal.Node // what the next decision would choose under another key than the selected one's
}

// Invalidator discards attempts and takes that back. The caller holds the campaign's lock.
type Invalidator struct {
	Graph *graph.Graph
	Store cache.Store
	View  *journal.View
	Root  string
	Now   func() time.Time

	// Reads says which attempt makes each fresh node fresh today, by a plan, and after it what would if that one were gone, where
	// it has another key: a person chose it. It differs from what is selected after an edit was taken back, and when the journal
	// is gone.
	Reads map[lang.Address][]journal.Attempt
}

// read lists what a node has selected and what it would read if a build decided now.
func (v *Invalidator) read(a lang.Address) []journal.Attempt {
	var out []journal.Attempt
	if s, ok := v.View.Selected(a); ok {
		out = append(out, s.Attempt)
	}
	for _, r := range v.Reads[a] {
		if !slices.ContainsFunc(out, func(at journal.Attempt) bool { return at.Key == r.Key }) {
			out = append(out, r)
		}
	}
	return out
}

// Cone says what a retry of the targets discards: what they and, unless alone, all their dependents
// have selected. Nodes that read one of these attempts under another address come along.
func (v *Invalidator) Cone(targets []graph.NodeID, alone bool) (Invalidation, error) {
	named, shared := map[graph.NodeID]bool{}, map[graph.NodeID]bool{}
	for _, id := range targets {
		named[id] = true
	}
	ids := v.widen(targets, alone)
	for {
		more := v.sharers(ids)
		if len(more) == 0 {
			break
		}
		for _, id := range more {
			shared[id] = true
		}
		ids = v.widen(append(ids, more...), alone)
	}
	var out Invalidation
	for _, id := range ids {
		n, err := v.node(id)
		if err != nil {
			return out, err
		}
		n.Target, n.Shared = named[id], shared[id]
		out.Nodes = append(out.Nodes, n)
	}
	return out, nil
}

func (v *Invalidator) widen(ids []graph.NodeID, alone bool) []graph.NodeID {
	if alone {
		return slices.Clip(ids)
	}
	return v.Graph.Cone(ids...)
}

// sharers finds nodes outside ids that read the same attempt as a node in ids.
func (v *Invalidator) sharers(ids []graph.NodeID) []graph.NodeID {
	inside := map[lang.Address]bool{}
	taken := map[journal.Attempt]bool{}
	for _, id := range ids {
		a := v.Graph.Node(id).Address
		inside[a] = true
		for _, at := range v.read(a) {
			taken[at] = true
		}
	}
	var out []graph.NodeID
	for _, n := range v.Graph.Nodes() {
		if inside[n.Address] {
			continue
		}
		if slices.ContainsFunc(v.read(n.Address), func(at journal.Attempt) bool { return taken[at] }) {
			out = append(out, n.ID)
		}
	}
	return out
}

// node says what is discarded at one address: the attempt it reads, and with it every other attempt
// of its key that the next decision would choose instead.
func (v *Invalidator) node(id graph.NodeID) (InvalidatedNode, error) {
	of := v.Graph.Node(id)
	n := InvalidatedNode{ID: id, Kind: of.Task.Kind, Template: of.Template, Node: journal.Node{Address: of.Address}}
	for i, at := range v.read(of.Address) {
		attempts, err := v.Store.Attempts(at.Key)
		if err != nil {
			return n, err
		}
		discards := v.standing(attempts, at.Ordinal)
		if i > 0 {
			n.Also = append(n.Also, journal.Node{Address: of.Address, Key: at.Key, Discards: discards})
			continue
		}
		n.Key, n.Selected, n.Discards = at.Key, at.Ordinal, discards
		n.price(attempts, at.Ordinal)
	}
	if n.Selected > 0 {
		return n, nil
	}
	// It is stale already, and runs all the same: what it took last time is what counts.
	selected, ok := v.View.Last(of.Address)
	last := selected.Attempt
	if !ok {
		ended, _ := v.View.Ended(of.Address)
		last = ended.Attempt
	}
	attempts, err := v.Store.Attempts(last.Key)
	n.price(attempts, last.Ordinal)
	return n, err
}

// price takes over what one of the attempts took.
func (n *InvalidatedNode) price(attempts []cache.Attempt, ordinal int) {
	for _, a := range attempts {
		switch {
		case a.Ordinal != ordinal:
		case a.Captured != nil:
			n.Priced, n.Duration, n.Usage = true, a.Captured.Duration, a.Captured.Usage
		case a.State == cache.Started:
			n.Open = a.Placed
		}
	}
}

// standing lists the ordinals among attempts of one key that a decision may choose, or may choose once the read one is
// stored.
func (v *Invalidator) standing(attempts []cache.Attempt, read int) []int {
	var out []int
	for _, a := range attempts {
		if a.Ordinal == read && a.Captured == nil && a.State == cache.Started {
			out = append(out, a.Ordinal)
		}
	}
	for _, a := range cache.Candidates(attempts, read) {
		if _, gone := v.View.DiscardedBy(journal.Attempt{Key: a.Key, Ordinal: a.Ordinal}); !gone {
			out = append(out, a.Ordinal)
		}
	}
	return out
}

// Discard makes the invalidation durable. The journal's one record decides for this campaign; the
// store's records tell everybody else, and [Invalidator.Repeat] writes them again should a crash come
// between the two.
func (v *Invalidator) Discard(j *journal.Journal, id, who, why string, targets []string, inv Invalidation) error {
	var nodes []journal.Node
	for _, n := range inv.Nodes {
		nodes = append(append(nodes, n.Node), n.Also...)
	}
	rec := journal.Retried(id, who, why, targets, nodes)
	rec.Time = v.Now()
	if err := appendDurable(j, rec); err != nil {
		return err
	}
	return v.discardInStore(journal.Retry{ID: id, Who: who, Why: why, Time: rec.Time, Nodes: nodes})
}

func (v *Invalidator) discardInStore(r journal.Retry) error {
	d := cache.Discard{ID: r.ID, Who: r.Who, Why: r.Why, Campaign: v.Root, When: r.Time}
	for _, n := range r.Nodes {
		for _, o := range n.Discards {
			if err := v.Store.Append(cache.DiscardRecord(n.Key, o, d)); err != nil {
				return err
			}
		}
	}
	return v.Store.Sync()
}

// Repeat tells the store of discards that it has not heard of: a crash came between the journal's
// record and the store's.
func (v *Invalidator) Repeat() error {
	for _, r := range v.View.Retries {
		if r.Undone {
			continue
		}
		missing, err := v.unheard(r)
		if err != nil {
			return err
		}
		if missing {
			if err := v.discardInStore(r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *Invalidator) unheard(r journal.Retry) (bool, error) {
	// Records of one retry are written in order, so looking at the last one is enough.
	for i := len(r.Nodes) - 1; i >= 0; i-- {
		n := r.Nodes[i]
		if len(n.Discards) == 0 {
			continue
		}
		attempts, err := v.Store.Attempts(n.Key)
		if err != nil {
			return false, err
		}
		last := n.Discards[len(n.Discards)-1]
		for _, a := range attempts {
			if a.Ordinal == last {
				return !hasDiscard(&a, r.ID), nil
			}
		}
		return false, nil // the attempt is gone from the store: nothing to discard
	}
	return false, nil
}

func hasDiscard(a *cache.Attempt, id string) bool {
	return slices.ContainsFunc(a.Discards, func(d cache.Discard) bool { return d.ID == id })
}

// Undo takes back a retry as a whole, without running anything. Attempts made since stay selectable.
func (v *Invalidator) Undo(j *journal.Journal, id, who string, r journal.Retry) error {
	d := cache.Discard{ID: r.ID, Who: who, Campaign: v.Root, When: v.Now()}
	for _, n := range r.Nodes {
		for _, o := range n.Discards {
			if err := v.Store.Append(cache.RestoreRecord(n.Key, o, d)); err != nil {
				return err
			}
		}
	}
	if err := v.Store.Sync(); err != nil {
		return err
	}
	rec := journal.Undone(id, who, r)
	rec.Time = v.Now()
	return appendDurable(j, rec)
}

func appendDurable(j *journal.Journal, rec journal.Record) error {
	if err := j.Append(rec); err != nil {
		return err
	}
	return j.Sync()
}

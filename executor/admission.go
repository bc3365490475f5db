package executor

import (
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// admission decides which queued node may start: it needs one of the build's jobs, a slot of its
// agent's pool and, by its weight, slots of its own pool. Nodes that need the same pools wait in one
// line, so a full pool costs one look, not one a node.
type admission struct {
	jobs  int // free
	slots map[string]int
	lines map[poolPair]*line
	order []poolPair // in order of first use
}

type poolPair struct{ agent, task string }

type line struct{ ids []waiting }

type waiting struct {
	id     graph.NodeID
	weight int
}

func newAdmission(b *Builder) admission {
	a := admission{jobs: max(b.Jobs, 1), slots: map[string]int{}, lines: map[poolPair]*line{}}
	for _, p := range b.Campaign.Pools {
		a.slots[p.Name] = p.Slots
	}
	return a
}

func poolsOf(inst *lang.Instance) poolPair {
	p := poolPair{task: inst.Pool}
	if inst.Profile != nil && inst.Profile.Agent.Pool != inst.Pool {
		p.agent = inst.Profile.Agent.Pool
	}
	return p
}

func (a *admission) push(id graph.NodeID, inst *lang.Instance) {
	p := poolsOf(inst)
	l := a.lines[p]
	if l == nil {
		l = &line{}
		a.lines[p] = l
		a.order = append(a.order, p)
	}
	l.ids = append(l.ids, waiting{id, max(inst.Weight, 1)})
}

// pop takes the queued node with the smallest id that may start, and its slots with it.
func (a *admission) pop() (graph.NodeID, bool) {
	if a.jobs == 0 {
		return 0, false
	}
	var best *line
	var pools poolPair
	for _, p := range a.order {
		l := a.lines[p]
		if len(l.ids) > 0 && a.fits(p, l.ids[0].weight) && (best == nil || l.ids[0].id < best.ids[0].id) {
			best, pools = l, p
		}
	}
	if best == nil {
		return 0, false
	}
	w := best.ids[0]
	best.ids = best.ids[1:]
	a.take(pools, w.weight, 1)
	return w.id, true
}

func (a *admission) fits(p poolPair, weight int) bool {
	return (p.agent == "" || a.slots[p.agent] >= 1) && (p.task == "" || a.slots[p.task] >= weight)
}

func (a *admission) take(p poolPair, weight, sign int) {
	a.jobs -= sign
	if p.agent != "" {
		a.slots[p.agent] -= sign
	}
	if p.task != "" {
		a.slots[p.task] -= sign * weight
	}
}

// release gives back what pop took for the node.
func (a *admission) release(inst *lang.Instance) {
	a.take(poolsOf(inst), max(inst.Weight, 1), -1)
}

func (a *admission) clear() {
	for _, l := range a.lines {
		l.ids = nil
	}
}

package executor

import (
	"cmp"
	"container/heap"
	"fmt"
	"time"

	"github.com/ufbuild/ufbuild/executor/pause"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// admission decides which queued node may start: it needs one of the build's jobs, or a slot of the remote that runs it, a slot of its
// agent's pool and, by its weight, slots of its own pool, or of its agent's where it has none; and none of them may be paused. Nodes that
// need the same wait in one line, so a full pool costs one look, not one a node.
type admission struct {
	campaign *lang.Campaign
	jobs     int // free
	slots    map[string]int
	lines    map[string]*line // by needs
	known    map[asks]*line   // the same lines
	order    []*line          // in order of first use
	paused   map[pause.Account]bool
	onHold   bool                           // a person wants nothing to start
	unpaid   bool                           // nothing with an account may start
	proving  map[pause.Account]bool         // was paused: one attempt at a time, until one shows that it works
	prover   map[pause.Account]graph.NodeID // the node whose attempt tries an account
	// free, when set, says whether the pauses that other builds keep let an account be used.
	free func(pause.Account) bool
	// afford, when set, says whether the money for a node is there.
	afford func(graph.NodeID) bool
	// way, when set, says how long the way is that a node is at the head of.
	way func(graph.NodeID) time.Duration
}

// needs is what one rung of an agent takes to start: slots of pools, and an account that is not paused.
// A command has one rung without an account.
type needs struct {
	account     pause.Account
	agent, task string
	remote      string // the slot of the remote that it takes instead of a job; "" for none
}

// rungSet is a set of numbers of rungs below maxRungs; those above are never in it.
type rungSet uint64

// maxRungs is how many rungs of a chain a set can hold; a person lists a handful.
const maxRungs = 64

func (r rungSet) has(rung int) bool { return r&(1<<rung) != 0 }

func newAdmission(b *Builder) admission {
	a := admission{
		campaign: b.Campaign, jobs: max(b.Jobs, 1), unpaid: b.Unpaid != "", slots: map[string]int{}, lines: map[string]*line{}, known: map[asks]*line{},
		paused: map[pause.Account]bool{}, proving: map[pause.Account]bool{}, prover: map[pause.Account]graph.NodeID{},
	}
	for _, p := range b.Campaign.Pools {
		a.slots[p.Name] = p.Slots
	}
	for _, r := range b.Campaign.Remotes {
		a.slots[remoteSlot(r.Name)] = r.Slots
	}
	return a
}

// remoteSlot names the slots of a remote apart from those of any pool; "" for none.
func remoteSlot(remote string) string {
	if remote == "" {
		return ""
	}
	return "remote " + remote
}

// rungsOf lists the profiles that may run an instance, best first; none for a command.
func rungsOf(c *lang.Campaign, inst *lang.Instance) []*lang.Profile {
	if inst.Profile == nil {
		return nil
	}
	rungs := []*lang.Profile{inst.Profile}
	for _, name := range inst.Profile.Fallback {
		if p, ok := c.Profile(name); ok {
			rungs = append(rungs, p)
		}
	}
	return rungs
}

// accountOfAgent is what the provider of an agent limits.
func accountOfAgent(a *lang.Agent) pause.Account {
	if a.Pool != "" {
		return pause.Account{Pool: a.Pool}
	}
	return pause.Account{Agent: a.Name}
}

// limitOf names what limits how many instances of this kind run at once, beside the build itself; "" for
// nothing.
func limitOf(inst *lang.Instance) string {
	switch {
	case inst == nil:
		return ""
	case inst.Profile != nil:
		return accountOfAgent(inst.Profile.Agent).String()
	case inst.Pool != "":
		return pause.Account{Pool: inst.Pool}.String()
	}
	return ""
}

func (a *admission) needsOf(inst *lang.Instance) []needs {
	rungs := rungsOf(a.campaign, inst)
	if len(rungs) == 0 {
		return []needs{{task: inst.Pool, remote: remoteSlot(inst.RunsOn(nil))}}
	}
	out := make([]needs, len(rungs))
	for i, p := range rungs {
		// The weight counts in the pool of the task, and where it names none in that of the agent.
		out[i] = needs{account: accountOfAgent(p.Agent), task: cmp.Or(inst.Pool, p.Agent.Pool), remote: remoteSlot(inst.RunsOn(p))}
		if p.Agent.Pool != out[i].task {
			out[i].agent = p.Agent.Pool
		}
	}
	return out
}

// push puts a node in line for the rungs that it has not given up.
func (a *admission) push(id graph.NodeID, inst *lang.Instance, given rungSet) {
	l := a.lineOf(inst, given)
	w := waiting{id: id, weight: max(inst.Weight, 1)}
	if a.way != nil {
		w.way = a.way(id)
	}
	heap.Push(l, w)
}

// asks is what the needs of an instance follow from.
type asks struct {
	profile *lang.Profile
	pool    string
	remote  string
	given   rungSet
}

// lineOf returns the line that an instance waits in, of those that try the rungs it has not given up.
func (a *admission) lineOf(inst *lang.Instance, given rungSet) *line {
	by := asks{inst.Profile, inst.Pool, inst.Remote, given}
	if l := a.known[by]; l != nil {
		return l
	}
	rungs := a.needsOf(inst)
	key := fmt.Sprint(given, rungs)
	l := a.lines[key]
	if l == nil {
		l = &line{rungs: rungs, given: given}
		a.lines[key] = l
		a.order = append(a.order, l)
	}
	a.known[by] = l
	return l
}

// pop takes the first queued node that may start, the one at the head of the longest way, the rung that runs it, and its slots
// with it.
func (a *admission) pop() (id graph.NodeID, rung int, ok bool) {
	if a.onHold || a.jobs == 0 && len(a.campaign.Remotes) == 0 {
		return 0, 0, false
	}
	var best *line
	var at int // in best.ids
	for _, l := range a.order {
		i, ok := l.head(a.afford)
		if !ok || best != nil && !l.ids[i].before(best.ids[at]) {
			continue
		}
		if n, fits := a.rungFor(l, l.ids[i]); fits {
			best, at, rung = l, i, n
		}
	}
	if best == nil {
		return 0, 0, false
	}
	w := best.remove(at)
	n := best.rungs[rung]
	a.take(n, w.weight, 1)
	if a.proving[n.account] {
		a.prover[n.account] = w.id
	}
	return w.id, rung, true
}

// rungFor chooses the rung for a node of a line: the first whose account is not paused. A rung that is
// only busy is waited for.
func (a *admission) rungFor(l *line, w waiting) (int, bool) {
	for i, n := range l.rungs {
		paid := n.account != (pause.Account{})
		if l.given.has(i) || a.holds(n) || paid && (a.unpaid || a.free != nil && !a.free(n.account)) {
			continue
		}
		if _, tried := a.prover[n.account]; tried {
			return 0, false
		}
		return i, a.hasPlace(n) && (n.agent == "" || a.slots[n.agent] >= 1) && (n.task == "" || a.slots[n.task] >= w.weight)
	}
	return 0, false
}

// hasPlace reports whether the build, or the remote, has room for one more.
func (a *admission) hasPlace(n needs) bool {
	if n.remote != "" {
		return a.slots[n.remote] >= 1
	}
	return a.jobs >= 1
}

// holds reports whether a pause keeps a rung from starting.
func (a *admission) holds(n needs) bool {
	return a.paused[n.account] || n.agent != "" && a.paused[pause.Account{Pool: n.agent}] ||
		n.task != "" && a.paused[pause.Account{Pool: n.task}]
}

func (a *admission) take(n needs, weight, sign int) {
	if n.remote != "" {
		a.slots[n.remote] -= sign
	} else {
		a.jobs -= sign
	}
	if n.agent != "" {
		a.slots[n.agent] -= sign
	}
	if n.task != "" {
		a.slots[n.task] -= sign * weight
	}
}

// release gives back what pop took for the node.
func (a *admission) release(inst *lang.Instance, rung int) {
	a.take(a.lineOf(inst, 0).rungs[rung], max(inst.Weight, 1), -1)
}

// blockedBy names the accounts that keep a queued node from starting on any rung it has not given up, in
// order of rungs.
func (a *admission) blockedBy(inst *lang.Instance, given rungSet) []pause.Account {
	var out []pause.Account
	for i, n := range a.needsOf(inst) {
		if given.has(i) {
			continue
		}
		for _, acc := range []pause.Account{n.account, {Pool: n.agent}, {Pool: n.task}} {
			if a.paused[acc] {
				out = append(out, acc)
				break
			}
		}
	}
	return out
}

// proved says that an account works: all that waits for it may start.
func (a *admission) proved(acc pause.Account) {
	delete(a.proving, acc)
	delete(a.prover, acc)
}

// tried says that the attempt of a node is over. Where it tried an account without showing that it works, the
// next one does.
func (a *admission) tried(acc pause.Account, id graph.NodeID) {
	if a.prover[acc] == id {
		delete(a.prover, acc)
	}
}

func (a *admission) clear() {
	for _, l := range a.order {
		l.ids = nil
	}
}

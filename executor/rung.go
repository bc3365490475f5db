package executor

import (
	"context"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// onRung is the instance of a node as the chosen rung of its agent runs it.
func (s *scheduler) onRung(id graph.NodeID) *lang.Instance {
	inst := s.graph.Node(id).Instance
	rung := s.nodes[id].rung
	if rung == 0 {
		return inst
	}
	profile := rungsOf(s.b.Campaign, inst)[rung]
	return inst.With(func(s *lang.Settings) { s.Profile = profile })
}

// attemptOnRung carries out one attempt on the rung that inst names.
func (b *Builder) attemptOnRung(ctx context.Context, m endedMsg, inst *lang.Instance, dec Decision, tell func(cache.Usage)) endedMsg {
	dec.lower = inst.Profile != nil && inst.Profile.Name != dec.Action.Profile
	if dec.Action, m.err = b.onRung(inst, dec.Action); m.err != nil {
		return m
	}
	return b.attempt(ctx, m, inst, dec, tell)
}

// onRung returns the action as a lower rung carries it out: with its agent, its variables and its
// program. Only the first rung is in the manifest, so the key stays what it was.
func (d *Decider) onRung(inst *lang.Instance, a *Action) (*Action, error) {
	p := inst.Profile
	if p == nil || a.Profile == p.Name {
		return a, nil
	}
	lower := *a
	lower.Env = mergeEnv(p, a.TaskEnv)
	lower.PassEnv = inst.PassEnv
	lower.Remote = inst.RunsOn(p)
	lower.addAgent(p)
	found := map[string]source.File{}
	addFiles(found, a.Sources)
	if err := d.addNamed(found, &lower); err != nil {
		return nil, err
	}
	lower.Sources = sortedFiles(found)
	return &lower, nil
}

// adapterOf is the adapter that ran an attempt, whose stream only it can read.
func (d *Decider) adapterOf(a *Action, rung string) string {
	if p, ok := d.Campaign.Profile(rung); ok && rung != a.Profile {
		return p.Agent.Adapter
	}
	return a.Agent.Adapter
}

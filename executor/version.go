package executor

import (
	"fmt"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/lang"
)

// agentOf is what is recorded of the agent that carries out an action.
func (d *Decider) agentOf(a *Action, p *lang.Profile) cache.Agent {
	out := cache.Agent{Adapter: a.Agent.Adapter, Model: a.Agent.Model, Version: a.Agent.Version}
	if p != nil {
		out.Pool = p.Agent.Pool
		if out.Version == "" {
			out.Version = d.says(p.Agent)
		}
	}
	return out
}

func (d *Decider) says(a *lang.Agent) string {
	if d.AgentSays == nil {
		return ""
	}
	return d.AgentSays(a)
}

// noteVersion says of a fresh node when the program that made its attempt is another version now: a
// campaign that does not want that in the key still wants to know.
func (d *Decider) noteVersion(dec *Decision) {
	had := dec.Attempt.Agent.Version
	p, ok := d.Campaign.Profile(dec.Attempt.Rung)
	if dec.Answer != Fresh || had == "" || !ok || p.Agent.Version == "key" {
		return
	}
	if now := d.says(p.Agent); now != "" && now != had {
		dec.Note = fmt.Sprintf("made by %q, and agent %q says %q now (version = \"record\")", had, p.Agent.Name, now)
	}
}

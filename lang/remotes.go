package lang

import (
	"cmp"
	"slices"
	"time"
)

// Here is the name that stands for this machine where a remote is asked for.
const Here = "local"

// remoteEngines are the values of remote.engine.
var remoteEngines = []string{"reapi", "slurm", "kubectl", "nomad", "command"}

const (
	defaultRemoteSlots = 64 // attempts of a remote at once
	defaultPoll        = 10 * time.Second
	maxRetryLost       = 20 // more is a loop
)

func (l *loader) loadRemotes() {
	s := l.campaignScope()
	for _, n := range l.decl.kinds["remote"].list {
		r := &Remote{
			Name: n.name, Range: at(n.header),
			Engine:     l.wantString(s, l.literal(n, "engine")),
			Address:    l.wantString(s, l.planned(n, "address")),
			Slots:      int(l.wantInt(s, l.planned(n, "slots"), defaultRemoteSlots, 1, maxSlots, "UF7004")),
			MaxTimeout: l.wantDuration(s, l.planned(n, "max_timeout"), 0),
			RetryLost:  int(l.wantInt(s, l.planned(n, "retry_lost"), -1, 0, maxRetryLost, "UF7008")),
			Properties: l.wantStringMap(s, l.planned(n, "properties")),
			Env:        l.wantRemoteEnv(s, l.planned(n, "env")),
			Program:    l.wantString(s, l.planned(n, "program")),
			Submit:     l.wantStrings(s, l.planned(n, "submit")),
			Input:      l.wantString(s, l.planned(n, "input")),
			State:      l.wantStrings(s, l.planned(n, "state")),
			Cancel:     l.wantStrings(s, l.planned(n, "cancel")),
			Logs:       l.wantStrings(s, l.planned(n, "logs")),
			Poll:       l.wantDuration(s, l.planned(n, "poll"), defaultPoll),
		}
		l.checkEngine(n, r)
		l.c.Remotes = append(l.c.Remotes, r)
	}
}

// checkEngine holds a remote to what its engine knows.
func (l *loader) checkEngine(n *node, r *Remote) {
	if r.Name == Here {
		l.error("UF1206", n.label, "%q is reserved: it stands for this machine.", Here).
			hint("Choose another name, such as %q.", cmp.Or(r.Engine, "cluster"))
	}
	a := n.arg("engine")
	if a != nil && r.Engine != "" && !slices.Contains(remoteEngines, r.Engine) {
		l.error("UF7008", a.place, "There is no engine named %q.", r.Engine).
			meantIn(a.syntax, r.Engine, remoteEngines).hint("Engines are %s.", orList(remoteEngines))
	}
	for _, name := range []string{"submit", "state", "cancel"} {
		if r.Engine == "command" && n.arg(name) == nil {
			l.error("UF1103", n.header, "The argument %q is required: engine \"command\" has none of its own.", name)
		}
	}
	for _, name := range []string{"submit", "input", "state", "cancel", "logs", "program", "poll"} {
		if a := n.arg(name); a != nil && r.Engine == "reapi" {
			l.error("UF7008", a.nameRange, "%s has no effect with engine \"reapi\": its server starts what it is sent.", name)
		}
	}
}

// remoteName evaluates an argument that names a remote; "" when it is not set. [Here] is a name too.
func (l *loader) remoteName(s *scope, a *argument) string {
	name := l.wantString(s, a)
	if name == "" || name == Here {
		return name
	}
	if _, ok := l.c.RemoteNamed(name); !ok {
		l.error("UF7007", a.place, "There is no remote named %q.", name).meantIn(a.syntax, name, l.decl.kinds["remote"].names()).
			hint("Declare it: remote %q { engine = … }.", name)
		return ""
	}
	l.use("remote", name)
	return name
}

// RunsOn names the remote that runs the instance as a profile carries it out (nil for a command); "" for this machine. It is
// the one that the task names, else the one of the profile.
func (i *Instance) RunsOn(p *Profile) string {
	name := i.Remote
	if name == "" && p != nil {
		name = p.Remote
	}
	if name == Here {
		return ""
	}
	return name
}

// checkRemote reports what the remote of an instance cannot do.
func (l *loader) checkRemote(d *taskDef, i *Instance) {
	r, ok := l.c.RemoteNamed(i.RunsOn(i.Profile))
	if !ok {
		return
	}
	where := d.node.header
	if a := d.settings["remote"]; a != nil {
		where = a.place
	}
	if i.Workspace.Mode == ModeInplace {
		l.error("UF7009", where, "Task %q runs in place, so it can only run here.", d.task.Name).
			hint("Take remote out, or let its workspace have the mode \"inputs\" or \"repo\".")
	}
	limited := i.Workspace.Sandbox != "off" && i.Workspace.Sandbox != "" || !i.Workspace.Network
	if limited && r.Engine == "reapi" {
		l.error("UF7009", where, "Remote %q cannot enforce the limits that the workspace of task %q asks for.", r.Name, d.task.Name).
			hint("Its server decides what a task may do; take sandbox and network out, or run it here.")
	}
	if r.MaxTimeout > 0 && i.Timeout > r.MaxTimeout {
		l.error("UF7009", where, "Timeout %s of task %q is more than remote %q grants (max_timeout %s).", i.Timeout, d.task.Name, r.Name, r.MaxTimeout).
			hint("Let the task have a timeout of at most that, or run it elsewhere.")
	}
}

// RemoteNamed returns the remote called name.
func (c *Campaign) RemoteNamed(name string) (*Remote, bool) {
	return findNamed(c.Remotes, name, func(r *Remote) string { return r.Name })
}

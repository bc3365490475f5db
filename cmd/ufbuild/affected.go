package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// side is a campaign before or after a change, with what is known of each instance before a run.
type side struct {
	*loaded
	decider executor.Decider
	known   map[lang.Address]*knownNode
	order   []lang.Address // topological
}

// knownNode is what is known of one instance.
type knownNode struct {
	inst    *lang.Instance
	outline lang.Outline
	planned executor.Planned
}

func newSide(l *loaded, own map[string]bool) *side {
	s := &side{loaded: l, known: map[lang.Address]*knownNode{}}
	files := source.Open(l.campaign.Root, filepath.Join(l.campaign.Root, journal.Dir, "stat"))
	files.LeaveOut(journal.Dir, ".git", l.campaign.Out)
	files.LeadOut(l.campaign.Out)
	s.decider = executor.Decider{Campaign: l.campaign, Sources: files, Pins: l.lock, Own: own}
	for _, id := range l.graph.Order() {
		n := l.graph.Node(id)
		if n.Instance == nil {
			continue
		}
		o := l.campaign.Outline(n.Instance)
		s.known[n.Address] = &knownNode{n.Instance, o, s.decider.Planned(n.Instance, o.Words)}
		s.order = append(s.order, n.Address)
	}
	return s
}

// comparison finds which instances a change touches.
type comparison struct {
	then, now *side
	rev       *revision
	was       map[lang.Address]lang.Address // of an instance of today, what it was called
	tasks     map[string]string             // the same of tasks
}

// affectedNode says why an instance is touched.
type affectedNode struct {
	Address string   `json:"address"`
	Kind    string   `json:"kind"` // "changed", "new", "judged" or "dependent"
	Reasons []string `json:"reasons"`
}

// compare returns the instances that are touched, in an order in which they could be built, and the
// addresses that are gone.
func compare(then, now *side, rev *revision) (touched []affectedNode, gone []string) {
	c := &comparison{then: then, now: now, rev: rev, was: map[lang.Address]lang.Address{}, tasks: map[string]string{}}
	c.match()
	direct := map[lang.Address]affectedNode{}
	var ids []graph.NodeID
	for _, a := range now.order {
		n, ok := c.touch(a)
		if !ok {
			continue
		}
		direct[a] = n
		if id, ok := now.graph.Find(a); ok {
			ids = append(ids, id)
		}
	}
	for _, id := range now.graph.Cone(ids...) {
		a := now.graph.Node(id).Address
		n, ok := direct[a]
		if !ok {
			n = affectedNode{Address: a.String(), Kind: "dependent", Reasons: c.through(id, direct)}
			direct[a] = n
		}
		touched = append(touched, n)
	}
	return touched, c.gone()
}

// match finds what instances of today were called: the same, or, when a task was renamed, the instance
// that is alike in all but its name.
func (c *comparison) match() {
	taken := map[lang.Address]bool{}
	for _, a := range c.now.order {
		if c.then.known[a] != nil {
			c.was[a], c.tasks[a.Task], taken[a] = a, a.Task, true
		}
	}
	for _, a := range c.now.order {
		if _, ok := c.was[a]; ok {
			continue
		}
		for _, old := range c.then.order {
			if !taken[old] && old.Key == a.Key && old.Loop == a.Loop && c.alike(a, old) {
				c.was[a], c.tasks[a.Task], taken[old] = old, old.Task, true
				break
			}
		}
	}
}

// alike reports whether two instances differ in nothing that can change outputs.
func (c *comparison) alike(a, old lang.Address) bool {
	return len(c.reasons(c.now.known[a], c.then.known[old])) == 0
}

func (c *comparison) touch(a lang.Address) (affectedNode, bool) {
	old, ok := c.was[a]
	if !ok {
		return affectedNode{Address: a.String(), Kind: "new", Reasons: []string{}}, true
	}
	reasons := c.reasons(c.now.known[a], c.then.known[old])
	if len(reasons) > 0 {
		return affectedNode{Address: a.String(), Kind: "changed", Reasons: reasons}, true
	}
	reasons = c.judgedAnew(c.now.known[a].inst, c.then.known[old].inst)
	return affectedNode{Address: a.String(), Kind: "judged", Reasons: reasons}, len(reasons) > 0
}

// judgedAnew names the outputs whose contract says something else than it did. What is stored is judged again, and runs again
// only where it fails now: without a store nobody knows.
func (c *comparison) judgedAnew(now, then *lang.Instance) []string {
	var names []string
	for _, o := range now.Outputs {
		i := slices.IndexFunc(then.Outputs, func(p lang.Output) bool { return p.Name == o.Name })
		if i < 0 {
			continue // what is declared differs, and that is told
		}
		is, err := contract.KeyOf([]lang.Output{o}, executor.ContractFiles{Files: c.now.decider.Sources}, nil)
		was, errThen := contract.KeyOf([]lang.Output{then.Outputs[i]}, executor.ContractFiles{Files: c.then.decider.Sources}, nil)
		if err == nil && errThen == nil && is != was {
			names = append(names, fmt.Sprintf("contract of output %q", o.Name))
		}
	}
	return names
}

// reasons says how an instance differs from what it was.
func (c *comparison) reasons(now, then *knownNode) []string {
	rs := c.expressions(now, then)
	rs = append(rs, c.names(&now.outline, &then.outline)...)
	rs = append(rs, manifestChanges(then.planned.Manifest, now.planned.Manifest)...)
	rs = append(rs, c.inputs(now, then)...)
	return append(rs, c.needs(now.inst, then.inst)...)
}

// expressions compares what is rendered.
func (c *comparison) expressions(now, then *knownNode) []string {
	texts := func(o *lang.Outline) map[string]string {
		m := map[string]string{}
		for _, p := range o.Parts {
			m[p.Name] += p.Text + "\n"
		}
		return m
	}
	a, b := texts(&now.outline), texts(&then.outline)
	var rs []string
	for _, name := range []string{"command", "prompt", "prompt_text", "vars", "env", "when", "expand"} {
		if a[name] == b[name] {
			continue
		}
		if name == "prompt" && now.inst.PromptFile != "" {
			name += " " + now.inst.PromptFile
		}
		rs = append(rs, name)
	}
	return rs
}

// names compares the tasks, groups and references that the expressions name, in order.
func (c *comparison) names(now, then *lang.Outline) []string {
	if len(now.Names) != len(then.Names) {
		return nil // the texts differ then
	}
	var rs []string
	for i, name := range now.Names {
		kind, n, _ := strings.Cut(name, ".")
		oldKind, old, _ := strings.Cut(then.Names[i], ".")
		same := kind == oldKind
		switch kind {
		case "task":
			was, ok := c.tasks[n]
			same = same && (was == old || !ok && n == old)
		case "reference":
			same = same && c.sameReference(n, old)
		case "group":
			same = same && (n == old || c.sameMembers(n, old))
		}
		if !same {
			rs = append(rs, name)
		}
	}
	return rs
}

// sameReference reports whether two references are pinned to the same bytes.
func (c *comparison) sameReference(now, then string) bool {
	a, ok := c.now.campaign.Reference(now)
	b, was := c.then.campaign.Reference(then)
	if !ok || !was {
		return false
	}
	if a.File != "" {
		return a.File == b.File && !c.rev.differs(a.File)
	}
	d, _, pinned := c.now.lock.Pinned(now)
	e, _, wasPinned := c.then.lock.Pinned(then)
	if pinned && wasPinned {
		return d == e
	}
	return a.Repo == b.Repo && a.Commit == b.Commit && slices.Equal(a.Paths, b.Paths) && a.URL == b.URL && a.SHA256 == b.SHA256
}

// sameMembers reports whether a group of another name has the tasks that the old one had.
func (c *comparison) sameMembers(now, then string) bool {
	members := func(s *side, group string, name func(string) string) []string {
		var names []string
		for _, t := range s.campaign.Tasks {
			if t.Group == group {
				names = append(names, name(t.Name))
			}
		}
		return names
	}
	return slices.Equal(members(c.now, now, func(n string) string { return c.tasks[n] }), members(c.then, then, func(n string) string { return n }))
}

// manifestChanges lists the lines of a manifest that came and, where none came in their place, went.
func manifestChanges(then, now []byte) []string {
	var rs []string
	lines := func(b []byte) []string { return strings.Split(strings.TrimSpace(string(b)), "\n") }
	old, cur := lines(then), lines(now)
	if bytes.Equal(then, now) {
		return nil
	}
	for _, l := range cur {
		if !slices.Contains(old, l) {
			rs = append(rs, l)
		}
	}
	if len(rs) > 0 {
		return rs
	}
	for _, l := range old {
		if !slices.Contains(cur, l) {
			rs = append(rs, "no "+l)
		}
	}
	if len(rs) == 0 {
		rs = []string{"the order of its outputs"}
	}
	return rs
}

// inputs compares the files that the workspaces hold. What git does not know of has not changed.
func (c *comparison) inputs(now, then *knownNode) []string {
	if now.planned.Err != nil || then.planned.Err != nil {
		return nil // check says what is wrong with its inputs
	}
	files := func(fs []source.File) map[string]source.File {
		m := map[string]source.File{}
		for _, f := range fs {
			m[f.Path] = f
		}
		return m
	}
	a, b := files(now.planned.Sources), files(then.planned.Sources)
	var rs []string
	for p, f := range a {
		old, ok := b[p]
		switch {
		case ok && old.Digest == f.Digest && old.Target == f.Target && old.Exec() == f.Exec():
		case !ok && c.rev.has(p) || c.rev.differs(p):
			rs = append(rs, "input "+p)
		}
	}
	for p := range b {
		if _, ok := a[p]; !ok {
			rs = append(rs, "no input "+p)
		}
	}
	slices.Sort(rs)
	return rs
}

// needs compares what an instance waits for and gets content of.
func (c *comparison) needs(now, then *lang.Instance) []string {
	spell := func(n lang.Need, on string) string {
		return fmt.Sprint(on, n.Kind, n.Tolerate, n.All)
	}
	old := map[string]bool{}
	for _, n := range then.Needs {
		if n.Kind == lang.DataRef {
			old[spell(n, n.On.String())] = true
		}
	}
	var rs []string
	for _, n := range now.Needs {
		if n.Kind != lang.DataRef {
			continue
		}
		on := *n.On
		if was, ok := c.was[on]; ok {
			on = was
		}
		key := spell(n, on.String())
		if !old[key] {
			rs = append(rs, "needs "+n.On.String())
		}
		delete(old, key)
	}
	for range old {
		rs = append(rs, "no longer needs all it did")
		break
	}
	return rs
}

// through names the dependencies of an instance by which a change reaches it.
func (c *comparison) through(id graph.NodeID, touched map[lang.Address]affectedNode) []string {
	rs := []string{}
	for _, e := range c.now.graph.Deps(id) {
		a := c.now.graph.Node(e.To).Address
		if _, ok := touched[a]; ok && e.Kind == graph.Data && !slices.Contains(rs, a.String()) {
			rs = append(rs, a.String())
		}
	}
	return rs
}

// gone lists the instances that were there and are no more, under any name.
func (c *comparison) gone() []string {
	left := map[lang.Address]bool{}
	for _, old := range c.was {
		left[old] = true
	}
	gone := []string{}
	for _, a := range c.then.order {
		if !left[a] {
			gone = append(gone, a.String())
		}
	}
	return gone
}

package executor

import (
	"bytes"
	"slices"

	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// Planned is the part of an instance's manifest that is known before anything has run.
type Planned struct {
	// Manifest is the manifest without what is rendered, without inputs and without inflows.
	Manifest []byte
	// Sources are the files that the workspace will hold; when Err is set they could not be listed.
	Sources []source.File
	Err     error
}

// Planned works out what is known of an instance. words are the known elements of its command: a file
// that one of them names is an input.
func (d *Decider) Planned(inst *lang.Instance, words []string) Planned {
	a := newAction(inst, &lang.Rendered{When: true})
	p := Planned{Manifest: a.Manifest()}
	for _, w := range words {
		a.Argv = append(a.Argv, lang.Text{Real: w, Canonical: w})
	}
	var deps dependencies
	for _, from := range inst.Workspace.Inherit {
		trees := d.plannedTrees(from)
		deps.results.set(from, left{trees: trees})
		for name := range trees {
			a.Inflows = append(a.Inflows, Inflow{From: from, Output: name, Inherit: true})
		}
	}
	p.Sources, p.Err = d.sources(inst, a, &deps, nil)
	return p
}

// plannedTrees are the globs of the trees that an instance declares.
func (d *Decider) plannedTrees(a lang.Address) map[string][]string {
	trees := map[string][]string{}
	inst, ok := d.Campaign.Instance(a)
	if !ok {
		return trees
	}
	for _, o := range inst.Outputs {
		if o.Tree != nil {
			trees[o.Name] = o.Tree
		}
	}
	return trees
}

// foreseen says what speaks for a run of an instance whatever the dependencies leave that have to run first: a retry, or
// that what is its own differs from what it read last. A result of yet another state of its inputs may still be in the
// store, so this is no decision.
func (d *Decider) foreseen(inst *lang.Instance) Reason {
	last, ok := d.View.Last(inst.Address)
	if !ok {
		return Reason{}
	}
	if r, gone := d.View.DiscardedBy(last.Attempt); gone {
		return Reason{Kind: Retried, Who: r.Who, Why: r.Why, When: r.Time, RetryID: r.ID, Ordinal: last.Ordinal}
	}
	if !inst.Cache {
		return Reason{Kind: NeverCached}
	}
	old, err := d.manifestOf(last.Attempt)
	if err != nil {
		return Reason{}
	}
	if changes := d.ownChanges(inst, old); len(changes) > 0 {
		return Reason{Kind: Changed, Ordinal: last.Ordinal, Changes: changes}
	}
	return Reason{}
}

// ownSections are those lines of a manifest that no dependency has a say in. What is rendered is left out: it may be
// made of what they leave.
var ownSections = map[string]bool{
	"kind": true, "adapter": true, "agent-command": true, "agent-argument": true, "model": true, "effort": true, "input": true,
	"output": true, "salt": true, "loop": true, "accepted-timeout": true, "workspace": true,
}

// ownChanges compares what is an instance's own with an earlier manifest of it.
func (d *Decider) ownChanges(inst *lang.Instance, old []byte) []Change {
	p := d.Planned(inst, nil)
	if p.Err != nil {
		return nil // the decision will say so
	}
	m := &manifestWriter{buf: bytes.Clone(p.Manifest)}
	for _, f := range p.Sources {
		m.source(f)
	}
	was, is := ownLines(old), ownLines(m.buf)
	known := !slices.ContainsFunc(inst.Workspace.Inherit, func(a lang.Address) bool { // which trees decide about files
		_, ok := d.Campaign.Instance(a)
		return !ok
	})
	changes := pairHunk(without(was, is), without(is, was))
	return slices.DeleteFunc(changes, func(c Change) bool { // a file that is gone from the inputs may be named by the command
		return c.Section == "input" && (!known || c.Op == Removed && d.Sources.IsRegular(firstQuoted(c.Old)))
	})
}

// ownLines are the lines of a manifest that no dependency has a say in.
func ownLines(m []byte) []manifestLine {
	return slices.DeleteFunc(manifestLines(m), func(l manifestLine) bool { return l.text || !ownSections[l.section] })
}

// without are the lines of a that b does not have.
func without(a, b []manifestLine) []manifestLine {
	in := make(map[manifestLine]bool, len(b))
	for _, l := range b {
		in[l] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(l manifestLine) bool { return in[l] })
}

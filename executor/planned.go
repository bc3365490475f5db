package executor

import (
	"bytes"
	"slices"
	"sync"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/executor/journal"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
	"github.com/ufbuild/ufbuild/lang/edits"
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

// earlier remembers what is found out about nodes that have to wait, while others are asked about that wait for them. The zero value knows
// nothing yet.
type earlier struct {
	left  sync.Map // left by address: what a node left for those that read it last
	once  sync.Once
	turns map[string]int // places of builds in their order, from 1, by id
}

// inTurn reports whether builds made two selections in this order, or one build both. It is false of what a person chose.
func (e *earlier) inTurn(v *journal.View, a, b journal.Selection) bool {
	if a.Build == b.Build {
		return a.Build != ""
	}
	e.once.Do(func() {
		builds, err := v.Builds()
		if err != nil {
			return // nothing is known, and the verb that wants them says so
		}
		e.turns = make(map[string]int, len(builds))
		for i, b := range builds {
			e.turns[b.ID] = i + 1
		}
	})
	first, second := e.turns[a.Build], e.turns[b.Build]
	return first > 0 && second > 0 && first <= second
}

// foreseen says what speaks for a run of an instance whatever the dependencies leave that have to run first: a retry, or
// that what is its own differs from what it read last. A result of yet another state of its inputs may still be in the
// store, so this is no decision. deps are what dependencies left that are done; e remembers what is found of the others, and of inst.
func (d *Decider) foreseen(inst *lang.Instance, deps *dependencies, e *earlier) Reason {
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
	at, ok, err := findAttempt(d.Store, last.Attempt)
	if err != nil || !ok {
		return Reason{}
	}
	if at.Captured != nil {
		e.left.Store(inst.Address, leftOf(outputSpecs(inst), at, false))
	}
	old, err := cache.ReadAll(d.Store, at.Manifest, maxManifest)
	if err != nil {
		return Reason{}
	}
	if changes := append(d.textChanges(inst, deps, e, old), d.ownChanges(inst, old)...); len(changes) > 0 {
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

// textSections are those lines of a manifest that are rendered.
var textSections = map[string]bool{"prompt": true, "argument": true, "vars": true, "env": true}

// textChanges compares what is rendered of an instance with an earlier manifest of it, as if the dependencies that have to run first left
// what they had left for that one: what differs then is its own, whatever they leave now. It is silent where nobody knows what that was.
func (d *Decider) textChanges(inst *lang.Instance, deps *dependencies, e *earlier, old []byte) []Change {
	if !d.asItWas(inst, deps, e) {
		return nil
	}
	r, diags := d.Campaign.Render(inst, deps)
	if diags.HasErrors() || !r.When {
		return nil // the decision will say so, or the dependencies leave something else by then
	}
	text := func(m []byte) []manifestLine {
		return slices.DeleteFunc(manifestLines(m), func(l manifestLine) bool { return !textSections[l.section] })
	}
	was, is := text(old), text(newAction(inst, &r).Manifest())
	if slices.Equal(was, is) {
		return nil
	}
	return pairUp(edits.Between(was, is))
}

// asItWas adds to what dependencies left that are done what the others had left when an instance was read last. It is false where that
// is not known: one has read another attempt since, or failed, or a person chose what it reads.
func (d *Decider) asItWas(inst *lang.Instance, deps *dependencies, e *earlier) bool {
	last, _ := d.View.Last(inst.Address)
	for _, n := range inst.Needs {
		if n.Kind != lang.DataRef {
			continue
		}
		if l := deps.results.of(*n.On); l.done && l.until == nil {
			continue
		}
		had, read := d.View.Last(*n.On)
		if !read || !e.inTurn(d.View, had, last) {
			return false
		}
		if n.Tolerate {
			if end, ok := d.View.Ended(*n.On); ok && end.Attempt != had.Attempt {
				return false // it may have been absent
			}
		}
		l, ok := e.left.Load(*n.On)
		if !ok {
			dep, known := d.Campaign.Instance(*n.On)
			at, there, err := findAttempt(d.Store, had.Attempt)
			if !known || !there || err != nil || at.Captured == nil {
				return false
			}
			l = leftOf(outputSpecs(dep), at, false)
			e.left.Store(*n.On, l)
		}
		deps.results.set(*n.On, l.(left))
	}
	return true
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

package executor

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/executor/contract"
	"github.com/ufbuild/ufbuild/executor/source"
	"github.com/ufbuild/ufbuild/lang"
)

// Compared is a document outside an action that its contracts compare with: what another task left, or
// an input. Its bytes count in the verdict and not in the key.
type Compared struct {
	contract.Document
	From lang.Address // of an output; zero for an input
	File string       // of an input, below the root

	until lang.Address // Pending: the node that has to run first
}

// Documents hands what is compared with to the contracts.
func Documents(compared []Compared) []contract.Document {
	docs := make([]contract.Document, len(compared))
	for i := range compared {
		docs[i] = compared[i].Document
	}
	return docs
}

// addCompared looks up the documents that the contracts of an instance compare with.
func (d *Decider) addCompared(a *Action, inst *lang.Instance, deps *dependencies) error {
	for _, c := range inst.Compares {
		var found []Compared
		var err error
		if c.Input != "" {
			found, err = d.comparedInput(inst, c)
		} else {
			found = d.comparedOutputs(c, deps)
		}
		if err != nil {
			return fmt.Errorf("read %s, which a contract of %s compares with: %w", c.Name, inst.Address, err)
		}
		if len(found) == 0 { // an empty list, an input that may be empty
			found = []Compared{{Document: contract.Document{State: contract.Empty}}}
		}
		for i := range found {
			found[i].Name = c.Name
		}
		a.Compared = append(a.Compared, found...)
	}
	return nil
}

// comparedOutputs are the documents that the instances of another task left.
func (d *Decider) comparedOutputs(c lang.Compare, deps *dependencies) []Compared {
	var found []Compared
	for _, from := range c.On {
		for _, at := range d.instancesBehind(from, deps) {
			doc := d.comparedOutput(deps.results.of(at), at, c.Output)
			doc.From, doc.Lines = at, c.Lines
			found = append(found, doc)
		}
	}
	return found
}

func (d *Decider) comparedOutput(l left, from lang.Address, output string) Compared {
	var doc Compared
	o := outputNamed(l.outputs, output)
	switch {
	case !l.done, l.until != nil:
		if doc.until = from; l.until != nil {
			doc.until = *l.until
		}
		doc.State, doc.Why = contract.Pending, doc.until.String()+" has to run first"
	case !l.ok:
		doc.State, doc.Why = contract.Gone, from.String()+" was "+l.status
		if l.status == "failed" {
			doc.Why = from.String() + " failed"
		}
	case !o.Exists:
		doc.State = contract.Empty
	default:
		doc.Digest = o.Digest
		doc.Open = func() (io.ReadCloser, error) { return d.Store.Open(o.Digest) }
	}
	return doc
}

// instancesBehind are the instances that an address of a comparison stands for: those that came up at run
// time for a task that fans out, in order, of a series the last; until then and when it failed the task
// itself.
func (d *Decider) instancesBehind(from lang.Address, deps *dependencies) []lang.Address {
	t, ok := d.Campaign.Task(from.Task)
	if !ok || t.Expand == nil {
		return []lang.Address{from}
	}
	if l := deps.results.of(from); !l.ok || l.until != nil {
		return []lang.Address{from}
	}
	var all []lang.Address
	for i := range deps.results.list {
		a := deps.results.list[i].address
		if a.Task == from.Task && a != from {
			all = append(all, a)
		}
	}
	slices.SortFunc(all, func(x, y lang.Address) int {
		return cmp.Or(cmp.Compare(x.Key, y.Key), cmp.Compare(x.Matrix, y.Matrix), cmp.Compare(x.Loop, y.Loop))
	})
	if !t.Series {
		return all
	}
	var last []lang.Address
	for i, a := range all {
		if i+1 == len(all) || all[i+1].Key != a.Key || all[i+1].Matrix != a.Matrix {
			last = append(last, a)
		}
	}
	return last
}

// comparedInput are the files of an input of the instance.
func (d *Decider) comparedInput(inst *lang.Instance, c lang.Compare) ([]Compared, error) {
	i := slices.IndexFunc(inst.Inputs, func(in lang.Input) bool { return in.Name == c.Input })
	if i < 0 {
		return nil, nil // lang has reported it
	}
	files, err := d.Sources.Glob(inst.Inputs[i].Globs, inst.Inputs[i].Exclude)
	if err != nil {
		return nil, err
	}
	var found []Compared
	for _, f := range files {
		if f.Target != "" {
			return nil, fmt.Errorf("%s is a link; only files can be compared with", f.Path)
		}
		doc := Compared{File: f.Path, Document: contract.Document{Digest: f.Digest, Lines: isLines(f.Path)}}
		doc.Open = func() (io.ReadCloser, error) { return d.openSource(f) }
		found = append(found, doc)
	}
	return found, nil
}

func isLines(p string) bool {
	return slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(path.Ext(p)))
}

// openSource opens the bytes of a source file as they are in the key: those of the store when it has them,
// since the file may have been edited meanwhile.
func (d *Decider) openSource(f source.File) (io.ReadCloser, error) {
	if r, err := d.Store.Open(f.Digest); err == nil {
		return r, nil
	}
	r, err := d.Sources.Reader(f.Path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, err
	}
	if digest.Of(b) != f.Digest {
		return nil, &SourceChanged{Path: f.Path}
	}
	return io.NopCloser(bytes.NewReader(b)), nil
}

// storeCompared keeps the inputs that contracts compare with: they are judged by when the attempt ends, and
// may be edited until then.
func (d *Decider) storeCompared(a *Action) error {
	for i := range a.Compared {
		c := &a.Compared[i]
		if c.File == "" || c.State != contract.There || c.Digest.Size > contract.MaxJSON {
			continue
		}
		r, err := c.Open()
		if err != nil {
			return err
		}
		_, err = d.Store.Put(r)
		if err = errors.Join(err, r.Close()); err != nil {
			return err
		}
	}
	return nil
}

// layContracts puts the contracts of an action into its workspace, for "ufbuild contract check" there.
func (b *Builder) layContracts(inv *Invocation, a *Action) error {
	bundle := contract.Bundle{Outputs: a.Contracts}
	for i := range a.Compared {
		bundle.Compared = append(bundle.Compared, a.inWorkspace(&a.Compared[i]))
	}
	packed, err := bundle.Pack(ContractFiles{b.Sources})
	if err != nil {
		return err
	}
	for _, p := range packed {
		inv.Files = append(inv.Files, File(p))
	}
	return nil
}

// shownContracts are the contracts as an agent reads them: what they compare with is named by where it lies
// in the workspace.
func (a *Action) shownContracts() []lang.Output {
	at := map[string]string{}
	for i := range a.Compared {
		if doc := a.inWorkspace(&a.Compared[i]); doc.Path != "" {
			at[doc.Name] = doc.Path
		}
	}
	if len(at) == 0 {
		return a.Contracts
	}
	shown := func(operand string) string {
		if o, err := lang.ParseOperand(operand); err == nil && at[o.Name] != "" {
			return at[o.Name] + ":" + o.Path.String()
		}
		return operand
	}
	outs := slices.Clone(a.Contracts)
	for i := range outs {
		if outs[i].Contract == nil {
			continue
		}
		c := *outs[i].Contract
		c.Joins, c.Preserves = slices.Clone(c.Joins), slices.Clone(c.Preserves)
		for k := range c.Joins {
			c.Joins[k].To = shown(c.Joins[k].To)
		}
		for k := range c.Preserves {
			c.Preserves[k].From = shown(c.Preserves[k].From)
		}
		outs[i].Contract = &c
	}
	return outs
}

// inWorkspace says where the agent finds a document that its outputs are compared with. One that does not
// flow in is not there, and the bundle does not bring it: its bytes are not in the key.
func (a *Action) inWorkspace(c *Compared) contract.BundleDocument {
	doc := contract.BundleDocument{Name: c.Name, State: c.State, Why: c.Why, Lines: c.Lines, Path: c.File}
	if c.State != contract.There || c.File != "" {
		return doc
	}
	for _, in := range a.Inflows {
		if in.Mount != "" && !in.Tree && !in.Absent && in.Digest == c.Digest {
			doc.Path = in.Mount
			return doc
		}
	}
	doc.State, doc.Why = contract.Gone, "it is not in this workspace, and is compared with at the end"
	return doc
}

// pending names the node that has to run before the action can be judged.
func (a *Action) pending() (until lang.Address, is bool) {
	for i := range a.Compared {
		if c := &a.Compared[i]; c.State == contract.Pending {
			return c.until, true
		}
	}
	return lang.Address{}, false
}

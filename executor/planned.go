package executor

import (
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
	up := upstream{results: map[lang.Address]left{}}
	for _, from := range inst.Workspace.Inherit {
		trees := d.plannedTrees(from)
		up.results[from] = left{trees: trees}
		for name := range trees {
			a.Inflows = append(a.Inflows, Inflow{From: from, Output: name, Inherit: true})
		}
	}
	p.Sources, p.Err = d.sources(inst, a, &up)
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

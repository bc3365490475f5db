package executor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/lang"
)

// addInflows looks up the outputs and references whose bytes flow in.
func (d *Decider) addInflows(a *Action, inst *lang.Instance, r *lang.Rendered, deps *dependencies) error {
	a.Inflows = slices.Grow(a.Inflows, len(r.Flows))
	for _, f := range r.Flows {
		if f.Reference != "" {
			in, err := d.pinnedInflow(f)
			if err != nil {
				return err
			}
			a.Inflows = append(a.Inflows, in)
			continue
		}
		in := Inflow{From: f.From, Output: f.Output, Mount: f.Mount, Inherit: f.Inherit, Absent: true}
		if o := outputNamed(deps.results.of(f.From).outputs, f.Output); o.Exists {
			in.Absent, in.Tree, in.Digest, in.Mode, in.Exec = false, o.Tree, o.Digest, o.Mode, o.Mode&0o100 != 0
			var err error
			if in.Content, err = contentOf(deps.cas, o); err != nil {
				return err
			}
		}
		a.Inflows = append(a.Inflows, in)
	}
	a.orderInflows(inst)
	return a.addStart(inst, deps)
}

// contentOf is the digest of what a reader sees of an output: of a tree the files, without the record
// of what was deleted and changed on the way to them.
func contentOf(cas cache.CAS, o cache.Output) (digest.Digest, error) {
	if !o.Tree {
		return o.Digest, nil
	}
	t, err := cache.ReadTree(cas, o.Digest)
	if err != nil || (len(t.Deleted) == 0 && len(t.Changed) == 0) {
		return o.Digest, err
	}
	t.Deleted, t.Changed = nil, nil
	b, err := t.Encode()
	return digest.Of(b), err
}

// orderInflows puts what the texts do not name into an order that the user wrote. What they name comes
// first, in the order of the tokens. Then comes what depends_on mounts, in the order of that list: so
// renaming tasks and moving blocks changes nothing, and two outputs that swap their bytes do.
func (a *Action) orderInflows(inst *lang.Instance) {
	rest := a.Inflows[min(a.namedInflows(), len(a.Inflows)):]
	if len(rest) < 2 {
		return
	}
	listed := map[string]int{}
	for i, ref := range inst.Task.Refs {
		if _, ok := listed[ref.Task]; !ok {
			listed[ref.Task] = i
		}
	}
	mounted := map[lang.Address]bool{}
	for _, n := range inst.Needs {
		mounted[*n.On] = n.All
	}
	slices.SortStableFunc(rest, func(x, y Inflow) int {
		return cmp.Or(
			compareBool(!mounted[x.From], !mounted[y.From]),
			compareBool(x.Inherit, y.Inherit),
			cmp.Compare(listed[x.From.Task], listed[y.From.Task]),
			x.From.Compare(y.From),
			cmp.Compare(x.Output, y.Output),
			cmp.Compare(x.Digest.String(), y.Digest.String()), // of references
		)
	})
}

func compareBool(x, y bool) int {
	switch {
	case x == y:
		return 0
	case y:
		return -1
	}
	return 1
}

// namedInflows is the highest number of a mount token in the canonical texts.
func (a *Action) namedInflows() int {
	highest := highestToken(a.Prompt.Canonical)
	for _, t := range a.Argv {
		highest = max(highest, highestToken(t.Canonical))
	}
	highest = max(highest, highestToken(a.Vars))
	for _, e := range a.Env {
		highest = max(highest, highestToken(e.Value.Canonical))
	}
	return highest
}

// tokenMark encloses a mount token; doubled it stands for itself. See lang.Text.
const tokenMark = "\u241f"

func highestToken(text string) int {
	highest := 0
	for {
		i := strings.Index(text, tokenMark)
		if i < 0 {
			return highest
		}
		text = text[i+len(tokenMark):]
		if rest, doubled := strings.CutPrefix(text, tokenMark); doubled {
			text = rest
			continue
		}
		token, rest, ok := strings.Cut(text, tokenMark)
		if !ok {
			return highest
		}
		if n, err := strconv.Atoi(strings.TrimPrefix(token, "in")); err == nil {
			highest = max(highest, n)
		}
		text = rest
	}
}

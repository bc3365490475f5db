package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// tokenMark encloses a token in canonical text. Where it stands in rendered text by itself it is
// doubled, so that no text can pretend to hold a token.
const tokenMark = "\u241f"

// flows decides what flows into the instance, numbers the mounts by first use, and writes the
// canonical spelling of every text.
func (r *renderer) flows() {
	candidates := r.candidates()
	byMount := map[string]Flow{}
	for _, f := range candidates {
		if f.Mount != "" {
			byMount[f.Mount] = f
		}
	}
	c := newCanonicalizer(byMount)
	for i := range r.out.Argv {
		r.out.Argv[i].Canonical = c.text(r.out.Argv[i].Real)
	}
	r.out.Prompt.Canonical = c.text(r.out.Prompt.Real)
	r.out.Vars = c.text(r.out.Vars)
	for i := range r.out.Env {
		r.out.Env[i].Value.Canonical = c.text(r.out.Env[i].Value.Real)
	}
	r.orderFlows(candidates, byMount, c.order)
}

// orderFlows lists first the flows whose mounts occur, in order of first use, then the others.
func (r *renderer) orderFlows(candidates []Flow, byMount map[string]Flow, used []string) {
	done := map[string]bool{}
	for _, m := range used {
		done[m] = true
		r.out.Flows = append(r.out.Flows, byMount[m])
	}
	for _, f := range candidates {
		if f.Mount != "" && done[f.Mount] {
			continue
		}
		if f.Reference == "" && f.Output != "" && !r.exists(f) {
			continue // its path was never rendered and there are no bytes that could flow
		}
		r.out.Flows = append(r.out.Flows, f)
	}
}

func (r *renderer) exists(f Flow) bool {
	res, ok := r.values.results.Result(f.From)
	return ok && res.Outputs[f.Output].Exists
}

// candidates lists everything that may flow: marked paths, all outputs of depends_on, inherited trees.
// The order is that of Needs and of the outputs.
func (r *renderer) candidates() []Flow {
	var list []Flow
	inherited := map[Address]bool{}
	for _, a := range r.inst.Workspace.Inherit {
		inherited[a] = true
	}
	for _, n := range r.inst.Needs {
		if n.Kind != DataRef {
			continue
		}
		for _, i := range r.concrete(n.On) {
			list = append(list, r.flowsFrom(i, n.All, inherited[n.On])...)
		}
	}
	return append(list, r.referenceFlows()...)
}

// concrete returns the instances behind the address of a need.
func (r *renderer) concrete(a Address) []*Instance {
	if d := r.ev.tasks[a.Task]; d != nil && d.expand != nil {
		return r.values.instances(d)
	}
	if i, ok := r.ev.instance(a); ok {
		return []*Instance{i}
	}
	if p := r.late.prev; p != nil && p.Address == a {
		return []*Instance{p}
	}
	return nil
}

func (r *renderer) flowsFrom(i *Instance, all, inherit bool) []Flow {
	var list []Flow
	whole := r.marks[sourceMark{from: i.Address, path: true}]
	if whole {
		list = append(list, Flow{From: i.Address, Mount: instanceMount(i.Address)})
	}
	for n := range i.Outputs {
		o := &i.Outputs[n]
		f := Flow{From: i.Address, Output: o.Name, Inherit: inherit && o.Tree != nil}
		if all || whole || r.marks[sourceMark{from: i.Address, output: o.Name, path: true}] {
			f.Mount = outputMount(i.Address, o.Name)
		}
		if f.Mount != "" || f.Inherit {
			list = append(list, f)
		}
	}
	return list
}

func (r *renderer) referenceFlows() []Flow {
	var list []Flow
	for _, ref := range r.ev.c.References {
		if r.marks[sourceMark{reference: ref.Name, path: true}] {
			list = append(list, Flow{Reference: ref.Name, Mount: referenceMount(ref)})
		}
	}
	return list
}

// canonicalizer replaces mounts by tokens numbered in order of first use.
type canonicalizer struct {
	mounts  map[string]Flow
	lengths []int    // of mounts, longest first
	order   []string // mounts met so far
	index   map[string]int
}

func newCanonicalizer(mounts map[string]Flow) *canonicalizer {
	seen := map[int]bool{}
	for m := range mounts {
		seen[len(m)] = true
	}
	lengths := slices.Sorted(maps.Keys(seen))
	slices.Reverse(lengths)
	return &canonicalizer{mounts: mounts, lengths: lengths, index: map[string]int{}}
}

func (c *canonicalizer) text(s string) string {
	if !strings.Contains(s, tokenMark) && !strings.Contains(s, MountDir) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if strings.HasPrefix(s[i:], tokenMark) {
			b.WriteString(tokenMark + tokenMark)
			i += len(tokenMark)
			continue
		}
		m := c.mountAt(s[i:])
		if m == "" {
			b.WriteByte(s[i])
			i++
			continue
		}
		fmt.Fprintf(&b, "%sin%d%s", tokenMark, c.number(m), tokenMark)
		i += len(m)
	}
	return b.String()
}

// mountAt returns the longest mount that s starts with.
func (c *canonicalizer) mountAt(s string) string {
	if !strings.HasPrefix(s, MountDir) {
		return ""
	}
	for _, n := range c.lengths {
		if n <= len(s) {
			if _, ok := c.mounts[s[:n]]; ok {
				return s[:n]
			}
		}
	}
	return ""
}

func (c *canonicalizer) number(m string) int {
	if n, ok := c.index[m]; ok {
		return n
	}
	c.order = append(c.order, m)
	c.index[m] = len(c.order)
	return len(c.order)
}

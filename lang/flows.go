package lang

import (
	"slices"
	"strconv"
	"strings"
)

// tokenMark encloses a token in canonical text. Where it stands in rendered text by itself it is
// doubled, so that no text can pretend to hold a token.
const tokenMark = "\u241f"

// flows decides what flows into the instance, numbers the mounts by first use, and writes the
// canonical spelling of every text.
func (r *renderer) flows() {
	c := newCanonicalizer(r.candidates())
	for i := range r.out.Argv {
		r.out.Argv[i].Canonical = c.text(r.out.Argv[i].Real)
	}
	r.out.Prompt.Canonical = c.text(r.out.Prompt.Real)
	r.out.Vars = c.text(r.out.Vars)
	for i := range r.out.Env {
		r.out.Env[i].Value.Canonical = c.text(r.out.Env[i].Value.Real)
	}
	r.orderFlows(&c)
}

// orderFlows lists first the flows whose mounts occur, in order of first use, then the others.
func (r *renderer) orderFlows(c *canonicalizer) {
	if len(c.flows) > 0 && c.inOrder() {
		r.out.Flows = c.flows
		return
	}
	if len(c.flows) > 0 {
		r.out.Flows = make([]Flow, 0, len(c.flows))
	}
	for _, n := range c.order {
		r.out.Flows = append(r.out.Flows, c.flows[n])
	}
	for i, f := range c.flows {
		if n, _ := c.flowAt(f.Mount); f.Mount != "" && c.number[n] > 0 {
			continue
		}
		if f.Reference == "" && f.Output != "" && !r.exists(&c.flows[i]) {
			continue // its path was never rendered and there are no bytes that could flow
		}
		r.out.Flows = append(r.out.Flows, f)
	}
	if len(r.out.Flows) == 0 {
		r.out.Flows = nil
	}
}

func (r *renderer) exists(f *Flow) bool {
	res, ok := r.values.results.Result(f.From)
	return ok && res.Outputs[f.Output].Exists
}

// candidates lists everything that may flow: marked paths, all outputs of depends_on, inherited trees.
// The order is that of Needs and of the outputs.
func (r *renderer) candidates() []Flow {
	var inherited map[Address]bool
	for _, a := range r.inst.Workspace.Inherit {
		if inherited == nil {
			inherited = map[Address]bool{}
		}
		inherited[a] = true
	}
	var list []Flow
	if len(r.inst.Needs) > 0 {
		list = make([]Flow, 0, len(r.inst.Needs))
	}
	for _, n := range r.inst.Needs {
		if n.Kind != DataRef {
			continue
		}
		for _, i := range r.concrete(*n.On) {
			list = r.appendFlows(list, i, n.All, inherited[*n.On])
		}
	}
	return r.appendReferences(list)
}

// concrete returns the instances behind the address of a need, until it is called again.
func (r *renderer) concrete(a Address) []*Instance {
	if d := r.ev.tasks[a.Task]; d != nil && d.expand != nil {
		return r.values.instances(d)
	}
	if i, ok := r.ev.instance(a); ok {
		r.alone[0] = i
		return r.alone[:]
	}
	if p := r.late.prev; p != nil && p.Address == a {
		return []*Instance{p}
	}
	return nil
}

// appendFlows adds what may flow from an instance.
func (r *renderer) appendFlows(list []Flow, i *Instance, all, inherit bool) []Flow {
	_, whole := r.marks.find(sourceMark{from: i.Address, path: true})
	if whole {
		list = append(list, Flow{From: i.Address, Mount: instanceMount(i.Address)})
	}
	for n := range i.Outputs {
		o := &i.Outputs[n]
		f := Flow{From: i.Address, Output: o.Name, Inherit: inherit && o.Tree != nil}
		_, marked := r.marks.find(sourceMark{from: i.Address, output: o.Name, path: true})
		if all || whole || marked {
			f.Mount = outputMount(i.Address, o.Name)
		}
		if f.Mount != "" || f.Inherit {
			list = append(list, f)
		}
	}
	return list
}

func (r *renderer) appendReferences(list []Flow) []Flow {
	for _, ref := range r.ev.c.References {
		if _, marked := r.marks.find(sourceMark{reference: ref.Name, path: true}); marked {
			list = append(list, Flow{Reference: ref.Name, Mount: referenceMount(ref)})
		}
	}
	return list
}

// canonicalizer replaces mounts by tokens numbered in order of first use.
type canonicalizer struct {
	flows   []Flow
	mounts  map[string]int // the last flow with a mount, where there are more than a few
	lengths []int          // of mounts, longest first
	number  []int          // of the token of a flow; 0 while its mount was not met
	order   []int          // the flows whose mounts were met
}

func newCanonicalizer(flows []Flow) canonicalizer {
	n := len(flows)
	c := canonicalizer{flows: flows}
	if n == 0 {
		return c
	}
	room := make([]int, 3*n)
	c.number, c.order, c.lengths = room[:n:n], room[n:n:2*n], room[2*n:2*n]
	if n > few {
		c.mounts = make(map[string]int, n)
	}
	for i := range flows {
		m := flows[i].Mount
		if m == "" {
			continue
		}
		if c.mounts != nil {
			c.mounts[m] = i
		}
		if !slices.Contains(c.lengths, len(m)) {
			c.lengths = append(c.lengths, len(m))
		}
	}
	slices.SortFunc(c.lengths, func(a, b int) int { return b - a })
	return c
}

// inOrder reports whether the mounts of all flows were met, in the order of these.
func (c *canonicalizer) inOrder() bool {
	for i, n := range c.order {
		if n != i {
			return false
		}
	}
	return len(c.order) == len(c.flows)
}

// flowAt returns the last flow with a mount.
func (c *canonicalizer) flowAt(mount string) (flow int, ok bool) {
	if c.mounts != nil {
		flow, ok = c.mounts[mount]
		return flow, ok
	}
	for i := len(c.flows) - 1; i >= 0; i-- {
		if c.flows[i].Mount == mount {
			return i, true
		}
	}
	return 0, false
}

func (c *canonicalizer) text(s string) string {
	if !strings.Contains(s, tokenMark) && !strings.Contains(s, MountDir) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	done := 0
	for i := 0; i < len(s); {
		switch {
		case s[i] == tokenMark[0] && strings.HasPrefix(s[i:], tokenMark):
			b.WriteString(s[done:i])
			b.WriteString(tokenMark + tokenMark)
			i += len(tokenMark)
			done = i
			continue
		case s[i] == MountDir[0]:
			if m, ok := c.mountAt(s[i:]); ok {
				b.WriteString(s[done:i])
				b.WriteString(tokenMark + "in")
				b.WriteString(strconv.Itoa(c.token(m)))
				b.WriteString(tokenMark)
				i += len(c.flows[m].Mount)
				done = i
				continue
			}
		}
		i++
	}
	b.WriteString(s[done:])
	return b.String()
}

// mountAt returns the flow with the longest mount that s starts with.
func (c *canonicalizer) mountAt(s string) (flow int, ok bool) {
	if !strings.HasPrefix(s, MountDir) {
		return 0, false
	}
	for _, n := range c.lengths {
		if n <= len(s) {
			if m, ok := c.flowAt(s[:n]); ok {
				return m, true
			}
		}
	}
	return 0, false
}

// token is the number of the token of a flow.
func (c *canonicalizer) token(flow int) int {
	if c.number[flow] == 0 {
		c.order = append(c.order, flow)
		c.number[flow] = len(c.order)
	}
	return c.number[flow]
}

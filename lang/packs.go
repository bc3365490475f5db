package lang

import "slices"

// packs hold what is left of the tasks of a stream side by side. Each of them by itself would lie among the trees that come and go
// while a campaign is loaded, and keep the memory around it from being of use.
type packs struct {
	tasks     pack[Task]
	defs      pack[taskDef]
	instances pack[Instance]
	late      pack[lateParts]
	args      pack[lateArg]
	refs      pack[Ref]
	needs     pack[Need]
	inputs    pack[Input]
	outputs   pack[Output]
	texts     pack[string]
	like      map[outputsKey][]Output // outputs of a task, to be shared by those that declare the same
}

// outputsKey is what tells most lists of outputs apart.
type outputsKey struct {
	n          int
	name, path string // of the first
}

// sharedOutputs returns a list with what another one says: that of an earlier task, where it said the same. Tasks of a large campaign
// often differ in what they do and not in what they leave. Nobody changes outputs.
func (p *packs) sharedOutputs(l []Output) []Output {
	if len(l) == 0 {
		return l
	}
	k := outputsKey{len(l), l[0].Name, l[0].Path}
	if had := p.like[k]; slices.EqualFunc(had, l, Output.equal) {
		return had
	}
	if p.like == nil {
		p.like = map[outputsKey][]Output{}
	}
	c := p.outputs.list(l)
	if len(p.like) < maxLike {
		p.like[k] = c
	}
	return c
}

// maxLike bounds how many lists are compared with: where names differ from task to task, none is like another.
const maxLike = 256

func (o Output) equal(other Output) bool {
	return o.Name == other.Name && o.Path == other.Path && slices.Equal(o.Tree, other.Tree) && o.Contract == other.Contract &&
		o.Primary == other.Primary && o.Optional == other.Optional && o.Description == other.Description
}

// pack gives out parts of larger pieces, which live as long as any part does.
type pack[T any] struct{ free []T }

const packSize = 64

func (p *pack[T]) take(n int) []T {
	if n > len(p.free) {
		p.free = make([]T, max(n, packSize))
	}
	part := p.free[:n:n]
	p.free = p.free[n:]
	return part
}

// one returns a zero.
func (p *pack[T]) one() *T { return &p.take(1)[0] }

// list returns a copy of a list; of an empty one it is the list itself.
func (p *pack[T]) list(l []T) []T {
	if len(l) == 0 {
		return l
	}
	c := p.take(len(l))
	copy(c, l)
	return c
}

// settle moves what is left of a task into packs. Nobody has a part of it by its place in memory yet.
func (p *packs) settle(d *taskDef) {
	t := d.task
	if refs := t.Refs; len(refs) == len(t.Mentions) { // they are one list
		t.Mentions = p.refs.list(t.Mentions)
		t.Refs = t.Mentions
	} else {
		t.Mentions, t.Refs = p.refs.list(t.Mentions), p.refs.list(refs)
	}
	d.late = p.args.list(d.late)
	for _, i := range t.Instances {
		i.Needs = p.needs.list(i.Needs)
		i.Inputs, i.Outputs = p.inputs.list(i.Inputs), p.sharedOutputs(i.Outputs)
		for k := range i.Inputs {
			i.Inputs[k].Globs = p.texts.list(i.Inputs[k].Globs)
		}
	}
}

package lang

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
		i.Inputs, i.Outputs = p.inputs.list(i.Inputs), p.outputs.list(i.Outputs)
		for k := range i.Inputs {
			i.Inputs[k].Globs = p.texts.list(i.Inputs[k].Globs)
		}
	}
}

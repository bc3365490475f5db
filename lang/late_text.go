package lang

import (
	"math"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// lateArgs are the arguments of a task that are evaluated when it runs.
type lateArgs struct {
	when, secrets, body *argument // nil where they are not set
	vars, env           []*argument
}

// lateArg is one of them by where it stands, to be parsed again: its tree takes twenty times the memory of its text.
type lateArg struct {
	shared       *argument // that of the group; nil for one of the task's own
	spec         *Arg
	from, to     uint32 // in the file of the task
	line, column uint32
}

func (t *taskText) lateArgs() lateArgs {
	return lateArgs{when: t.settings["when"], secrets: t.settings["secrets"], body: t.body, vars: t.vars, env: t.env}
}

// lateArgs returns what a task evaluates when it runs. Those of a task that was let go are parsed anew: each caller has its own.
func (ev *evaluator) lateArgs(d *taskDef) lateArgs {
	if d.taskText != nil {
		return d.taskText.lateArgs()
	}
	var all lateArgs
	for i := range d.late {
		a := ev.readLate(d, &d.late[i])
		switch a.name {
		case "when":
			all.when = a
		case "secrets":
			all.secrets = a
		case "vars":
			all.vars = append(all.vars, a)
		case "env":
			all.env = append(all.env, a)
		default:
			all.body = a
		}
	}
	return all
}

// hasSecrets reports whether a task sets secrets.
func (d *taskDef) hasSecrets() bool {
	if d.taskText != nil {
		return d.settings["secrets"] != nil
	}
	return slices.ContainsFunc(d.late, func(a lateArg) bool { return a.name() == "secrets" })
}

func (a *lateArg) name() string {
	if a.shared != nil {
		return a.shared.name
	}
	return a.spec.Name
}

// start is where an argument of a task's own begins.
func (a *lateArg) start() hcl.Pos {
	return hcl.Pos{Line: int(a.line), Column: int(a.column), Byte: int(a.from)}
}

// reader reads an argument of a task's own.
func (a *lateArg) reader(src []byte, file string) *quickReader {
	return newQuickReader(src[a.from:a.to], file, a.start())
}

// readLate parses an argument again that was parsed without a word to say.
func (ev *evaluator) readLate(d *taskDef, a *lateArg) *argument {
	if a.shared != nil {
		return a.shared
	}
	if src, ok := ev.src.source(d.task.Range.File); ok {
		if read := a.reader(src, d.task.Range.File).argumentOf(a.spec); read != nil {
			return read
		}
	}
	body := ev.reparse(d.task.Range.File, a.start(), int(a.to))
	attr := body.Attributes[a.spec.Name]
	if attr == nil {
		bug("%s: there is no %s at byte %d any more", d.task.Range.File, a.spec.Name, a.from)
	}
	return &argument{name: a.spec.Name, nameRange: attr.NameRange, spec: a.spec, expression: analyze(attr.Expr)}
}

// reparse parses a part of a campaign file that has whole arguments or blocks.
func (ev *evaluator) reparse(file string, start hcl.Pos, end int) *hclsyntax.Body {
	src, _ := ev.src.source(file)
	text := append(slices.Clone(src[start.Byte:end]), '\n')
	parsed, ds := hclsyntax.ParseConfig(text, file, start)
	if ds.HasErrors() {
		bug("%s: bytes %d to %d do not parse any more: %v", file, start.Byte, end, ds)
	}
	return parsed.Body.(*hclsyntax.Body)
}

// canLetGo reports whether everything that a loaded task has to tell others is in its one instance.
func (d *taskDef) canLetGo() bool {
	if d.broken || d.uncounted || d.forEach != nil || d.matrix != nil || d.expand != nil || d.task.Series || len(d.task.Instances) != 1 {
		return false
	}
	if d.node.whole.End.Byte > math.MaxUint32 {
		return false
	}
	return slices.EqualFunc(d.task.Instances[0].Outputs, d.taskText.outputs, func(o Output, n *node) bool { return o.shape() == n.shape() })
}

// letGo gives up what a task says, which was checked without a word. What it evaluates when it runs is parsed again then.
func (d *taskDef) letGo() {
	t := d.taskText.lateArgs()
	for _, a := range slices.Concat([]*argument{t.when, t.secrets, t.body}, t.vars, t.env) {
		if a == nil {
			continue
		}
		if !within(at(a.place), d.task.Block) {
			d.late = append(d.late, lateArg{shared: a})
			continue
		}
		start := a.nameRange.Start
		d.late = append(d.late, lateArg{
			spec: a.spec, from: uint32(start.Byte), to: uint32(a.place.End.Byte), line: uint32(start.Line), column: uint32(start.Column),
		})
	}
	d.late = slices.Clip(d.late)
	for _, p := range d.contents {
		delete(p.deps, d)
	}
	d.taskText = nil
}

// whole returns a task with what it says, parsed again where it was let go.
func (ev *evaluator) whole(d *taskDef) *taskDef {
	if d.taskText != nil {
		return d
	}
	b := d.task.Block
	body := ev.reparse(b.File, b.Start.hcl(), int(b.End.Byte))
	l := &loader{c: ev.c, ev: ev, decl: ev.decl, opts: Options{Sets: ev.sets}}
	top := &node{schema: rootSchema}
	l.readBody(body, top)
	w := *d
	w.taskText = &taskText{node: top.blocks[0], settings: map[string]*argument{}}
	l.mergeSettings(&w)
	return &w
}

// outputShape is what others may know of an output before anything runs.
type outputShape struct {
	name     string
	contract string // "" where it is not told, or by no name
	named    bool   // contract is set
	tree     bool
	optional bool // it is written to be
}

// shapes are the outputs of a task.
func (d *taskDef) shapes() []outputShape {
	if d.taskText == nil {
		return shapesOf(d.task.Instances[0].Outputs)
	}
	return d.taskText.shapes()
}

func (t *taskText) shapes() []outputShape {
	list := make([]outputShape, 0, len(t.outputs))
	for _, n := range t.outputs {
		list = append(list, n.shape())
	}
	return list
}

// shape is that of the output that a block declares.
func (n *node) shape() outputShape {
	o := outputShape{name: n.name, named: n.arg("contract") != nil, tree: n.arg("tree") != nil}
	if a := n.arg("contract"); a != nil && len(a.uses) == 1 && a.uses[0].root == "contract" {
		o.contract = a.uses[0].name
	}
	if a := n.arg("optional"); a != nil {
		v, ok := literalValue(a.syntax)
		o.optional = ok && v.Type() == cty.Bool && !v.IsNull() && v.True()
	}
	return o
}

func shapesOf(outputs []Output) []outputShape {
	list := make([]outputShape, 0, len(outputs))
	for i := range outputs {
		list = append(list, outputs[i].shape())
	}
	return list
}

func (o *Output) shape() outputShape {
	s := outputShape{name: o.Name, tree: len(o.Tree) > 0, optional: o.Optional}
	if c := o.Contract; c != nil {
		s.contract, s.named = c.Name, true
	}
	return s
}

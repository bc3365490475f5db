package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// groupDef is a group with what only lang needs to know of it.
type groupDef struct {
	group    *Group
	node     *node
	defaults *node // nil without defaults
	members  []*taskDef
}

// taskDef is a task with what only lang needs to know of it.
type taskDef struct {
	task     *Task
	index    int // in declaration order
	group    *groupDef
	contents []*prompt // the prompt files of its instances, without duplicates
	broken   bool      // no instance can be trusted

	uncounted bool // loops has no value yet, so there may be more instances

	*fan                // never nil
	*taskText           // nil once it was let go, see [taskDef.letGo]
	late      []lateArg // what is read again then
}

// fan is what makes several instances of a task. Most tasks have one, and share noFan: who sets a field asks for [taskDef.ownFan].
type fan struct {
	forEach  *argument
	matrix   *argument
	expand   *node
	byKey    map[string][]*Instance // of for_each
	template *Instance
	symbolic *Instance   // for checking a for_each or matrix without known values; nil otherwise
	cells    []*Instance // for expand: one for each matrix cell and loop, without a key
}

var noFan fan

func (d *taskDef) ownFan() *fan {
	if d.fan == &noFan {
		d.fan = new(fan)
	}
	return d.fan
}

// taskText is what a task says, as trees. It is what takes the memory of a large campaign.
type taskText struct {
	node     *node
	settings map[string]*argument // task over group.defaults, without vars and env
	vars     []*argument          // group's, then the task's: merged by key
	env      []*argument
	outputs  []*node // the task's, then those of the group it does not replace
	retry    *node
	body     *argument // command, prompt or prompt_text
	each     []eachKey // what for_each came to

	dependsOn, after, tolerate, inherit, prefer []direct

	deps []dep // of everything but prompt files
}

// loadTasks decodes every task; each step runs over all tasks, so that all is declared before it is
// referred to.
func (l *loader) loadTasks() {
	if l.stream != nil {
		l.streamTasks(l.stream)
		return
	}
	for i, n := range l.decl.kinds["task"].list {
		l.declareTask(n, i)
	}
	for _, d := range l.ev.order {
		l.readTask(d)
	}
	for _, d := range l.ev.order {
		l.makeInstances(d)
	}
	l.checkExports()
	for _, d := range l.ev.order {
		l.taskPrompts(d)
	}
	for _, d := range l.ev.order {
		if !l.outlined(d) {
			l.checkRunTime(d)
			l.linkTask(d)
		}
	}
}

// readTask finds out what a declared task says, and checks the names in it.
func (l *loader) readTask(d *taskDef) {
	l.mergeSettings(d)
	l.checkFit(d)
	for _, o := range d.outputs {
		l.directReference(o.arg("contract"), "contract")
	}
	if !l.outlined(d) {
		l.checkTaskNames(d)
		l.readDependencies(d)
	}
}

// join adds a member. Members are in the order of their names: where blocks stand and in which file must
// not decide in which order group.NAME.all lists them, since that order is in the prompts of readers.
func (g *groupDef) join(d *taskDef) {
	at, _ := slices.BinarySearchFunc(g.members, d, func(a, b *taskDef) int { return strings.Compare(a.task.Name, b.task.Name) })
	g.members = slices.Insert(g.members, at, d)
}

// declareTask makes the task known under its name.
func (l *loader) declareTask(n *node, index int) {
	s := l.campaignScope()
	d, t := new(taskDef), new(Task)
	if l.packs != nil {
		d, t = l.packs.defs.one(), l.packs.tasks.one()
	}
	*d = taskDef{index: index, fan: &noFan, taskText: &taskText{node: n, settings: map[string]*argument{}}}
	if expand, forEach := n.block("expand"), n.arg("for_each"); expand != nil || forEach != nil {
		d.fan = &fan{expand: expand, forEach: forEach}
	}
	l.checkLabels(n)
	d.task = t
	*t = Task{
		Name: n.name, Range: at(n.header), Block: at(n.whole),
		Description: l.wantString(s, l.literal(n, "description")),
		Tags:        l.wantStrings(s, l.literal(n, "tags")),
		Group:       l.directReference(n.arg("group"), "group"),
		Keyed:       d.forEach != nil || d.expand != nil,
	}
	if g := l.ev.groups[d.task.Group]; g != nil {
		d.group = g
		g.join(d)
	}
	l.chooseBody(d)
	l.ev.tasks[n.name] = d
	l.ev.order = append(l.ev.order, d)
	l.c.Tasks = append(l.c.Tasks, d.task)
}

// chooseBody finds out what the task runs.
func (l *loader) chooseBody(d *taskDef) {
	var set []*argument
	for _, name := range []string{"prompt", "prompt_text", "command"} {
		if a := d.node.arg(name); a != nil {
			set = append(set, a)
		}
	}
	if len(set) > 1 { // what a misspelt one was meant to be is a guess
		set = slices.DeleteFunc(set, func(a *argument) bool { return a.misspelt })
	}
	if len(set) != 1 {
		n := l.error("UF1301", d.node.header, "Task %q sets %d of prompt, prompt_text and command; it must set exactly one.", d.task.Name, len(set))
		for _, a := range set {
			n.also(a.nameRange, "%s is set here", a.name)
		}
		d.broken = true
	}
	d.task.Kind = Prompt
	if len(set) > 0 {
		d.body = set[0]
		if d.body.name == "command" {
			d.task.Kind = Command
		}
	}
}

// mergeSettings decides which block each setting comes from: task > group.defaults > built-in.
func (l *loader) mergeSettings(d *taskDef) {
	names := map[string]bool{}
	for _, o := range d.node.all("output") {
		d.addOutput(o, names)
	}
	if d.group != nil && d.group.defaults != nil {
		for _, a := range d.group.defaults.args {
			if a.name != "vars" || d.task.Kind == Prompt { // a command reads none, and must not become stale by them
				d.addSetting(a)
			}
		}
		for _, o := range d.group.defaults.all("output") {
			d.addOutput(o, names)
		}
		d.retry = d.group.defaults.block("retry")
	}
	for _, a := range d.node.args {
		d.addSetting(a)
	}
	if r := d.node.block("retry"); r != nil {
		d.retry = r
	}
	l.applySets(d)
	if matrix := d.settings["matrix"]; matrix != nil {
		d.ownFan().matrix = matrix
	}
}

func (d *taskDef) addSetting(a *argument) {
	switch a.name {
	case "vars":
		d.vars = append(d.vars, a)
	case "env":
		d.env = append(d.env, a)
	default:
		d.settings[a.name] = a
	}
}

// addOutput takes an output unless the task has one of that name already.
func (d *taskDef) addOutput(o *node, names map[string]bool) {
	if !names[o.name] {
		d.outputs = append(d.outputs, o)
	}
	names[o.name] = true
}

// checkTaskNames checks every name in the task and in the defaults it takes.
func (l *loader) checkTaskNames(d *taskDef) {
	p := site{kind: inTask, task: d}
	for _, a := range d.node.args {
		if a.spec.Phase != Static {
			where := p
			where.arg = a.name
			if a.name == "prompt_text" {
				where.kind = inPrompt
			}
			l.checkNames(a.expression, where)
		}
	}
	for _, b := range d.node.blocks {
		l.checkBlockNames(b, p)
	}
	if d.group == nil || d.group.defaults == nil {
		return
	}
	for _, a := range d.group.defaults.args {
		if d.settings[a.name] == a || slices.Contains(d.vars, a) || slices.Contains(d.env, a) {
			where := p
			where.arg = a.name
			l.checkNames(a.expression, where)
		}
	}
	for _, b := range d.group.defaults.blocks {
		l.checkBlockNames(b, p)
	}
}

func (l *loader) checkBlockNames(b *node, p site) {
	for _, a := range b.args {
		if a.spec.Phase != Static {
			p.arg = a.name
			l.checkNames(a.expression, p)
		}
	}
}

// varKeys returns the keys of vars; open when they are not all written out.
func (d *taskText) varKeys() (keys []string, open bool) {
	for _, a := range d.vars {
		o, ok := a.syntax.(*hclsyntax.ObjectConsExpr)
		if !ok {
			return keys, true
		}
		for _, it := range o.Items {
			k, ok := itemKey(it)
			if !ok {
				return keys, true
			}
			keys = append(keys, k)
		}
	}
	return keys, false
}

// readDependencies reads the static lists.
func (l *loader) readDependencies(d *taskDef) {
	d.dependsOn = l.directReferences(d.node.arg("depends_on"), "task", "group")
	d.after = l.directReferences(d.node.arg("after"), "task", "group")
	d.tolerate = l.directReferences(d.node.arg("tolerate"), "task", "group")
	if w := d.node.block("workspace"); w != nil {
		d.inherit = l.directReferences(w.arg("inherit"), "task")
		d.prefer = l.directReferences(w.arg("prefer"), "task")
	}
	for _, list := range [][]direct{d.dependsOn, d.after, d.tolerate, d.inherit, d.prefer} {
		for _, r := range list {
			if r.root == "task" && r.name == d.task.Name {
				l.error("UF2008", r.place, "task.%s cannot depend on itself.", r.name)
				d.broken = true
			}
		}
	}
}

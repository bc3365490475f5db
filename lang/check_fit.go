package lang

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"
)

// checkInherit reports inherited tasks without a tree, and several snapshots without a rule.
func (l *loader) checkInherit(d *taskDef) {
	w := d.node.block("workspace")
	snapshots := 0
	for _, r := range d.inherit {
		t := l.ev.tasks[r.name]
		if t == nil || t == d {
			continue
		}
		if !hasTree(t) {
			l.error("UF8201", r.place, "task.%s has no output with tree, so there is nothing to inherit.", r.name).
				also(t.node.header, "the task is declared here")
			continue
		}
		n := l.snapshots(t, r)
		snapshots += n
		if n > 1 && w.arg("prefer") == nil {
			l.manySnapshots(t, r, n)
		}
	}
	for _, r := range d.prefer {
		if !slices.ContainsFunc(d.inherit, func(i direct) bool { return i.name == r.name }) {
			l.error("UF1302", r.place, "prefer has no effect here: the tree of task.%s is not inherited.", r.name)
		}
	}
	if len(d.inherit) == snapshots && snapshots > 1 && w.arg("prefer") == nil {
		l.warn("UF8202", w.arg("inherit").place, "%s are inherited; if two change one file differently, the merge fails.", plural(snapshots, "snapshot")).
			hint("Say with prefer whose content wins.")
	}
}

func hasTree(d *taskDef) bool {
	return slices.ContainsFunc(d.shapes(), func(o outputShape) bool { return o.tree })
}

// snapshots counts the trees that a reference in inherit stands for.
func (l *loader) snapshots(t *taskDef, r direct) int {
	if t.expand != nil {
		return 2 // more than one, as many as there will be
	}
	is := t.task.Instances
	if r.key != nil {
		return 1
	}
	if t.task.Series {
		is = lastOfEach(is)
	}
	return len(is)
}

func (l *loader) manySnapshots(t *taskDef, r direct, n int) {
	many := plural(n, "instance")
	if t.expand != nil {
		many = "instances known only at run time"
	}
	d := l.warn("UF8202", r.place, "task.%s has %s; if two change one file differently, the merge fails.", r.name, many).
		hint("Inherit one instance, or say with prefer whose content wins.")
	for _, a := range []*argument{t.settings["loops"], t.matrix, t.forEach} {
		if a != nil && a.place.Filename != "" && a.syntax != nil {
			d.also(a.place, "its instances come from here")
			return
		}
	}
}

// checkWeight reports a weight that no pool can ever serve.
func (l *loader) checkWeight(d *taskDef, i *Instance) {
	a := d.settings["weight"]
	if a == nil {
		return
	}
	for _, name := range l.weighedPools(i) {
		p, ok := l.c.Pool(name)
		if ok && i.Weight > p.Slots {
			n := l.error("UF7004", a.place, "weight %d > pool.%s slots %d: the task could never start.", i.Weight, name, p.Slots)
			n.also(l.decl.kinds["pool"].byName[name].header, "the pool is declared here")
		}
	}
}

// weighedPools are those of which an instance takes as many slots as it weighs: its own, else that of whichever agent runs it.
func (l *loader) weighedPools(i *Instance) []string {
	if i.Pool != "" || i.Profile == nil {
		return []string{i.Pool}
	}
	var pools []string
	for _, name := range append([]string{i.Profile.Name}, i.Profile.Fallback...) {
		if p, ok := l.c.Profile(name); ok && p.Agent != nil && !containsString(pools, p.Agent.Pool) {
			pools = append(pools, p.Agent.Pool)
		}
	}
	return pools
}

// checkTimeout warns of a timeout that the campaign's deadline cuts short.
func (l *loader) checkTimeout(d *taskDef, i *Instance) {
	a := d.settings["timeout"]
	if a == nil || l.c.Deadline == 0 || i.Timeout <= l.c.Deadline {
		return
	}
	n := l.warn("UF7006", a.place, "timeout %s is longer than the campaign's deadline of %s.", DurationText(i.Timeout), DurationText(l.c.Deadline))
	n.also(l.decl.campaign.arg("deadline").place, "the deadline is set here")
}

// promptSettings have no effect on commands.
var promptSettings = []string{"profile", "template", "vars", "budget"}

// checkFit reports settings of the task itself that do not fit what it runs. Defaults of a group may be
// meant for its other tasks.
func (l *loader) checkFit(d *taskDef) {
	if d.body == nil {
		return
	}
	report := func(name, kind string) {
		if a := d.node.arg(name); a != nil {
			l.error("UF1302", a.nameRange, "%s has no effect on a %s task.", name, kind)
			a.broken = true
		}
	}
	if d.task.Kind == Command {
		for _, name := range promptSettings {
			report(name, "command")
		}
	}
	if d.body.name == "prompt_text" {
		report("template", "prompt_text")
	}
	if a := d.node.arg("loop_mode"); a != nil && constantLoops(d) {
		l.warn("UF4204", a.nameRange, "loop_mode has no effect with one attempt.").hint("Set loops, or remove loop_mode.")
	}
}

// constantLoops reports whether the task is written to have one loop.
func constantLoops(d *taskDef) bool {
	a := d.settings["loops"]
	if a == nil {
		return true
	}
	if a.constant == cty.NilVal || a.constant.Type() != cty.Number || a.constant.IsNull() {
		return false
	}
	return a.constant.AsBigFloat().IsInt() && a.constant.Equals(cty.NumberIntVal(1)).True()
}

// checkIdle warns of parts of the task's own workspace that nothing asks for: whoever wrote them believes in them. Of a mode or a
// sandbox that differs by instance, some may.
func (l *loader) checkIdle(d *taskDef, w *Workspace) {
	same := func(name string) bool {
		a := l.workspaceArg(d, name)
		return a == nil || a.constant != cty.NilVal
	}
	idle := func(why, hint string, names ...string) {
		for _, name := range names {
			if a := d.node.block("workspace").arg(name); a != nil {
				l.warn("UF8205", a.nameRange, "%s has no effect %s.", name, why).hint("%s", hint)
			}
		}
	}
	if w.Mode != ModeRepo && w.Mode != "" && same("mode") {
		idle(fmt.Sprintf("with mode = %q", w.Mode), `Set mode = "repo" to work on a part of the project, or declare its files as inputs.`, "include", "exclude")
	}
	if w.Sandbox == "off" && w.Network && same("sandbox") && same("network") {
		idle("without a sandbox", `Set sandbox = "writes" or "strict", or remove it.`, "writable", "readable")
	}
	if l.workspaceArg(d, "inherit") == nil {
		idle("where nothing is inherited", "Name the tasks to start from in inherit, or remove it.", "deletions")
	}
}

// checkInplace says what a task gives up that runs in the project itself.
func (l *loader) checkInplace(d *taskDef, w *Workspace) {
	a := l.workspaceArg(d, "mode")
	if w.Mode != ModeInplace || a == nil {
		return
	}
	if w.Sandbox == "strict" {
		l.error("UF8203", a.place, "A task that runs in place can read all of the project, so sandbox = \"strict\" cannot hold.").
			hint("Use mode = \"inputs\" or \"repo\", or sandbox = \"writes\" for this task.")
		return
	}
	l.warn("UF8204", a.place, "task.%s runs in the project itself: what it reads without declaring it is in no key, and what it writes beside its outputs stays.", d.task.Name).
		hint("Use mode = \"inputs\" or \"repo\" where the task can be isolated.")
}

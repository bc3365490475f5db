package graph

import (
	"fmt"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// The ways of mentioning a task that lang tells apart, see [lang.Ref].
const (
	howRefers    = "refers to"
	howDependsOn = "depends on"
	howTolerates = "tolerates"
	howInherits  = "inherits"
	howAfter     = "after"
)

// mentionCheck looks at how each task mentions another one: once too often, or in ways that
// contradict each other.
type mentionCheck struct {
	files map[string][]byte
	tasks map[string]*lang.Task
	found lang.Diagnostics
}

func newMentionCheck(c *lang.Campaign) *mentionCheck {
	m := &mentionCheck{files: make(map[string][]byte, len(c.Files)), tasks: make(map[string]*lang.Task, len(c.Tasks))}
	for i := range c.Files {
		m.files[c.Files[i].Path] = c.Files[i].Bytes
	}
	for _, t := range c.Tasks {
		m.tasks[t.Name] = t
	}
	return m
}

// mentions are the first mentions of one task by another, by way.
type mentions struct {
	refers, dependsOn, tolerates, inherits, after *lang.Ref

	listed []*lang.Ref // all in depends_on, tolerate, inherit and after
}

// check reports on one task, in the order of its text. Most tasks mention others in one way only and
// need no map.
func (m *mentionCheck) check(t *lang.Task) {
	for i := range t.Mentions {
		if ref := &t.Mentions[i]; ref.How == howDependsOn || ref.Kind == lang.DataRef && m.never(ref.Task) || ref.How == howTolerates || ref.How == howAfter {
			m.checkWays(t)
			return
		}
	}
}

func (m *mentionCheck) checkWays(t *lang.Task) {
	ways := map[string]*mentions{}
	var order []string
	for i := range t.Mentions {
		ref := &t.Mentions[i]
		w := ways[ref.Task]
		if w == nil {
			w = &mentions{}
			ways[ref.Task] = w
			order = append(order, ref.Task)
		}
		w.note(ref)
	}
	for _, name := range order {
		w := ways[name]
		m.redundant(name, w)
		m.twice(name, w)
		m.contradiction(t, name, w)
		m.neverRuns(name, w)
	}
}

// note keeps the first mention of each way; of references, one that means every instance before others.
func (w *mentions) note(ref *lang.Ref) {
	if strings.HasPrefix(ref.How, howRefers) {
		if w.refers == nil || w.refers.One && !ref.One {
			w.refers = ref
		}
		return
	}
	slot := map[string]**lang.Ref{howDependsOn: &w.dependsOn, howTolerates: &w.tolerates, howInherits: &w.inherits, howAfter: &w.after}[ref.How]
	if slot == nil {
		return
	}
	w.listed = append(w.listed, ref)
	if *slot == nil {
		*slot = ref
	}
}

func (m *mentionCheck) report(severity lang.Severity, code string, at, also *lang.Ref, note, hint, summary string, args ...any) {
	d := lang.Diagnostic{Severity: severity, Code: code, Subject: &at.Range, Summary: fmt.Sprintf(summary, args...), Hint: hint}
	if also != nil {
		d.Related = []lang.Related{{Range: also.Range, Message: note}}
	}
	m.found = append(m.found, d)
}

// redundant is UF3004. A group in depends_on is left alone: who lists a group does not pick members.
func (m *mentionCheck) redundant(name string, w *mentions) {
	if w.dependsOn == nil || w.refers == nil || w.refers.How != howRefers || m.isGroup(w.dependsOn) || !m.covers(w.refers, w.dependsOn) {
		return
	}
	m.report(lang.Warning, "UF3004", w.dependsOn, w.refers, "it is referred to here",
		"remove it, unless a change of any of its outputs is meant to run this task again",
		"task.%s is already a dependency, by the reference at %s.", name, w.refers.Range)
}

// covers reports whether a reference means every instance that an entry of a list names.
func (m *mentionCheck) covers(refers, entry *lang.Ref) bool {
	if !refers.One {
		return true
	}
	text, b, from := m.text(entry.Range), m.files[refers.Range.File], int(refers.Range.Start.Byte)
	return entry.One && text != "" && from <= len(b) && strings.HasPrefix(string(b[from:min(len(b), from+len(text))]), text)
}

func (m *mentionCheck) isGroup(ref *lang.Ref) bool {
	return strings.HasPrefix(m.text(ref.Range), "group.")
}

// twice is UF3004 for what two entries of lists say. What only says to wait is said by every other list too.
func (m *mentionCheck) twice(name string, w *mentions) {
	for i, second := range w.listed {
		for _, first := range w.listed[:i] {
			if again, before := m.again(first, second); again != nil {
				m.report(lang.Warning, "UF3004", again, before, "it is also here", "remove one of the two",
					"task.%s is named by %s already.", name, listOf[before.How])
				break
			}
		}
	}
}

// listOf is the argument in which an entry stands.
var listOf = map[string]string{howDependsOn: "depends_on", howTolerates: "tolerate", howInherits: "inherit", howAfter: "after"}

// again returns which of two entries adds nothing to the other; nil when both say something.
func (m *mentionCheck) again(first, second *lang.Ref) (again, before *lang.Ref) {
	if first.Range == second.Range { // members of one group
		return nil, nil
	}
	narrow := func(a, b *lang.Ref) bool { // whether a names no more than b
		return m.text(a.Range) == m.text(b.Range) || !b.One && (a.One || m.isGroup(b) && !m.isGroup(a))
	}
	switch {
	case first.How == second.How && narrow(second, first), second.How == howAfter && first.How != howAfter && narrow(second, first):
		return second, first
	case first.How == second.How && narrow(first, second), first.How == howAfter && second.How != howAfter && narrow(first, second):
		return first, second
	}
	return nil, nil
}

// contradiction is UF3005 and UF3007.
func (m *mentionCheck) contradiction(t *lang.Task, name string, w *mentions) {
	if w.tolerates == nil {
		return
	}
	if w.dependsOn != nil {
		first, second := w.dependsOn, w.tolerates
		if first.Range.Start.Byte > second.Range.Start.Byte {
			first, second = second, first
		}
		m.report(lang.Error, "UF3005", second, first, "it is also here",
			"keep it in depends_on when it must succeed, in tolerate when its absence is fine",
			"task.%s is in both depends_on and tolerate; decide whether its failure matters.", name)
	}
	if w.inherits != nil {
		m.report(lang.Error, "UF3007", w.inherits, w.tolerates, "its failure is tolerated here",
			"take it out of tolerate, or inherit from another task",
			"If task.%s fails there is no tree for task.%s to start from.", name, t.Name)
	}
}

func (m *mentionCheck) never(name string) bool { t := m.tasks[name]; return t != nil && t.Never }

// neverRuns is UF3008.
func (m *mentionCheck) neverRuns(name string, w *mentions) {
	if !m.never(name) || w.tolerates != nil {
		return
	}
	for _, ref := range []*lang.Ref{w.dependsOn, w.refers, w.inherits} {
		if ref != nil {
			m.report(lang.Error, "UF3008", ref, &lang.Ref{Range: m.tasks[name].Range}, "its when is always false",
				"tolerate it, or give its when a condition", "task.%s never runs, so neither does what needs it.", name)
			return
		}
	}
}

// text returns the text of a range; "" when the file was not read.
func (m *mentionCheck) text(r lang.Range) string {
	b := m.files[r.File]
	lo, hi := r.Bytes()
	if lo > hi || hi > len(b) {
		return ""
	}
	return string(b[lo:hi])
}

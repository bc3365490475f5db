package executor

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// sections says in words what the first word of a manifest line stands for, for the sections that are not called what
// people call them.
var sections = map[string]string{
	"kind": "the kind of task", "adapter": "the agent's adapter", "agent-command": "the agent's command",
	"agent-argument": "the arguments of the agent", "model": "the model", "effort": "the effort",
	"agent-version": "the version of the agent's program", "argument": "the command", "vars": "vars", "salt": "the salt",
	"start": "the inherited tree", "loop": "the loop index", "accepted-timeout": "the timeout, which is accepted,",
	"workspace": "the mode of the workspace", "ufbuild": "the format of manifests",
}

// Subject names what changed for a summary, such as "the prompt" or "input src/a.sol".
func (c Change) Subject() string {
	line := c.New
	if c.Op == Removed {
		line = c.Old
	}
	switch {
	case c.Text:
		return "the " + c.Section
	case c.named():
		return c.Section + " " + firstQuoted(line)
	case c.inflow() && c.Inflow != "":
		return c.Inflow
	case c.inflow():
		return "an output of a dependency"
	case c.Section == "absent":
		return "a tolerated result"
	}
	if s, ok := sections[c.Section]; ok {
		return s
	}
	return c.Section
}

// named reports whether the line is about one of several things that have names.
func (c Change) named() bool {
	return !c.Text && (c.Section == "input" || c.Section == "env" || c.Section == "output")
}

// inflow reports whether the line is about what flowed in from a dependency.
func (c Change) inflow() bool {
	n, ok := strings.CutPrefix(c.Section, "in")
	_, err := strconv.Atoi(n)
	return ok && err == nil
}

// verb says what happened to the subject. A line more or less of a text or a list is a change of it; of what has a name
// of its own it is the whole of it.
func (c Change) verb() string {
	switch {
	case c.Section == "absent" && c.Op == Added, c.inflow() && c.Op != Removed && strings.HasSuffix(c.New, " absent"):
		return "is missing"
	case c.Section == "absent" && c.Op == Removed, c.inflow() && c.Op == Replaced && strings.HasSuffix(c.Old, " absent"):
		return "is there again"
	case (c.named() || c.inflow()) && c.Op == Added:
		return "is new"
	case (c.named() || c.inflow()) && c.Op == Removed:
		return "is gone"
	}
	return "changed"
}

// shownSubjects bounds the names in a summary: more than a line holds help nobody, and `why` shows all of them.
const shownSubjects = 4

// lastNotHere says that nothing is known of the attempt that an address read last: the store is another one, or lost it.
const lastNotHere = "its last attempt is not in this store"

func changedText(changes []Change) string {
	if len(changes) == 0 {
		return lastNotHere
	}
	var verbs []string
	subjects := map[string][]string{}
	seen := map[string]bool{}
	more := 0
	for _, c := range unmoved(changes) {
		s, v := c.Subject(), c.verb()
		if seen[s+v] {
			continue
		}
		if seen[s+v] = true; len(seen) > shownSubjects {
			more++
			continue
		}
		if subjects[v] == nil {
			verbs = append(verbs, v)
		}
		subjects[v] = append(subjects[v], s)
	}
	var parts []string
	for _, v := range verbs {
		said := v
		if len(subjects[v]) > 1 {
			said = strings.Replace(v, "is", "are", 1)
		}
		parts = append(parts, strings.Join(subjects[v], ", ")+" "+said)
	}
	if more > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(parts, "; ")
}

// unmoved leaves out what flows in under another number than before, as long as something else changed: a list that grew
// moves what follows in it.
func unmoved(changes []Change) []Change {
	old := map[string]bool{}
	for _, c := range changes {
		if _, value, ok := strings.Cut(c.Old, " "); ok && c.inflow() {
			old[value] = true
		}
	}
	left := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool {
		_, value, ok := strings.Cut(c.New, " ")
		return ok && c.inflow() && old[value]
	})
	if len(left) == 0 {
		return changes
	}
	return left
}

// nameInflows says of changes of inflows, which a manifest numbers so that renaming a task changes no key, what the
// numbers stand for.
func nameInflows(changes []Change, inflows []Inflow) []Change {
	for i := range changes {
		c := &changes[i]
		if !c.inflow() {
			continue
		}
		n, err := strconv.Atoi(strings.TrimPrefix(c.Section, "in"))
		if err == nil && n >= 1 && n <= len(inflows) {
			c.Inflow = inflows[n-1].Words()
		}
	}
	return changes
}

// Words names the inflow for people, such as `output "names" of list`.
func (f *Inflow) Words() string {
	switch {
	case f.Reference != "":
		return "reference " + f.Reference
	case f.Output == "":
		return "the directory of " + f.From.String()
	}
	return fmt.Sprintf("output %q of %s", f.Output, f.From)
}

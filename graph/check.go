package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// check reports what is wrong with the topology, by task: the static references decide, so a
// campaign does not become cyclic by the value of a variable.
func check(g *Graph) lang.Diagnostics {
	s := newTaskGraph(g.campaign)
	ds := append(s.problems, s.cycles()...)
	ds = append(ds, s.unreached(g.campaign.Default)...)
	for i := range g.nodes {
		ds = append(ds, tolerated(&g.nodes[i])...)
	}
	return once(ds)
}

// taskGraph is the static graph of tasks.
type taskGraph struct {
	tasks []*lang.Task
	index map[string]NodeID // by name; here a number is an index into tasks
	to    [][]taskEdge

	problems lang.Diagnostics // found while making it; what they are about is left out of to
}

type taskEdge struct {
	to  NodeID
	ref *lang.Ref
}

func newTaskGraph(c *lang.Campaign) *taskGraph {
	s := &taskGraph{tasks: c.Tasks, index: make(map[string]NodeID, len(c.Tasks)), to: make([][]taskEdge, len(c.Tasks))}
	for i, t := range c.Tasks {
		if _, dup := s.index[t.Name]; !dup {
			s.index[t.Name] = NodeID(i)
		}
	}
	text := newFileText(c)
	refs := 0
	for _, t := range c.Tasks {
		refs += len(t.Refs)
	}
	edges := make([]taskEdge, 0, refs) // every list of s.to is a window of this one
	for i, t := range c.Tasks {
		first := len(edges)
		for j := range t.Refs {
			// A task that refers to itself is reported by lang (UF2008), where the token is known.
			to, ok := s.index[t.Refs[j].Task]
			switch {
			case ok && t.Group != "" && s.tasks[to].Group == t.Group && text.isGroup(&t.Refs[j], t.Group):
				s.problems = append(s.problems, groupCycle(c, t, &t.Refs[j]))
			case ok && to != NodeID(i):
				edges = append(edges, taskEdge{to, &t.Refs[j]})
			}
		}
		s.to[i] = edges[first:len(edges):len(edges)]
	}
	return s
}

// fileText finds the text of ranges.
type fileText map[string][]byte

func newFileText(c *lang.Campaign) fileText {
	text := make(fileText, len(c.Files))
	for i := range c.Files {
		text[c.Files[i].Path] = c.Files[i].Bytes
	}
	return text
}

// isGroup reports whether a reference is spelt group.NAME. A reference holds the task it came to
// mean, so the text is asked; a file that was not read says no.
func (x fileText) isGroup(ref *lang.Ref, name string) bool {
	b, lo, hi := x[ref.Range.File], ref.Range.Start.Byte, ref.Range.End.Byte
	return lo <= hi && hi <= len(b) && string(b[lo:hi]) == "group."+name
}

// groupCycle is the diagnostic for a task that needs the group it is in, and so itself (UF3002).
func groupCycle(c *lang.Campaign, t *lang.Task, ref *lang.Ref) lang.Diagnostic {
	d := lang.Diagnostic{
		Severity: lang.Error, Code: "UF3002", Subject: &ref.Range,
		Summary: fmt.Sprintf("task.%s is in group.%s and %s group.%s.", t.Name, t.Group, ref.How, t.Group),
		Hint:    "name the tasks it needs, or move it to another group",
	}
	for _, g := range c.Groups {
		if g.Name == t.Group {
			d.Related = []lang.Related{{Range: g.Range, Message: "the group is declared here"}}
		}
	}
	return d
}

// unreached warns of tasks that no default target needs (UF3003). Without campaign.default every
// task is reached.
func (s *taskGraph) unreached(defaults []string) lang.Diagnostics {
	if len(defaults) == 0 {
		return nil
	}
	seen := make([]bool, len(s.tasks))
	var queue []NodeID
	visit := func(id NodeID) {
		if !seen[id] {
			seen[id] = true
			queue = append(queue, id)
		}
	}
	for _, name := range defaults {
		if id, ok := s.index[name]; ok {
			visit(id)
		}
	}
	for i := 0; i < len(queue); i++ {
		for _, e := range s.to[queue[i]] {
			visit(e.to)
		}
	}
	var ds lang.Diagnostics
	for i, t := range s.tasks {
		if !seen[i] {
			ds = append(ds, lang.Diagnostic{
				Severity: lang.Warning, Code: "UF3003", Subject: &t.Range,
				Summary: fmt.Sprintf("task.%s is not reached from campaign.default.", t.Name),
				Hint:    "a build without targets leaves it out; add it to campaign.default, or name it when you want it",
			})
		}
	}
	return ds
}

// tolerated reports contradictions about a tolerated need (UF3005, UF3007).
func tolerated(n *Node) lang.Diagnostics {
	if n.Instance == nil || !slices.ContainsFunc(n.Instance.Needs, func(need lang.Need) bool { return need.Tolerate }) {
		return nil
	}
	var ds lang.Diagnostics
	refs := newRefIndex(n.Task)
	for i := range n.Instance.Needs {
		need := &n.Instance.Needs[i]
		if !need.Tolerate {
			continue
		}
		at := refs.find(need).Range
		if need.All {
			ds = append(ds, lang.Diagnostic{
				Severity: lang.Error, Code: "UF3005", Subject: &at,
				Summary: fmt.Sprintf("task.%s is in both depends_on and tolerate; decide whether its failure matters.", need.On.Task),
				Hint:    "keep it in depends_on when it must succeed, in tolerate when its absence is fine",
			})
		}
		if slices.Contains(n.Instance.Workspace.Inherit, need.On) {
			ds = append(ds, lang.Diagnostic{
				Severity: lang.Error, Code: "UF3007", Subject: &at,
				Summary: fmt.Sprintf("If task.%s fails there is no tree to start from.", need.On.Task),
				Detail:  fmt.Sprintf("task.%s inherits its workspace from a task it also tolerates.", n.Task.Name),
				Hint:    "take it out of tolerate, or inherit from another task",
			})
		}
	}
	return ds
}

// once drops diagnostics that only repeat one at the same place, as every instance of a task would.
func once(ds lang.Diagnostics) lang.Diagnostics {
	type place struct{ code, summary, at string }
	seen := map[place]bool{}
	return slices.DeleteFunc(ds, func(d lang.Diagnostic) bool {
		p := place{d.Code, d.Summary, d.Subject.String()}
		was := seen[p]
		seen[p] = true
		return was
	})
}

// edgeSentence says what an edge does, for the list below a cycle: "task.a refers to task.b here
// (through local.x)".
func edgeSentence(from string, ref *lang.Ref) string {
	how, via := ref.How, ""
	if i := strings.Index(how, "through "); i >= 0 {
		how, via = strings.TrimRight(how[:i], " ,("), " ("+strings.TrimRight(how[i:], ")")+")"
	}
	return fmt.Sprintf("task.%s %s task.%s here%s", from, how, ref.Task, via)
}

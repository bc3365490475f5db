package graph

import (
	"fmt"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// check reports what is wrong with the topology, by task: the static references decide, so a
// campaign does not become cyclic by the value of a variable.
func check(g *Graph) lang.Diagnostics {
	s := newTaskGraph(g.campaign)
	ds := append(s.cycles(), s.unreached(g.campaign.Default)...)
	m := newMentionCheck(g.campaign)
	for _, t := range g.campaign.Tasks {
		m.check(t)
	}
	return append(ds, m.found...)
}

// taskGraph is the static graph of tasks.
type taskGraph struct {
	tasks []*lang.Task
	index map[string]NodeID // by name; here a number is an index into tasks
	to    [][]taskEdge
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
	refs := 0
	for _, t := range c.Tasks {
		refs += len(t.Refs)
	}
	edges := make([]taskEdge, 0, refs) // every list of s.to is a window of this one
	for i, t := range c.Tasks {
		first := len(edges)
		for j := range t.Refs {
			// A task that refers to itself is reported by lang (UF2008), where the token is known.
			if to, ok := s.index[t.Refs[j].Task]; ok && to != NodeID(i) {
				edges = append(edges, taskEdge{to, &t.Refs[j]})
			}
		}
		s.to[i] = edges[first:len(edges):len(edges)]
	}
	return s
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

// edgeSentence says what an edge does, for the list below a cycle: "task.a refers to task.b here
// (through local.x)".
func edgeSentence(from string, ref *lang.Ref) string {
	how, via := ref.How, ""
	if i := strings.Index(how, "through "); i >= 0 {
		how, via = strings.TrimRight(how[:i], " ,("), " ("+strings.TrimRight(how[i:], ")")+")"
	}
	return fmt.Sprintf("task.%s %s task.%s here%s", from, how, ref.Task, via)
}

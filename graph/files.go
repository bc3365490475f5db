package graph

import (
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/ufbuild/ufbuild/lang"
)

// Producers returns the nodes that write a file, given as a slash path: below the outputs directory
// (out/NAME/report.md), or as an output declares it (report.md). A directory that holds outputs
// counts as all of them. Nil when nothing produces it.
func (g *Graph) Producers(file string) []NodeID {
	file = path.Clean(file)
	switch rest, below := strings.CutPrefix(file, g.campaign.Out+"/"); {
	case file == ".":
		return nil // no file, though ** matches it
	case file == g.campaign.Out:
		return g.where(func(n *Node) bool { return n.Instance != nil && len(n.Instance.Outputs) > 0 })
	case below:
		if ids := g.producersBelowOut(rest); ids != nil {
			return ids
		}
	}
	return g.where(func(n *Node) bool { return producesPath(n.Instance, file) })
}

// producersBelowOut finds the node whose printed address starts the path; an address may hold one
// slash, so the longest one wins. The directory of a task with keys is that of all its instances.
func (g *Graph) producersBelowOut(rest string) []NodeID {
	for end := len(rest); end > 0; end = strings.LastIndexByte(rest[:end], '/') {
		addr, err := lang.ParseAddress(rest[:end])
		if err != nil {
			continue
		}
		id, ok := g.Find(addr)
		if !ok {
			continue
		}
		within := strings.TrimPrefix(rest[end:], "/")
		if within == "" || producesPath(g.nodes[id].Instance, within) {
			return []NodeID{id}
		}
		return nil
	}
	return g.where(func(n *Node) bool { return n.Instance != nil && strings.HasPrefix(n.Address.String(), rest+"/") })
}

// producesPath reports whether an instance declares an output that is, holds or lies below file.
func producesPath(inst *lang.Instance, file string) bool {
	if inst == nil {
		return false
	}
	for i := range inst.Outputs {
		o := &inst.Outputs[i]
		if o.Path == file || strings.HasPrefix(o.Path, file+"/") || matchesAny(o.Tree, file) {
			return true
		}
	}
	return false
}

// Consumers returns the nodes that declare a source file as an input or include it in their workspace, those whose
// prompt it is or is included in, and those whose command, agent or contract names it. A workspace that includes nothing by
// name sees all of the repository; it is not asked.
func (g *Graph) Consumers(file string) []NodeID {
	file = path.Clean(file)
	prompts := g.campaign.PromptTasks(file)
	return g.where(func(n *Node) bool {
		if n.Instance == nil {
			return false
		}
		for i := range n.Instance.Inputs {
			in := &n.Instance.Inputs[i]
			if matchesAny(in.Globs, file) && !matchesAny(in.Exclude, file) {
				return true
			}
		}
		if w := &n.Instance.Workspace; w.Mode == lang.ModeRepo && matchesAny(w.Include, file) && !matchesAny(w.Exclude, file) {
			return true
		}
		if n.Instance.PromptFile == file || n.Instance.PromptFile != "" && slices.Contains(prompts, n.Task.Name) {
			return true
		}
		return g.startsWith(n, file) || slices.ContainsFunc(n.Instance.Outputs, func(o lang.Output) bool { return judgedBy(o.Contract, file) })
	})
}

// startsWith reports whether a file is named by the command of a node, or by that of its agent.
func (g *Graph) startsWith(n *Node, file string) bool {
	if n.Task.Kind == lang.Command {
		return hasWord(g.campaign.CommandWords(n.Instance), file)
	}
	p := n.Instance.Profile
	return p != nil && hasWord(p.Agent.Command, file)
}

// judgedBy reports whether a contract reads a file.
func judgedBy(c *lang.Contract, file string) bool {
	if c == nil {
		return false
	}
	_, part := c.SchemaParts[file]
	return part || c.Schema == file || c.Sample == file || hasWord(c.Validate, file) || matchesAny(c.Uses, file)
}

// hasWord reports whether a word of a command is a file.
func hasWord(words []string, file string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return w != "" && path.Clean(w) == file })
}

func matchesAny(globs []string, file string) bool {
	for _, glob := range globs {
		if ok, _ := doublestar.Match(glob, file); ok {
			return true
		}
	}
	return false
}

// outputFiles lists where outputs are put, for suggestions.
func (g *Graph) outputFiles() []string {
	var files []string
	for i := range g.nodes {
		n := &g.nodes[i]
		if n.Instance == nil {
			continue
		}
		for j := range n.Instance.Outputs {
			if o := &n.Instance.Outputs[j]; o.Path != "" && len(files) < maxSuggested {
				files = append(files, path.Join(g.campaign.Out, n.Address.String(), o.Path))
			}
		}
	}
	return files
}

package graph

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// Lookup resolves the targets whose meaning is not in the campaign: "failed" for @failed, "stale"
// for @stale. It may be nil, then there are none.
type Lookup func(name string) ([]NodeID, error)

// TargetError says that targets name nothing. It holds one diagnostic a target (UF9102).
type TargetError struct{ Diagnostics lang.Diagnostics }

// Error implements error with one line a target.
func (e *TargetError) Error() string {
	lines := make([]string, len(e.Diagnostics))
	for i, d := range e.Diagnostics {
		lines[i] = "select target: " + d.Summary
	}
	return strings.Join(lines, "\n")
}

// Select returns the nodes that targets name, in the order of their numbers; no target means
// [Graph.Defaults]. A target is a task (strategy), an instance (strategy/round-trip#0,
// task.strategy["round-trip"]), a glob over addresses ('strategy/*#0'), a group (group.review), a
// tag (tag:slow), a file (:out/report.md, its producer), @failed or @stale. An instance of an
// expand task that is not known yet selects the template node.
//
// Unknown targets are reported together in a [*TargetError].
func (g *Graph) Select(targets []string, env Lookup) ([]NodeID, error) {
	if len(targets) == 0 {
		return g.Defaults(), nil
	}
	var ids []NodeID
	unknown := &TargetError{}
	for _, target := range targets {
		found, err := g.selectOne(target, env)
		if err != nil {
			return nil, err
		}
		if found == nil {
			unknown.Diagnostics = append(unknown.Diagnostics, g.unknownTarget(target))
		}
		ids = append(ids, found...)
	}
	if len(unknown.Diagnostics) > 0 {
		return nil, unknown
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// selectOne returns the nodes of one target; nil when it names nothing that is declared.
func (g *Graph) selectOne(target string, env Lookup) ([]NodeID, error) {
	if name, ok := strings.CutPrefix(target, "@"); ok {
		return lookUp(env, name)
	}
	if file, ok := strings.CutPrefix(target, ":"); ok {
		return g.Producers(file), nil
	}
	if name, ok := strings.CutPrefix(target, "group."); ok {
		return g.ofGroup(name), nil
	}
	if tag, ok := strings.CutPrefix(target, "tag:"); ok {
		return g.where(func(n *Node) bool { return slices.Contains(n.Task.Tags, tag) }), nil
	}
	if ids := g.OfTask(target); len(ids) > 0 {
		return ids, nil
	}
	return g.matching(target), nil
}

// lookUp asks the caller. Nothing failed is a fine answer, unlike a name that does not exist.
func lookUp(env Lookup, name string) ([]NodeID, error) {
	if name != "failed" && name != "stale" {
		return nil, nil
	}
	ids := []NodeID{}
	if env == nil {
		return ids, nil
	}
	found, err := env(name)
	return append(ids, found...), err
}

func (g *Graph) ofGroup(name string) []NodeID {
	ids := g.where(func(n *Node) bool { return n.Task.Group == name })
	declared := slices.ContainsFunc(g.campaign.Groups, func(gr *lang.Group) bool { return gr.Name == name })
	if ids == nil && declared {
		return []NodeID{} // a group without tasks names them all
	}
	return ids
}

// matching returns the nodes of an address or glob. What is not a pattern at all matches nothing.
func (g *Graph) matching(target string) []NodeID {
	p, err := lang.ParsePattern(target)
	if err != nil {
		return nil
	}
	if ids := g.where(func(n *Node) bool { return p.Match(n.Address) }); ids != nil {
		return ids
	}
	if task := g.declaredTask(target); task != nil && len(g.OfTask(task.Name)) == 0 {
		return []NodeID{} // an empty for_each has no instances; that is legal
	}
	return g.templatesMatching(target)
}

// declaredTask returns the task that a target names whole, also one without any node.
func (g *Graph) declaredTask(target string) *lang.Task {
	name := strings.TrimPrefix(target, "task.")
	for _, t := range g.campaign.Tasks {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// templatesMatching returns template nodes whose future instances a target may name.
func (g *Graph) templatesMatching(target string) []NodeID {
	name := strings.TrimPrefix(target, "task.")
	if i := strings.IndexAny(name, `/@#[`); i > 0 {
		name = name[:i]
	}
	p, err := lang.ParsePattern(name)
	if err != nil {
		return nil
	}
	return g.where(func(n *Node) bool { return n.Template && !g.expanded[n.ID] && p.Match(n.Address) })
}

func (g *Graph) where(is func(*Node) bool) []NodeID {
	var ids []NodeID
	for i := range g.nodes {
		if is(&g.nodes[i]) {
			ids = append(ids, g.nodes[i].ID)
		}
	}
	return ids
}

// Defaults returns the nodes a build without targets wants: campaign.default, else the tasks that
// no other task refers to.
func (g *Graph) Defaults() []NodeID {
	wanted := map[string]bool{}
	for _, name := range g.campaign.Default {
		wanted[name] = true
	}
	if len(wanted) == 0 {
		wanted = g.unreferredTasks()
	}
	return g.where(func(n *Node) bool { return wanted[n.Task.Name] })
}

// unreferredTasks returns the names of the tasks no other task needs in any way.
func (g *Graph) unreferredTasks() map[string]bool {
	names := make(map[string]bool, len(g.campaign.Tasks))
	for _, t := range g.campaign.Tasks {
		names[t.Name] = true
	}
	for _, t := range g.campaign.Tasks {
		for i := range t.Refs {
			if t.Refs[i].Task != t.Name {
				delete(names, t.Refs[i].Task)
			}
		}
	}
	return names
}

// names reports whether a target names something.
func (g *Graph) names(target string) bool {
	_, err := g.Select([]string{target}, nil)
	return err == nil
}

// cutLast is [strings.Cut] at the last separator.
func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

func isNumber(s string) bool {
	n, err := strconv.Atoi(s)
	return err == nil && n > 0
}

// unknownTarget is the diagnostic for a target that names nothing, with the nearest thing that
// could have been meant.
func (g *Graph) unknownTarget(target string) lang.Diagnostic {
	d := lang.Diagnostic{Severity: lang.Error, Code: "UF9102", Summary: fmt.Sprintf("No task matches %q.", target)}
	if file := g.outputNamed(target); file != "" {
		d.Summary += fmt.Sprintf(" Did you mean %q?", ":"+file)
		d.Hint = "a file stands for the task that writes it, and is named with a colon; `ufbuild show TASK --output NAME` prints it"
	} else if task, n, ok := cutLast(target, "@"); ok && g.names(task) && isNumber(n) {
		d.Hint = fmt.Sprintf("%s is attempt %s of %s, and a task is wanted here: say %q. `ufbuild select %s` has an attempt read", target, n, task, task, target)
	} else if meant := g.suggestTarget(target); meant != "" {
		d.Summary += fmt.Sprintf(" Did you mean %q?", meant)
	} else if !strings.HasPrefix(target, ":") && len(g.Producers(target)) > 0 {
		d.Summary += fmt.Sprintf(" Did you mean %q?", ":"+target)
		d.Hint = "a file stands for the task that writes it, and is named with a colon"
	} else if hint := g.hintOfKind(target); hint != "" {
		d.Hint = hint
	} else {
		d.Hint = `"ufbuild status" lists the tasks; quote a glob so that the shell leaves it alone`
	}
	return d
}

// hintOfKind says what a target that begins as one of a kind could be; "" for others.
func (g *Graph) hintOfKind(target string) string {
	const most = 12
	for _, kind := range []struct{ prefix, what string }{{"group.", "groups"}, {"tag:", "tags"}, {"@", "sets of tasks"}} {
		if !strings.HasPrefix(target, kind.prefix) {
			continue
		}
		names := slices.Compact(slices.Sorted(slices.Values(g.namesFor(kind.prefix))))
		switch {
		case len(names) == 0:
			return "the campaign has no " + kind.what
		case len(names) > most:
			return fmt.Sprintf("there are %d %s; the first are %s%s", len(names), kind.what, kind.prefix, strings.Join(names[:most], ", "+kind.prefix))
		}
		return fmt.Sprintf("the %s are %s%s", kind.what, kind.prefix, strings.Join(names, ", "+kind.prefix))
	}
	return ""
}

// outputNamed returns the file that a target such as words/counts or audit/a/r.md means: an output of an instance, by its
// name or its path; "" when it means none.
func (g *Graph) outputNamed(target string) string {
	target = strings.TrimPrefix(target, "task.")
	for end := strings.LastIndexByte(target, '/'); end > 0; end = strings.LastIndexByte(target[:end], '/') {
		addr, err := lang.ParseAddress(target[:end])
		id, ok := g.Find(addr)
		if err != nil || !ok || g.nodes[id].Instance == nil {
			continue
		}
		for _, o := range g.nodes[id].Instance.Outputs {
			if rest := target[end+1:]; o.Path != "" && (o.Name == rest || o.Path == rest) {
				return path.Join(g.campaign.Out, target[:end], o.Path)
			}
		}
	}
	return ""
}

// suggestTarget mends the part of a target that is wrong and keeps the rest.
func (g *Graph) suggestTarget(target string) string {
	for _, prefix := range []string{"group.", "tag:", "@", ":", "task."} {
		if name, ok := strings.CutPrefix(target, prefix); ok {
			return prefixed(prefix, lang.Suggest(name, g.namesFor(prefix)))
		}
	}
	if i := strings.IndexAny(target, "/@#"); i > 0 && len(g.OfTask(target[:i])) == 0 {
		if meant := lang.Suggest(target[:i], g.namesFor("task.")); meant != "" {
			return meant + target[i:]
		}
	}
	return lang.Suggest(target, append(g.namesFor("task."), g.addresses()...))
}

func prefixed(prefix, name string) string {
	if name == "" {
		return ""
	}
	return prefix + name
}

// namesFor lists what can follow a prefix in a target.
func (g *Graph) namesFor(prefix string) []string {
	var names []string
	switch prefix {
	case "group.":
		for _, gr := range g.campaign.Groups {
			names = append(names, gr.Name)
		}
	case "tag:":
		for _, t := range g.campaign.Tasks {
			names = append(names, t.Tags...)
		}
	case "@":
		names = []string{"failed", "stale"}
	case ":":
		names = g.outputFiles()
	default:
		for _, t := range g.campaign.Tasks {
			names = append(names, t.Name)
		}
	}
	return names
}

// maxSuggested bounds the edit distances computed for one misspelt target.
const maxSuggested = 2000

func (g *Graph) addresses() []string {
	var names []string
	for i := range g.nodes[:min(len(g.nodes), maxSuggested)] {
		names = append(names, g.nodes[i].Address.String())
	}
	return names
}

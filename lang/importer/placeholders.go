package importer

import (
	"fmt"
	"slices"
	"strings"
)

// replace returns what takes the place of a placeholder and how much of the text after it that covers.
func (r *rewriter) replace(word, after string, at value) (text string, used int, ok bool) {
	name, arg, hasArg := strings.Cut(word, ":")
	switch {
	case word == "artifact_path" || word == "artifact_dir" || word == "workspace_path" || word == "repo_path":
		return r.here(after)
	case name == "artifact_path" && hasArg:
		return r.artifactPath(arg, after, at)
	case name == "artifact_handoff" && hasArg:
		text, ok = r.handoff(arg, at)
		return text, 0, ok
	case name == "ancestor_artifacts":
		text, ok = r.ancestors(arg, hasArg, at)
		return text, 0, ok
	case hasArg && (name == "ancestor_artifacts_by_path" || name == "ancestor_artifact_path_authority"):
		return r.matching(arg, func(o *output) string { return o.path }), 0, true
	case hasArg && name == "ancestor_contract_artifact_authority":
		return r.matching(arg, contractOf), 0, true
	case word == "ancestor_generated_test_manifests" || word == "ancestor_generated_test_manifest_authorities":
		return r.matching("ultrafuzz/generated-tests@3", contractOf), 0, true
	case strings.HasPrefix(word, "item."):
		text, ok = r.item(strings.Split(word, ".")[1:])
		return text, 0, ok
	}
	text, ok = r.simple(word, at)
	return text, 0, ok
}

// here is the workspace itself: paths in a campaign are relative to it.
func (r *rewriter) here(after string) (string, int, bool) {
	if suffix.MatchString(after) {
		return "", len("/"), true
	}
	return "./", 0, true // not ".", which would be lost at the end of a sentence
}

// simple replaces the variables that take no argument.
func (r *rewriter) simple(word string, at value) (string, bool) {
	im, n := r.im, r.node
	switch word {
	case "output_findings_path":
		return "findings.json", true
	case "output_patch_path":
		return "workspace.patch", true
	case "schema_path", "artifact_schema_dir":
		im.changed(at, "{{%s}} is now the directory schemas, which workspaces do not hold: declare its files as an input of task %s.", word, n.name)
		return "schemas", true
	case "strategy", "node_id":
		return n.id.text, true
	case "attempt_index", "strategy_loop_index":
		return "${loop.index}", true
	case "strategy_loop_count":
		return r.loopCount(), true
	case "strategy_attempt_test_dir":
		return fmt.Sprintf("test/ultrafuzz/%s-${loop.index}", n.name), true
	case "invariant_property_priorities":
		return "${" + im.priorities(",") + "}", true
	case "invariant_property_priority_filter":
		im.changed(at, "{{%s}} is now the list of priorities.", word)
		return "${" + im.priorities(" or ") + "}", true
	}
	if findSetting(word) == nil {
		return "", false
	}
	return "${" + im.want(word) + "}", true
}

// loopCount is written out: loop.count would run all loops again when one is added.
func (r *rewriter) loopCount() string {
	im, n := r.im, r.node
	loops := im.loopsOf(n)
	fromVariable := !n.own.loops.set() && n.group != nil && n.group == im.strategies() && im.wanted["strategy_loops"]
	if fromVariable && n.dynamic == nil {
		return "${var.strategy_loops}"
	}
	return fmt.Sprint(loops)
}

// item replaces a field of the item a task was made for.
func (r *rewriter) item(fields []string) (string, bool) {
	if r.node.dynamic == nil || slices.Contains(fields, "") {
		return "", false
	}
	r.node.dynamic.items().at(fields)
	return "${item" + steps(fields) + "}", true
}

// artifactPath replaces the directory of another node, with the path below it that follows.
func (r *rewriter) artifactPath(id, after string, at value) (string, int, bool) {
	to, ok := r.other(id, at)
	if !ok {
		return "", 0, false
	}
	below := suffix.FindString(after)
	if to.kind == referring {
		return r.reference(to, strings.TrimPrefix(below, "/"), at), len(below), true
	}
	if below == "" {
		return r.each(to, func(x string) string { return x + ".dir" }, nil), 0, true
	}
	if o := to.output(strings.TrimPrefix(below, "/")); o != nil {
		return r.outputPath(to, o), len(below), true
	}
	r.im.lost(at, "node %s declares no output %s: declare one and say here where it is.", id, strings.TrimPrefix(below, "/"))
	return r.each(to, func(x string) string { return x + ".dir" }, nil), 0, true
}

// handoff replaces the primary output of another node.
func (r *rewriter) handoff(id string, at value) (string, bool) {
	to, ok := r.other(id, at)
	if !ok {
		return "", false
	}
	if to.kind == referring {
		return r.reference(to, "", at), true
	}
	o := to.primary()
	if o == nil {
		r.im.lost(at, "node %s has no output to hand off.", id)
		return "", false
	}
	return r.outputPath(to, o), true
}

// ancestors replaces the list of the outputs of nodes: those named, else those the node depends on.
func (r *rewriter) ancestors(arg string, named bool, at value) (string, bool) {
	var ids []string
	for _, d := range r.node.deps {
		ids = append(ids, d.text)
	}
	if named {
		ids = strings.Split(arg, ",")
	}
	var lines []string
	for _, id := range ids {
		to, ok := r.other(strings.TrimSpace(id), at)
		if !ok {
			continue
		}
		if to.kind == referring {
			lines = append(lines, "- "+r.reference(to, "", at))
		}
		for i := range to.outputs {
			lines = append(lines, r.listed(to, &to.outputs[i]))
		}
	}
	return strings.Join(lines, "\n"), len(lines) > 0
}

// listed is an output of another node as lines of a list.
func (r *rewriter) listed(to *node, o *output) string {
	if r.im.many(to) {
		return r.outputPath(to, o)
	}
	return "- " + r.outputPath(to, o)
}

// contractOf names the contract of an output, "" without one.
func contractOf(o *output) string {
	if o.contract == nil {
		return ""
	}
	return o.contract.id.text
}

// matching lists the outputs, of all nodes this one depends on directly or not, of which something is among the words of a
// list. There may be none.
func (r *rewriter) matching(list string, of func(*output) string) string {
	wanted := strings.FieldsFunc(list, func(c rune) bool { return c == ',' || c == ' ' })
	var lines []string
	above := r.ancestorNodes()
	for _, to := range r.im.order {
		if !above[to] || to.kind != agentic {
			continue
		}
		for i := range to.outputs {
			if slices.Contains(wanted, of(&to.outputs[i])) {
				r.node.reads[to.id.text] = true
				lines = append(lines, r.listed(to, &to.outputs[i]))
			}
		}
	}
	if len(lines) == 0 {
		return "(there is none)"
	}
	return strings.Join(lines, "\n")
}

// ancestorNodes are the nodes that this one depends on, directly or not.
func (r *rewriter) ancestorNodes() map[*node]bool {
	above := map[*node]bool{}
	todo := []*node{r.node}
	for len(todo) > 0 {
		n := todo[0]
		todo = todo[1:]
		for _, d := range n.deps {
			if to := r.im.nodes[d.text]; to != nil && !above[to] && to != r.node {
				above[to] = true
				todo = append(todo, to)
			}
		}
	}
	return above
}

// other finds the node a prompt refers to.
func (r *rewriter) other(id string, at value) (*node, bool) {
	to := r.im.nodes[id]
	switch {
	case to == nil:
		r.im.lost(at, "There is no node %s.", id)
		return nil, false
	case to == r.node:
		r.im.lost(at, "Node %s refers to itself.", id)
		return nil, false
	case to.kind == meta, to.kind == referring && to.reference == nil:
		return nil, false
	}
	r.node.reads[id] = true
	return to, true
}

// reference is where pinned material lies: what is named below it, the one file of it, else the directory.
func (r *rewriter) reference(to *node, below string, at value) string {
	ref := to.reference
	place := "${" + ref.pathExpr() + "}"
	if ref.repo == "" {
		return place
	}
	for _, p := range ref.paths {
		if dir := strings.TrimSuffix(p.text, "/"); below == p.text || strings.HasPrefix(below, dir+"/") {
			return place + "/" + below
		}
	}
	if len(ref.paths) == 1 { // whatever the node called it
		return place + "/" + ref.paths[0].text
	}
	if below != "" && len(ref.paths) > 0 {
		r.im.lost(at, "reference %s has no path %s: say here which of its files is meant.", to.id.text, below)
	}
	return place
}

// outputPath is where an output of another node lies: one path, or a list of them where there are
// several instances.
func (r *rewriter) outputPath(to *node, o *output) string {
	return r.each(to, func(x string) string { return x + ".outputs." + o.name + ".path" }, o)
}

// each writes an expression about another node, for each of its instances. Those that may be missing
// are left out.
func (r *rewriter) each(to *node, of func(instance string) string, o *output) string {
	task := "task." + to.name
	guard := func(x string) string {
		switch {
		case to.soft() && o == nil:
			return x + ".ok"
		case to.soft() || (o != nil && o.optional):
			return x + ".outputs." + o.name + ".exists"
		}
		return ""
	}
	if !r.im.many(to) {
		if g := guard(task); g != "" {
			return fmt.Sprintf(`${%s ? %s : "(there is none)"}`, g, of(task))
		}
		return "${" + of(task) + "}"
	}
	if to.series && r.im.loopsOf(to) > 1 {
		r.im.changed(to.id, "node %s: its readers see every loop for every profile, not only the last.", to.id.text)
	}
	where := ""
	if g := guard("x"); g != "" {
		where = " if " + g
	}
	return fmt.Sprintf(`${join("\n", [for x in %s.all : "- ${%s}"%s])}`, task, of("x"), where)
}

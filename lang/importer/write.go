package importer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/ufbuild/ufbuild/lang/format"
)

// write makes the files of the campaign.
func (im *importer) write() ([]File, error) {
	tasks := hclwrite.NewEmptyFile()
	for _, n := range im.tasks() {
		im.writeTask(tasks.Body(), n)
	}
	settings := im.settingsFile()
	im.closeSettings()
	im.closeConfig()
	var files []File
	for _, f := range []struct {
		name string
		file *hclwrite.File
	}{{settingsFile, settings}, {tasksFile, tasks}} {
		src, ds := format.Format(f.name, f.file.Bytes())
		if ds.HasErrors() {
			return nil, fmt.Errorf("write %s: line %d: %s", f.name, ds[0].Subject.Start.Line, ds[0].Summary)
		}
		files = append(files, File{f.name, src})
	}
	var more []File
	for name, text := range im.prompts {
		more = append(more, File{name, text})
	}
	for _, c := range im.contractOrder {
		if p := c.schemaPath(); p != "" {
			more = append(more, File{p, c.schemaDoc()})
		}
	}
	slices.SortFunc(more, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return append(files, more...), nil
}

// quote prints a text as HCL.
func quote(text string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes())
}

// identifier reports whether a text may stand after a dot.
func identifier(text string) bool { return hclsyntax.ValidIdentifier(text) }

// set writes an argument whose value is an expression as text.
func set(b *hclwrite.Body, name, expr string) {
	b.SetAttributeRaw(name, hclwrite.TokensForIdentifier(expr))
}

// setText writes an argument with a text, unless there is none.
func setText(b *hclwrite.Body, name string, v value) {
	if v.set() && v.text != "" {
		set(b, name, quote(v.text))
	}
}

// list prints expressions as a list.
func list(exprs []string) string { return "[" + strings.Join(exprs, ", ") + "]" }

// block starts a block.
func block(b *hclwrite.Body, kind string, labels ...string) *hclwrite.Body {
	return b.AppendNewBlock(kind, labels).Body()
}

// comment writes one line of comment.
func comment(b *hclwrite.Body, text string) {
	text = strings.Join(strings.Fields(text), " ")
	b.AppendUnstructuredTokens(hclwrite.Tokens{{Type: hclsyntax.TokenComment, Bytes: []byte("# " + text + "\n")}})
}

// writeTask writes the block of a task.
func (im *importer) writeTask(body *hclwrite.Body, n *node) {
	b := block(body, "task", n.name)
	if n.group != nil {
		set(b, "group", "group."+n.group.name)
	}
	set(b, "prompt", quote(n.file))
	im.writeDependencies(b, n)
	im.writeLoops(b, n)
	im.writeSettings(b, n.own, n)
	if n.dynamic != nil {
		e := block(b, "expand")
		set(e, "items", im.itemsExpr(n))
		set(e, "key", "item"+steps(n.dynamic.key))
		set(e, "max_items", im.maxItems().text)
	}
	for _, o := range n.outputs {
		ob := block(b, "output", o.name)
		set(ob, "path", quote(o.path))
		if o.contract != nil {
			set(ob, "contract", "contract."+o.contract.name)
		}
		if o.primary {
			set(ob, "primary", "true")
		}
		if o.optional {
			set(ob, "optional", "true")
		}
	}
}

// writeDependencies writes what a task waits for beyond what its prompt refers to.
func (im *importer) writeDependencies(b *hclwrite.Body, n *node) {
	var needs, soft, refs []string
	seen := map[string]bool{}
	dep := func(id string, listed bool) {
		to := im.nodes[id]
		if seen[id] || to == n {
			return
		}
		seen[id] = true
		switch {
		case to.kind == referring:
			if !n.reads[id] {
				refs = append(refs, "reference."+to.reference.name)
			}
		case to.soft() && (n.dynamic == nil || n.dynamic.from.text != id):
			soft = append(soft, "task."+to.name)
		case listed && !n.reads[id] && (n.dynamic == nil || n.dynamic.from.text != id):
			needs = append(needs, "task."+to.name)
		}
	}
	for _, d := range n.deps {
		dep(d.text, true)
	}
	for _, other := range im.order {
		if n.reads[other.id.text] {
			dep(other.id.text, false)
		}
	}
	if len(needs) > 0 {
		set(b, "depends_on", list(needs))
	}
	if len(soft) > 0 {
		set(b, "tolerate", list(soft))
	}
	im.unreadReferences(n, refs)
}

// unreadReferences notes references that a node waits for and its prompt does not name. A mounted file
// that no prompt names would be read by nobody.
func (im *importer) unreadReferences(n *node, refs []string) {
	for _, r := range refs {
		im.lost(n.id, "node %s depends on %s, which its prompt does not name: say ${%s.path} there.", n.id.text, r, r)
	}
}

// writeLoops writes how many repetitions a task has where its group does not say it.
func (im *importer) writeLoops(b *hclwrite.Body, n *node) {
	switch {
	case n.dynamic != nil:
		if n.group != nil && im.groupLoops(n.group).set() {
			set(b, "loops", "1")
		}
	case n.own.loops.set():
		set(b, "loops", n.own.loops.text)
	case n.group != nil && im.groupLoops(n.group).set():
	case im.wanted["strategy_loops"] && im.strategies() == nil && im.loopDefault.set():
		set(b, "loops", "var.strategy_loops")
	case im.loopDefault.set() && im.loopDefault.text != "1":
		set(b, "loops", im.loopDefault.text)
	}
	if n.series {
		if im.loopsOf(n) > 1 {
			set(b, "loop_mode", quote("series"))
		} else {
			im.changed(n.id, "node %s: loop_mode series is left out, since there is one loop.", n.id.text)
		}
	}
}

// writeSettings writes the settings that tasks and the defaults of groups share. n is nil for a group.
func (im *importer) writeSettings(b *hclwrite.Body, s settings, n *node) {
	im.writeProfiles(b, s.profiles, n)
	switch {
	case s.timeout.set():
		set(b, "timeout", quote(duration(s.timeout.text)))
	case n == nil || n.group == nil:
		if v := im.config.get("run.default_timeout_seconds"); v.set() && duration(v.text) != "1h" {
			set(b, "timeout", quote(duration(v.text)))
		}
	}
	if s.failure.set() && s.failure.text != "fail" {
		set(b, "on_failure", quote(s.failure.text))
	}
	if len(s.requires) > 0 {
		var cmds []string
		for _, c := range s.requires {
			cmds = append(cmds, quote(c.text))
		}
		set(b, "requires", list(cmds))
	}
	switch {
	case s.attempts.set():
		set(block(b, "retry"), "attempts", s.attempts.text)
	case im.wanted["same_agent_attempts"] && (n == nil || n.group == nil):
		set(block(b, "retry"), "attempts", "var.same_agent_attempts")
	}
}

// writeProfiles writes which profiles a task uses: one, or a matrix of several.
func (im *importer) writeProfiles(b *hclwrite.Body, profiles []value, n *node) {
	if m := im.config.standard; m != nil && n != nil && n.namesNoProfile() {
		profiles = []value{m.id}
	}
	var refs []string
	for _, id := range profiles {
		m := im.use(id)
		refs = append(refs, "profile."+m.name)
	}
	switch {
	case len(refs) == 0:
	case len(refs) == 1 && (n == nil || !n.fansOut()):
		if refs[0] != "profile."+defaultProfile || n != nil && !n.namesNoProfile() {
			set(b, "profile", refs[0])
		}
	default:
		set(b, "matrix", "{ profile = "+list(refs)+" }")
		set(b, "profile", "matrix.profile")
	}
}

// maxItems bounds every fan-out at run time.
func (im *importer) maxItems() value {
	v := im.config.get("run.max_dynamic_nodes")
	if n, err := strconv.Atoi(v.text); err != nil || n < 1 {
		v.text = "200" // what a campaign allows when it says nothing
	}
	return v
}

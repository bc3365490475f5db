package importer

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// readOutputs reads what a node writes: outputs of version 2, or required_artifacts and
// primary_artifact of version 1.
func (im *importer) readOutputs(n *node, s *section) {
	taken := names{}
	for _, o := range s.sections("outputs", "output") {
		o.what = "node " + n.id.text + ": " + o.what
		p := o.scalar("path")
		if !p.set() {
			im.lost(o.at(), "%s has no path: it is left out.", o.what)
			continue
		}
		out := output{path: p.text, primary: o.truth("primary"), optional: o.truth("optional")}
		if id := o.scalar("contract"); id.set() {
			out.contract = im.contract(id, p.text)
		}
		o.close()
		im.addOutput(n, p, out, taken)
	}
	primary := s.scalar("primary_artifact")
	for _, p := range s.list("required_artifacts") {
		im.addOutput(n, p, output{path: p.text, primary: p.text == primary.text}, taken)
	}
	if primary.set() && !slices.ContainsFunc(n.outputs, func(o output) bool { return o.path == primary.text }) {
		im.addOutput(n, primary, output{path: primary.text, primary: true}, taken)
	}
}

// addOutput gives an output its name: that of its file, with the ending where two are alike.
func (im *importer) addOutput(n *node, at value, o output, taken names) {
	if slices.ContainsFunc(n.outputs, func(x output) bool { return x.path == o.path }) {
		im.lost(at, "node %s names the output %s twice: the second is left out.", n.id.text, o.path)
		return
	}
	base := path.Base(o.path)
	name := strings.TrimSuffix(base, path.Ext(base))
	if taken[legalName(name)] {
		name = base
	}
	o.name = taken.take(name)
	n.outputs = append(n.outputs, o)
}

// primary returns the output that readers mean when they name only the node; nil without any.
func (n *node) primary() *output {
	for i := range n.outputs {
		if n.outputs[i].primary {
			return &n.outputs[i]
		}
	}
	if len(n.outputs) == 0 {
		return nil
	}
	return &n.outputs[0]
}

// output returns the output with a path; nil when there is none.
func (n *node) output(p string) *output {
	i := slices.IndexFunc(n.outputs, func(o output) bool { return o.path == p })
	if i < 0 {
		return nil
	}
	return &n.outputs[i]
}

// readDynamic reads how a node fans out.
func (im *importer) readDynamic(n *node, s *section) *dynamic {
	d := s.sub("dynamic", "dynamic of node "+n.id.text)
	if d == nil {
		return nil
	}
	defer d.close()
	from := d.sub("from", "from of node "+n.id.text)
	if from == nil {
		im.lost(d.at(), "node %s: dynamic says no source: it is left out.", n.id.text)
		return nil
	}
	defer from.close()
	at := from.scalar("path")
	fields, ok := jsonPath(at.text)
	if !ok {
		im.lost(at, "node %s: the path %q is not fields after $: the whole document is taken.", n.id.text, at.text)
	}
	key := d.scalar("key")
	if !key.set() {
		im.lost(d.at(), "node %s: dynamic says no key: id is taken.", n.id.text)
		key.text = "id"
	}
	if id := d.scalar("node_id"); id.set() {
		im.changed(id, "node %s: the template %q of node ids is gone: instances are called %s/KEY.", n.id.text, id.text, n.name)
	}
	return &dynamic{from: from.scalar("node"), path: fields, key: strings.Split(key.text, ".")}
}

// jsonPath splits $.a.b into its fields.
func jsonPath(text string) ([]string, bool) {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "$")
	if !ok {
		return nil, false
	}
	if rest == "" {
		return nil, true
	}
	fields := strings.Split(rest, ".")
	if fields[0] != "" || slices.Contains(fields[1:], "") || strings.ContainsAny(rest, "[]*?()@'\" ") {
		return nil, false
	}
	return fields[1:], true
}

// connectDynamic finds the document a node fans out over and records what the campaign reads of it.
func (im *importer) connectDynamic(n *node) {
	if n.dynamic == nil {
		return
	}
	source := im.nodes[n.dynamic.from.text]
	if source == nil || source.kind != agentic || source == n || source.primary() == nil {
		im.lost(n.id, "node %s fans out over %q, which writes nothing: it becomes one task.", n.id.text, n.dynamic.from.text)
		n.dynamic = nil
		return
	}
	if o := source.primary(); o.contract == nil {
		im.readAsJSON(o, source, n)
	}
	n.dynamic.shape = source.primary().contract.reads()
	at := n.dynamic.shape
	for _, f := range n.dynamic.path {
		at = at.field(f)
	}
	at.element().at(n.dynamic.key)
}

// readAsJSON gives an output without a contract one, since only then the campaign may read its document.
func (im *importer) readAsJSON(o *output, source, reader *node) {
	id := source.id
	for im.contracts[id.text] != nil {
		id.text += "-items"
	}
	o.contract = im.contract(id, o.path)
	o.contract.kind = "json"
	im.changed(source.id, "node %s: contract %s is new, since %s fans out over what it writes.", source.id.text, o.contract.name, reader.id.text)
}

// items is the shape of one element of the list a node fans out over.
func (d *dynamic) items() *shape { return d.shape.at(d.path).element() }

// itemsExpr is the list a node fans out over.
func (im *importer) itemsExpr(n *node) string {
	source := im.nodes[n.dynamic.from.text]
	return fmt.Sprintf("task.%s.outputs.%s.json%s", source.name, source.primary().name, steps(n.dynamic.path))
}

// steps prints fields as steps of a reference.
func steps(fields []string) string {
	var b strings.Builder
	for _, f := range fields {
		if identifier(f) {
			b.WriteString("." + f)
		} else {
			fmt.Fprintf(&b, "[%s]", quote(f))
		}
	}
	return b.String()
}

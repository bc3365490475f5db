package lang

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// traversal finds the type of a name and of what follows it.
func (c *checker) traversal(e *hclsyntax.ScopeTraversalExpr) *typ {
	t := e.Traversal
	root := t.RootName()
	if c.tell == nil && len(c.bound) == 0 { // most references are of this kind, and need no type of a whole task
		if i, _ := c.ev.plainPath(t); i != nil && !c.typer.tolerates(i.late.def) {
			return stringType
		}
	}
	first := step{kind: atRoot, where: t[0].SourceRange(), text: root}
	for i := len(c.bound) - 1; i >= 0; i-- {
		if c.bound[i].name == root {
			first.to = c.bound[i].typ
			c.told(first)
			return c.steps(c.bound[i].typ, root, root, t[1:])
		}
	}
	switch {
	case containsString(declaredRoots, root):
		c.told(first)
		if len(t) < 2 {
			return anyType
		}
		name, ok := stepName(t[1])
		if !ok {
			return anyType
		}
		whole := root + "." + name
		found := c.typer.declared(c, root, name)
		c.told(step{kind: atName, where: afterDot(t[1].SourceRange(), name), text: whole, to: found})
		return c.steps(found, whole, whole, t[2:])
	case c.roots != nil:
		first.to = c.roots.root(root)
		c.told(first)
		return c.steps(first.to, root, root, t[1:])
	}
	c.told(first)
	return anyType
}

// unknown reports whether e begins with a name that is not there, or not here, which is said where names are checked.
func (c *checker) unknown(e hclsyntax.Expression) bool {
	t, ok := e.(*hclsyntax.ScopeTraversalExpr)
	if !ok || c.isBound(t.Traversal.RootName()) {
		return false
	}
	root := t.Traversal.RootName()
	if !containsString(declaredRoots, root) {
		return !containsString(instanceRoots, root) && root != "vars"
	}
	if len(t.Traversal) < 2 {
		return true
	}
	name, ok := stepName(t.Traversal[1])
	return !ok || !c.ev.decl.has(root, name)
}

// steps follows .NAME and [KEY] from a value of type t; text is how the value is written.
func (c *checker) steps(t *typ, text, root string, steps hcl.Traversal) *typ {
	for _, s := range steps {
		var next *typ
		switch s := s.(type) {
		case hcl.TraverseAttr:
			next = c.attribute(t, text, root, s.Name, afterDot(s.SrcRange, s.Name))
			text += "." + s.Name
			c.told(step{kind: atField, where: afterDot(s.SrcRange, s.Name), text: text, from: t, to: next})
		case hcl.TraverseIndex:
			next = c.element(t, text, root, typeOfValue(s.Key), s.SrcRange)
			text += "[" + strings.TrimSpace(valueText(s.Key)) + "]"
		default:
			next = anyType
		}
		t = next
	}
	if len(c.guarded) > 0 && c.isGuarded(root) {
		return t.certain()
	}
	return t
}

// afterDot narrows the range of a step such as .NAME to the name.
func afterDot(r hcl.Range, name string) hcl.Range {
	if r.End.Byte-r.Start.Byte == len(name)+1 {
		r.Start.Byte++
		r.Start.Column++
	}
	return r
}

// attribute finds the type of t.NAME.
func (c *checker) attribute(t *typ, text, root, name string, where hcl.Range) *typ {
	in := func(a *typ) (*typ, bool) { return c.attributeOf(a, t, text, name, where) }
	found, ok := c.eachAlternative(t, root, where, in)
	if !ok {
		return anyType
	}
	if name == "path" && c.trying == 0 && !c.isGuarded(root) {
		c.unguarded(t, where)
	}
	if t.loose && len(found) == 0 {
		in(t.elems[0]) // no alternative has it
		return anyType
	}
	return c.followed(t, found)
}

// unguarded warns of the path of an output that a tolerated task may not have left. Its text and content are
// null then, which is an error of its own; a path is a path all the same, and leads nowhere.
func (c *checker) unguarded(t *typ, where hcl.Range) {
	for _, a := range t.alternatives() {
		if a.doubt == "" {
			continue
		}
		d := c.probs.warn("UF3006", where, "task.%s may have failed or been skipped, and then its outputs are not there.", a.doubt).
			hint("Test .ok of the task or .exists of the output first.")
		if place, ok := c.typer.toleratedAt(a.doubt); ok {
			d.also(place, "its failure is tolerated here")
		}
	}
}

// followed is the type behind a step from t.
func (c *checker) followed(t *typ, found []*typ) *typ {
	u := unionOf(found...)
	if t.loose {
		return u.loosely()
	}
	return u
}

// quietly runs a check without reporting.
func (c *checker) quietly(check func() bool) bool {
	outer := c.probs
	c.probs = &problems{}
	ok := check()
	c.probs = outer
	return ok
}

// attributeOf finds the attribute in one alternative; ok is false after a report, the type nil where
// the alternative cannot be meant.
func (c *checker) attributeOf(a, whole *typ, text, name string, where hcl.Range) (f *typ, ok bool) {
	switch a.shape {
	case anyShape:
		c.unchecked(a, where)
		return anyType, true
	case objectShape:
		if f, ok := a.attrs[name]; ok {
			return f, true
		}
		if _, advised := a.hints[name]; a.open && (a.rest == nil || !advised) {
			return a.further(), true
		}
		c.noAttribute(a, text, name, where)
		return nil, false
	case mapShape:
		return a.elem, true
	case nullShape:
		if whole.shape == unionShape {
			return nil, true
		}
		c.probs.error("UF2105", where, "%s is null, which has no attributes.", text)
		return nil, false
	}
	c.probs.error("UF2109", where, "%s is %s, which has no attributes.", text, a).Hint = listHint(a, text, name)
	return nil, false
}

// unchecked warns that fields of a document are used which its open schema cannot promise.
func (c *checker) unchecked(a *typ, where hcl.Range) {
	if a.from == nil {
		return
	}
	n := c.ev.decl.kinds["contract"].byName[a.from.Name]
	if s := n.arg("schema"); s != nil && (s.broken || a.from.Schema == "") {
		return // the schema cannot be read, which was said already
	}
	why := "its schema allows any property"
	if a.from.Schema == "" {
		why = "it has no schema"
	}
	c.probs.warn("UF6107", n.label, "Fields of the documents of contract.%s are not checked: %s.", a.from.Name, why).
		hint("Give it a schema with additionalProperties: false.").also(where, "a field is used here")
}

func listHint(a *typ, text, name string) string {
	if a.shape != listShape && a.shape != tupleShape {
		return ""
	}
	return "For every element write [for x in " + text + " : x." + name + "]; for one, " + text + "[0]." + name + "."
}

func (c *checker) noAttribute(a *typ, text, name string, where hcl.Range) {
	if h, ok := a.hints[name]; ok {
		c.probs.error(h.code, where, "%s", h.text)
		return
	}
	summary := fmt.Sprintf("%s has no attribute %q.", text, name)
	if a.absent != "" {
		summary = fmt.Sprintf(a.absent, name)
	}
	d := c.probs.error("UF2101", where, "%s", summary)
	if text == "loop" && strings.HasPrefix(name, "index-") {
		d.Hint = "A dash is part of a name: write loop.index - 1 with spaces."
		return
	}
	d.meant(where, name, sortedKeys(a.attrs))
	switch h, ok := a.hints[""]; {
	case d.Fix != nil:
	case ok:
		d.Hint = h.text
	case hasOutput(a, name):
		d.Hint = "Write " + text + ".outputs." + name + "."
	default:
		d.Hint = choiceHint("It has ", sortedKeys(a.attrs))
	}
}

// hasOutput says that a is a task with such an output: ".outputs" was left out.
func hasOutput(a *typ, name string) bool {
	o := a.attrs["outputs"]
	return o != nil && o.attrs[name] != nil
}

// shownChoices is how many names a hint offers; more are a page and no hint.
const shownChoices = 12

// choiceHint lists the names that could have been meant, when a person can take them in.
func choiceHint(before string, names []string) string {
	if len(names) == 0 || len(names) > shownChoices {
		return ""
	}
	return before + strings.Join(names, ", ") + "."
}

package lang

import (
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// plainTexts renders what consists of written words and of paths of outputs, as most commands do, without values of tasks: to make
// the value of a task, with all that may be asked of it, takes more than everything else that is done to decide one. Whatever else
// there is, or is wrong, it leaves to the evaluator, which says it in its own words. What both render is the same.
type plainTexts struct {
	r    *renderer
	used []sourceMark // the paths met
}

// note tells the renderer of the paths in what is rendered, once it is known that nothing is left to the evaluator.
func (p *plainTexts) note(used []sourceMark) {
	p.r.marks.keys = slices.Grow(p.r.marks.keys, len(used))
	for _, m := range used {
		p.r.marks.add(m)
	}
}

// list renders the elements of a list that is written out.
func (p *plainTexts) list(e hclsyntax.Expression) ([]Text, bool) {
	t, ok := e.(*hclsyntax.TupleConsExpr)
	if !ok {
		return nil, false
	}
	texts := make([]Text, len(t.Exprs))
	for i, e := range t.Exprs {
		if texts[i].Real, ok = p.text(e); !ok {
			return nil, false
		}
	}
	return texts, true
}

// plainPart is a rendered text with the paths in it.
type plainPart struct {
	real string
	used []sourceMark
}

// object renders the attributes of an object that is written out into m, where one may replace another.
func (p *plainTexts) object(e hclsyntax.Expression, m map[string]plainPart) bool {
	o, ok := e.(*hclsyntax.ObjectConsExpr)
	if !ok {
		return false
	}
	for _, it := range o.Items {
		before := len(p.used)
		k, constant := itemKey(it)
		text, ok := p.text(it.ValueExpr)
		if !constant || !ok {
			return false
		}
		m[cty.NormalizeString(k)] = plainPart{text, p.used[before:]}
	}
	return true
}

// text renders one text.
func (p *plainTexts) text(e hclsyntax.Expression) (string, bool) {
	t, ok := e.(*hclsyntax.TemplateExpr)
	if !ok {
		return p.part(e)
	}
	if len(t.Parts) == 1 {
		return p.part(t.Parts[0])
	}
	var b strings.Builder
	for _, e := range t.Parts {
		s, ok := p.part(e)
		if !ok {
			return "", false
		}
		b.WriteString(s)
	}
	return cty.NormalizeString(b.String()), true
}

// part renders a part of a template.
func (p *plainTexts) part(e hclsyntax.Expression) (string, bool) {
	switch e := e.(type) {
	case *hclsyntax.LiteralValueExpr:
		if e.Val.IsMarked() || !e.Val.IsKnown() || e.Val.IsNull() || e.Val.Type() != cty.String {
			return "", false
		}
		return e.Val.AsString(), true
	case *hclsyntax.TemplateWrapExpr:
		return p.part(e.Wrapped)
	case *hclsyntax.ScopeTraversalExpr:
		return p.path(e.Traversal)
	}
	return "", false
}

// path renders task.NAME.outputs.OUTPUT.path, of a task that is one instance.
func (p *plainTexts) path(t hcl.Traversal) (string, bool) {
	i, output := p.r.ev.plainPath(t)
	if i == nil || !p.r.values.needs(i.Address) {
		return "", false
	}
	p.used = append(p.used, sourceMark{from: i.Address, output: output, path: true})
	return cty.NormalizeString(outputMount(i.Address, output)), true
}

// plainPath returns what task.NAME.outputs.OUTPUT.path is the path of, where the task is one instance and has that output; nil for
// everything else.
func (ev *evaluator) plainPath(t hcl.Traversal) (i *Instance, output string) {
	if len(t) != 5 || t.RootName() != "task" {
		return nil, ""
	}
	task, named := t[1].(hcl.TraverseAttr)
	outputs, _ := stepName(t[2])
	output, _ = stepName(t[3])
	path, _ := stepName(t[4])
	if !named || outputs != "outputs" || path != "path" {
		return nil, ""
	}
	return ev.plainOutput(ev.tasks[task.Name], output)
}

// plainOutput returns the one instance of a task, and its name of an output; nil when the task is none, or has more than one, or not
// that output.
func (ev *evaluator) plainOutput(d *taskDef, output string) (*Instance, string) {
	if d == nil || d.broken || d.forEach != nil || !d.single(d.task.Instances) {
		return nil, ""
	}
	i := d.task.Instances[0]
	for n := range i.Outputs {
		if name := i.Outputs[n].Name; name == output {
			return i, name
		}
	}
	return nil, ""
}

// single reports whether a task has these instances alone and is meant as its one instance where it is referred to.
func (d *taskDef) single(is []*Instance) bool {
	return len(is) == 1 && !is[0].Address.Looped && d.matrix == nil && d.expand == nil
}

package lang

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Outline is what can be said of an instance's run-time expressions before anything has run: what is
// known is worked out, the rest stands as it is written. Two instances with equal outlines render alike
// whenever what they depend on left the same. Comments, layout, and the names of locals are not in it.
type Outline struct {
	Parts []OutlinePart
	// Names are the tasks, groups and references that the parts refer to, such as "task.lint". In a text
	// the n-th of them (from 1) stands as its number between two marks.
	Names []string
	Words []string // the elements of the command that are known
}

// OutlinePart is one expression of an outline.
type OutlinePart struct {
	Name string // "prompt", "command", "vars", "env", "when" or "expand"
	Text string
}

// CommandWords are the elements of the command of an instance that are known before anything has run; none for instances
// that Load did not make.
func (c *Campaign) CommandWords(i *Instance) []string {
	if i.late == nil {
		return nil
	}
	return c.Outline(i).Words
}

// Outline returns the outline of an instance that Load made, or of the template of an expand.
func (c *Campaign) Outline(i *Instance) Outline {
	if i.late == nil {
		bug("instance %s was not made by Load or Expand", i.Address)
	}
	o := outliner{scope: i.late.scope(c.eval)}
	args := c.eval.lateArgs(i.late.def)
	o.body(i, args.body)
	for _, a := range args.vars {
		o.part("vars", a)
	}
	for _, a := range args.env {
		o.part("env", a)
	}
	o.part("when", args.when)
	for _, name := range []string{"items", "key"} {
		o.part("expand", i.late.def.expand.arg(name))
	}
	return o.out
}

// outliner writes one outline.
type outliner struct {
	scope  *scope
	out    Outline
	b      strings.Builder
	bound  []string          // variables of the for expressions around
	locals map[string]string // what locals say, as far as they were met
}

func (o *outliner) body(i *Instance, a *argument) {
	if a == nil {
		return
	}
	if a.name != "prompt" {
		o.words(a)
		o.part(a.name, a)
		return
	}
	switch p := i.late.prompt; {
	case p == nil:
	case p.verbatim:
		o.out.Parts = append(o.out.Parts, OutlinePart{"prompt", strconv.Quote(p.text)})
	case p.expression != nil:
		o.part("prompt", &argument{name: "prompt", expression: p.expression})
	}
}

// words notes the elements of a command that are known, however the list of them is put together.
func (o *outliner) words(a *argument) {
	if a.name == "command" {
		o.wordsIn(a.syntax, map[*localDef]bool{})
	}
}

// wordsIn notes what is known of an expression that is a list of words, a part of one or a word. met are the locals it is within.
func (o *outliner) wordsIn(e hclsyntax.Expression, met map[*localDef]bool) {
	if v, ok := o.known(e); ok {
		o.noteWords(plain(v))
		return
	}
	switch e := e.(type) {
	case *hclsyntax.TupleConsExpr:
		for _, element := range e.Exprs {
			o.wordsIn(element, met)
		}
	case *hclsyntax.FunctionCallExpr:
		for _, arg := range e.Args {
			o.wordsIn(arg, met)
		}
	case *hclsyntax.ConditionalExpr:
		o.wordsIn(e.TrueResult, met)
		o.wordsIn(e.FalseResult, met)
	case *hclsyntax.ParenthesesExpr:
		o.wordsIn(e.Expression, met)
	case *hclsyntax.ForExpr:
		o.wordsIn(e.ValExpr, met)
	case *hclsyntax.ScopeTraversalExpr:
		o.wordsOfLocal(e.Traversal, met)
	}
}

// wordsOfLocal notes what is known of a local that is not known as a whole.
func (o *outliner) wordsOfLocal(t hcl.Traversal, met map[*localDef]bool) {
	if len(t) < 2 || t.RootName() != "local" {
		return
	}
	name, _ := t[1].(hcl.TraverseAttr)
	if d := o.scope.ev.decl.locals[name.Name]; d != nil && !met[d] {
		met[d] = true
		o.wordsIn(d.syntax, met)
	}
}

// noteWords notes a word, or those of a list.
func (o *outliner) noteWords(v cty.Value) {
	switch {
	case v.IsNull():
	case v.Type() == cty.String:
		o.out.Words = append(o.out.Words, v.AsString())
	case v.Type().IsListType() || v.Type().IsTupleType() || v.Type().IsSetType():
		for _, element := range v.AsValueSlice() {
			o.noteWords(element)
		}
	}
}

func (o *outliner) part(name string, a *argument) {
	if a == nil {
		return
	}
	o.b.Reset()
	o.expr(a.syntax)
	o.out.Parts = append(o.out.Parts, OutlinePart{name, o.b.String()})
}

// known returns the value of an expression that needs nothing that has to run first.
func (o *outliner) known(e hclsyntax.Expression) (cty.Value, bool) {
	if v, ok := literalValue(e); ok {
		return v, true
	}
	if o.plainlyLate(e) {
		return cty.NilVal, false
	}
	x := analyze(e)
	for i := range x.uses {
		if o.late(x.uses[i].root) {
			return cty.NilVal, false
		}
	}
	v, ds := o.scope.eval(x)
	return v, !ds.HasErrors() && v.IsWhollyKnown()
}

// late reports whether a name stands for something that is not known, or whose own name must not count.
func (o *outliner) late(root string) bool {
	switch root {
	case "task", "group", "reference", "item", "vars":
		return true
	}
	for _, name := range o.bound {
		if name == root {
			return true
		}
	}
	return false
}

// plainlyLate reports whether a reference, or one in a template, is to such a name, before the expression is analyzed.
func (o *outliner) plainlyLate(e hclsyntax.Expression) bool {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return o.late(e.Traversal.RootName())
	case *hclsyntax.TemplateExpr:
		return slices.ContainsFunc(e.Parts, o.plainlyLate)
	}
	return false
}

// expr writes an expression: its value when that is known, else its form.
func (o *outliner) expr(e hclsyntax.Expression) {
	if v, ok := o.known(e); ok {
		o.value(v)
		return
	}
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		o.traversal(e.Traversal)
	case *hclsyntax.RelativeTraversalExpr:
		o.expr(e.Source)
		o.steps(e.Traversal)
	case *hclsyntax.TemplateExpr:
		o.template(e.Parts)
	case *hclsyntax.FunctionCallExpr:
		word := "call " + e.Name
		if e.ExpandFinal {
			word += "..."
		}
		o.list(word, e.Args)
	case *hclsyntax.ForExpr:
		o.loop(e)
	case *hclsyntax.ObjectConsExpr:
		o.object(e)
	case *hclsyntax.ObjectConsKeyExpr:
		o.expr(e.Wrapped)
	case *hclsyntax.ParenthesesExpr:
		o.expr(e.Expression)
	case *hclsyntax.IndexExpr:
		o.list("index", []hclsyntax.Expression{e.Collection, e.Key})
	case *hclsyntax.BinaryOpExpr:
		o.list("binary "+operators[e.Op], children(e))
	case *hclsyntax.UnaryOpExpr:
		o.list("unary "+operators[e.Op], children(e))
	case *hclsyntax.ConditionalExpr:
		o.list("if", children(e))
	case *hclsyntax.AnonSymbolExpr:
		o.b.WriteString("each-of-splat")
	default:
		o.list(strings.TrimPrefix(fmt.Sprintf("%T", e), "*hclsyntax."), children(e))
	}
}

// value writes a known value. Where a reference lies in it stands the number of that reference.
func (o *outliner) value(v cty.Value) {
	b, err := ctyjson.Marshal(plain(v), v.Type())
	if err != nil {
		o.b.WriteString(describeType(v)) // no value of a campaign: it has no JSON form
		return
	}
	o.b.WriteString(o.mounts(unescapeHTML(string(b)), v))
}

// mounts replaces the paths of the references that a value was made with.
func (o *outliner) mounts(text string, v cty.Value) string {
	if !v.ContainsMarked() {
		return text
	}
	marks := map[string]bool{}
	_, paths := v.UnmarkDeepWithPaths()
	for _, p := range paths {
		for m := range p.Marks {
			if s, ok := m.(sourceMark); ok && s.reference != "" {
				marks[s.reference] = true
			}
		}
	}
	for _, r := range o.scope.ev.c.References {
		if marks[r.Name] {
			text = strings.ReplaceAll(text, referenceMount(r), o.token("reference."+r.Name))
		}
	}
	return text
}

// template writes the parts of a template; those that are known become one text.
func (o *outliner) template(parts []hclsyntax.Expression) {
	text := ""
	flush := func() {
		if text != "" {
			o.b.WriteString(" " + strconv.Quote(text))
			text = ""
		}
	}
	o.b.WriteString("(template")
	for _, p := range parts {
		if v, ok := o.known(p); ok {
			if s, ok := convertTo(plain(v), cty.String); ok && !s.IsNull() && s.IsKnown() {
				text += o.mounts(s.AsString(), v)
				continue
			}
		}
		flush()
		o.b.WriteByte(' ')
		o.expr(p)
	}
	flush()
	o.b.WriteByte(')')
}

// list writes a word and expressions in brackets.
func (o *outliner) list(word string, es []hclsyntax.Expression) {
	o.b.WriteString("(" + word)
	for _, e := range es {
		o.b.WriteByte(' ')
		o.expr(e)
	}
	o.b.WriteByte(')')
}

func (o *outliner) object(e *hclsyntax.ObjectConsExpr) {
	o.b.WriteString("(object")
	for _, it := range e.Items {
		o.b.WriteByte(' ')
		if word := hcl.ExprAsKeyword(it.KeyExpr); word != "" {
			o.b.WriteString(strconv.Quote(word))
		} else {
			o.expr(it.KeyExpr)
		}
		o.b.WriteByte(' ')
		o.expr(it.ValueExpr)
	}
	o.b.WriteByte(')')
}

func (o *outliner) loop(e *hclsyntax.ForExpr) {
	o.b.WriteString("(for " + e.KeyVar + " " + e.ValVar + " " + strconv.FormatBool(e.Group) + " ")
	o.expr(e.CollExpr)
	n := len(o.bound)
	o.bound = append(o.bound, e.KeyVar, e.ValVar)
	for _, part := range []hclsyntax.Expression{e.KeyExpr, e.ValExpr, e.CondExpr} {
		if part == nil {
			o.b.WriteString(" none")
			continue
		}
		o.b.WriteByte(' ')
		o.expr(part)
	}
	o.bound = o.bound[:n]
	o.b.WriteByte(')')
}

// traversal writes a reference: to tasks, groups and references by number, to a local by what it says.
func (o *outliner) traversal(t hcl.Traversal) {
	root := t.RootName()
	name := ""
	if len(t) > 1 {
		if a, ok := t[1].(hcl.TraverseAttr); ok {
			name = a.Name
		}
	}
	switch {
	case name != "" && (root == "task" || root == "group" || root == "reference"):
		o.b.WriteString(o.token(root + "." + name))
		o.steps(t[2:])
	case root == "local" && o.local(name):
		o.steps(t[2:])
	default:
		o.b.WriteString(root)
		o.steps(t[1:])
	}
}

// maxLocalText is how long what a local says may be to stand as it is. A longer one stands as its digest: locals that use
// each other twice at every step would make a text of any size.
const maxLocalText = 64 << 10

// local writes the expression of a local; false when there is none.
func (o *outliner) local(name string) bool {
	d := o.scope.ev.decl.locals[name]
	if d == nil {
		return false
	}
	if o.locals == nil {
		o.locals = map[string]string{}
	}
	text, met := o.locals[name]
	if !met {
		o.locals[name] = "(cycle)" // until it is known; a broken campaign can be looked at
		text = o.localText(d)
		o.locals[name] = text
	}
	o.b.WriteString(text)
	return true
}

// localText is the expression of a local, with nothing of what is around.
func (o *outliner) localText(d *localDef) string {
	inner := outliner{scope: o.scope, out: o.out, locals: o.locals}
	inner.expr(d.syntax)
	o.out = inner.out
	text := inner.b.String()
	if len(text) > maxLocalText {
		return fmt.Sprintf("(long %x)", sha256.Sum256([]byte(text)))
	}
	return text
}

// token is what stands for a name.
func (o *outliner) token(name string) string {
	n := 0
	for i, known := range o.out.Names {
		if known == name {
			n = i + 1
		}
	}
	if n == 0 {
		o.out.Names = append(o.out.Names, name)
		n = len(o.out.Names)
	}
	return tokenMark + strconv.Itoa(n) + tokenMark
}

func (o *outliner) steps(t hcl.Traversal) {
	for _, s := range t {
		switch s := s.(type) {
		case hcl.TraverseAttr:
			o.b.WriteString("." + s.Name)
		case hcl.TraverseIndex:
			o.b.WriteByte('[')
			o.value(s.Key)
			o.b.WriteByte(']')
		case hcl.TraverseSplat:
			o.b.WriteString("[*]")
		}
	}
}

// operators are the operators by what implements them.
var operators = map[*hclsyntax.Operation]string{
	hclsyntax.OpLogicalOr: "||", hclsyntax.OpLogicalAnd: "&&", hclsyntax.OpLogicalNot: "!",
	hclsyntax.OpEqual: "==", hclsyntax.OpNotEqual: "!=",
	hclsyntax.OpGreaterThan: ">", hclsyntax.OpGreaterThanOrEqual: ">=", hclsyntax.OpLessThan: "<", hclsyntax.OpLessThanOrEqual: "<=",
	hclsyntax.OpAdd: "+", hclsyntax.OpSubtract: "-", hclsyntax.OpMultiply: "*", hclsyntax.OpDivide: "/", hclsyntax.OpModulo: "%",
	hclsyntax.OpNegate: "neg",
}

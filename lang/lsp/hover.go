package lsp

import (
	"fmt"
	"slices"
	"strings"

	"github.com/ufbuild/ufbuild/lang"
)

// Hover says what stands at a place: the documentation of a setting, or the type, value and declaration of
// a name. It is nil where there is nothing to say.
func (s *Session) Hover(file string, p Position) *Hover {
	d, sp := s.docs[file], s.fresh(file)
	if d == nil || sp == nil {
		return nil
	}
	at := d.offset(p)
	if o, ok := occurrenceAt(sp.index(), sp.rel(file), at); ok {
		if text := sp.describe(&o); text != "" {
			return &Hover{Markdown: text, Range: d.place(o.Range)}
		}
	}
	if schema := schemaOf(file); schema != nil {
		return schemaHover(d, schema, at)
	}
	return nil
}

// occurrenceAt finds the name at an offset of a file. Of several it takes the one that names something.
func occurrenceAt(all []lang.Occurrence, file string, at int) (lang.Occurrence, bool) {
	best, found := lang.Occurrence{}, false
	for _, o := range all {
		if from, to := o.Range.Bytes(); o.Range.File != file || at < from || at > to {
			continue
		}
		if !found || best.Symbol.Kind == "" && o.Symbol.Kind != "" {
			best, found = o, true
		}
	}
	return best, found
}

// describe is what to show for a name.
func (sp *space) describe(o *lang.Occurrence) string {
	var b strings.Builder
	title := o.Text
	if o.Type != "" && o.Type != "any" {
		title += ": " + o.Type
	}
	var more []string
	switch {
	case o.Symbol.Kind == "function":
		for _, f := range lang.FunctionDocs() {
			if f.Name == o.Symbol.Name {
				title = f.Signature
				more = append(more, f.Doc, "`"+f.Example+"` gives `"+f.Result+"`")
			}
		}
	case o.Symbol.Kind == "file":
		return ""
	case o.Symbol.Kind != "":
		more = sp.symbolDoc(o.Symbol)
		if o.Declares && o.Symbol.Kind != "field" {
			title = symbolTitle(o.Symbol)
		}
	case lang.RootDoc(o.Text) != "":
		more = append(more, lang.RootDoc(o.Text))
	}
	if o.Doc != "" {
		more = append(more, o.Doc)
	}
	said := slices.ContainsFunc(more, func(m string) bool { return strings.HasPrefix(m, "Value: ") }) // with where it comes from
	if o.Value != "" && len(o.Value) < maxShown && !said {
		more = append(more, "Value: `"+strings.TrimSpace(o.Value)+"`")
	}
	fmt.Fprintf(&b, "```hcl\n%s\n```", title)
	for _, m := range more {
		if m != "" {
			b.WriteString("\n\n" + m)
		}
	}
	return b.String()
}

// maxShown bounds the text of a value in a hover, in bytes.
const maxShown = 400

func symbolTitle(s lang.Symbol) string {
	if s.Of != "" && s.Kind != "vars" {
		return fmt.Sprintf("%s %q of task.%s", s.Kind, s.Name, s.Of)
	}
	if s.Kind == "vars" {
		return "vars." + s.Name
	}
	return fmt.Sprintf("%s %q", s.Kind, s.Name)
}

// symbolDoc is what the campaign says of a declaration, a paragraph each.
func (sp *space) symbolDoc(s lang.Symbol) []string {
	c := sp.current
	switch s.Kind {
	case "task":
		if t, ok := c.Task(s.Name); ok {
			return taskDoc(t)
		}
	case "variable":
		for _, v := range c.Variables {
			if v.Name == s.Name {
				return []string{v.Description, "Type: `" + v.Type + "`", valueDoc(v.Value, v.Origin)}
			}
		}
	case "local":
		for _, l := range c.Locals {
			if l.Name == s.Name {
				return []string{valueDoc(l.Value(), "")}
			}
		}
	case "output":
		if t, ok := c.Task(s.Of); ok {
			return outputDoc(t, s.Name)
		}
	case "contract":
		if x, ok := c.Contract(s.Name); ok {
			doc := []string{"Kind: " + x.Kind}
			if x.Schema != "" {
				doc = append(doc, "Schema: `"+x.Schema+"`")
			}
			return doc
		}
	case "profile":
		if x, ok := c.Profile(s.Name); ok && x.Agent != nil {
			return []string{x.Description, fmt.Sprintf("Agent %s (%s), model %s, effort %s.", x.Agent.Name, x.Agent.Adapter, orNone(x.Model), orNone(x.Effort))}
		}
	case "pool":
		if x, ok := c.Pool(s.Name); ok {
			return []string{fmt.Sprintf("Slots: %d", x.Slots)}
		}
	case "group":
		if x, ok := c.Group(s.Name); ok {
			return []string{x.Label, x.Description}
		}
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "not set"
	}
	return s
}

func valueDoc(value, origin string) string {
	if value == "" || len(value) > maxShown {
		return ""
	}
	text := "Value: `" + strings.TrimSpace(value) + "`"
	if origin != "" {
		text += " (" + origin + ")"
	}
	return text
}

// taskDoc is a task in a few lines.
func taskDoc(t *lang.Task) []string {
	doc := []string{t.Description}
	line := t.Kind.String() + " task"
	if t.Group != "" {
		line += " of group." + t.Group
	}
	if n := len(t.Instances); n > 1 {
		line += fmt.Sprintf(", %d instances", n)
	}
	if t.Expand != nil {
		line += fmt.Sprintf(", expanded at run time, at most %d", t.Expand.MaxItems)
	}
	doc = append(doc, line+".")
	if len(t.Instances) > 0 {
		i := t.Instances[0]
		settings := []string{"timeout " + i.Timeout.String()}
		if i.Profile != nil {
			settings = append([]string{"profile " + i.Profile.Name}, settings...)
		}
		doc = append(doc, strings.Join(settings, ", ")+".")
	}
	var needs []string
	for _, r := range t.Refs {
		if name := "`task." + r.Task + "`"; !slices.Contains(needs, name) {
			needs = append(needs, name)
		}
	}
	if len(needs) > 0 {
		doc = append(doc, "Needs "+strings.Join(needs, ", ")+".")
	}
	return doc
}

func outputDoc(t *lang.Task, name string) []string {
	for _, i := range t.Instances {
		for n := range i.Outputs {
			o := &i.Outputs[n]
			if o.Name != name {
				continue
			}
			what := "File `" + o.Path + "`"
			if o.Path == "" {
				what = "Tree of `" + strings.Join(o.Tree, "`, `") + "`"
			}
			if o.Contract != nil {
				what += ", contract." + o.Contract.Name
			}
			return []string{o.Description, what + "."}
		}
	}
	return nil
}

// schemaHover is the documentation of the argument or block whose name is at an offset.
func schemaHover(d *document, root *lang.Block, at int) *Hover {
	start, end := d.word(at), at
	for end < len(d.text) && nameByte(d.text[end]) {
		end++
	}
	if start == end {
		return nil
	}
	name := string(d.text[start:end])
	ctx := contextAt(d.text, start, false)
	schema := schemaAt(root, ctx.path())
	if schema == nil || ctx.top().kind != inBody || ctx.body().arg != "" || len(ctx.line) > 0 {
		return nil
	}
	text := ""
	if a, ok := schema.Arg(name); ok {
		text = fmt.Sprintf("```hcl\n%s: %s\n```\n\n%s", a.Name, a.Type, argDoc(a))
		if len(a.Values) > 0 {
			text += "\n\nOne of: " + strings.Join(a.Values, ", ") + "."
		}
	} else if b, ok := schema.Block(name); ok {
		text = fmt.Sprintf("```hcl\n%s { … }\n```\n\n%s", b.Name, b.Doc)
	} else {
		return nil
	}
	return &Hover{Markdown: text, Range: d.span(start, end)}
}

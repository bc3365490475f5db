package lang

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// node is one block of a campaign file, checked against the schema.
type node struct {
	schema *Block
	name   string    // the label; "" without one
	label  hcl.Range // of the label, else of the block type
	header hcl.Range // type and labels
	whole  hcl.Range
	args   []*argument // in source order
	blocks []*node     // in source order
}

// argument is one argument that a block sets.
type argument struct {
	name      string
	nameRange hcl.Range
	spec      *Arg // nil for free arguments
	misspelt  bool // reported, and read as what it was meant to be
	*expression
}

// arg returns the argument called name, or nil.
func (n *node) arg(name string) *argument {
	if n == nil {
		return nil
	}
	for _, a := range n.args {
		if a.name == name {
			return a
		}
	}
	return nil
}

// block returns the first nested block of a type, or nil.
func (n *node) block(kind string) *node {
	if n == nil {
		return nil
	}
	for _, b := range n.blocks {
		if b.schema.Name == kind {
			return b
		}
	}
	return nil
}

// all returns the nested blocks of a type.
func (n *node) all(kind string) []*node {
	is := func(b *node) bool { return b.schema.Name == kind }
	first := slices.IndexFunc(n.blocks, is)
	if first < 0 {
		return nil
	}
	end := first + 1
	for end < len(n.blocks) && is(n.blocks[end]) {
		end++
	}
	bs := n.blocks[first:end:end] // which is all, where they stand together
	for _, b := range n.blocks[end:] {
		if is(b) {
			bs = append(bs, b)
		}
	}
	return bs
}

// readBody checks the contents of a block against its schema and returns them in source order.
func (p *problems) readBody(body *hclsyntax.Body, n *node) {
	for _, a := range sortedAttributes(body) {
		if arg := p.readArgument(a, n.schema, body.Attributes); arg != nil {
			n.args = append(n.args, arg)
		}
	}
	for _, b := range body.Blocks {
		if child := p.readBlock(b, n.schema); child != nil {
			n.blocks = append(n.blocks, child)
		}
	}
	p.missing(n)
	p.repeated(n)
}

func sortedAttributes(body *hclsyntax.Body) []*hclsyntax.Attribute {
	as := make([]*hclsyntax.Attribute, 0, len(body.Attributes))
	for _, a := range body.Attributes {
		as = append(as, a)
	}
	slices.SortFunc(as, func(a, b *hclsyntax.Attribute) int {
		return cmp.Compare(a.NameRange.Start.Byte, b.NameRange.Start.Byte)
	})
	return as
}

// readArgument reads an argument. A misspelt one is reported and then read as what it was meant to be, so
// that nothing seems to be missing because of it and its value is checked too.
func (p *problems) readArgument(a *hclsyntax.Attribute, schema *Block, beside hclsyntax.Attributes) *argument {
	name := a.Name
	spec, ok := schema.Arg(name)
	if !ok && !schema.Free {
		name = p.unknownArgument(a, schema, beside)
		if spec, ok = schema.Arg(name); !ok || beside[name] != nil {
			return nil
		}
	}
	return &argument{name: name, nameRange: a.NameRange, spec: spec, misspelt: name != a.Name, expression: analyze(a.Expr)}
}

// unknownArgument reports an argument that is not there and returns the name that was meant, or "".
func (p *problems) unknownArgument(a *hclsyntax.Attribute, schema *Block, beside hclsyntax.Attributes) string {
	if p.meantRetry(a, schema) {
		return ""
	}
	if b, ok := schema.Block(a.Name); ok {
		n := p.error("UF1106", a.NameRange, "%q is a block: remove the equals sign.", a.Name)
		if b.Labels > 0 {
			n.hint("Blocks are written %s.", b.form(a.Name))
		}
		return ""
	}
	n := p.error("UF1101", a.NameRange, "An argument named %q is not expected here.", a.Name)
	if hint, here := foreignHint(a.Name, schema); here {
		n.hint("%s", hint)
		return ""
	}
	names := append(schema.argNames(), schema.blockNames()...)
	meant := n.meant(a.NameRange, a.Name, names).replacement()
	if beside[meant] != nil {
		n.Fix = nil // it would be set twice
	}
	if b, ok := schema.Block(meant); ok {
		n.Fix = nil // another name does not make it a block
		n.hint("Blocks are written %s.", b.form(meant))
	}
	if meant == "" && len(names) > 0 && len(names) <= listedNames {
		n.hint("It takes %s.", orList(names))
	}
	return meant
}

// meantRetry reports an argument that says how often to try, which other tools have where a retry block stands
// here. By its letters alone retries would be taken for requires.
func (p *problems) meantRetry(a *hclsyntax.Attribute, schema *Block) bool {
	if _, ok := schema.Block("retry"); !ok {
		return false
	}
	if !slices.Contains([]string{"retry", "retries", "max_retries", "attempts", "max_attempts", "tries"}, a.Name) {
		return false
	}
	tries := "2"
	switch v, literal := literalValue(a.Expr); {
	case literal && !v.IsNull() && v.Type() == cty.Number:
		tries = v.AsBigFloat().Text('g', 12)
	case a.Name == "retry":
		return false // of an object: only the equals sign is too much
	}
	p.error("UF1101", a.NameRange, "An argument named %q is not expected here.", a.Name).
		because("attempts counts every try, the first one too.").
		hint("write a block: retry { attempts = %s }", tries)
	return true
}

// readBlock reads a block nested in a block of the given schema; nil when its type is unknown and not even
// misspelt.
func (p *problems) readBlock(b *hclsyntax.Block, parent *Block) *node {
	schema, ok := parent.Block(b.Type)
	if !ok {
		if schema, ok = parent.Block(p.unknownBlock(b, parent)); !ok {
			return nil
		}
	}
	n := &node{schema: schema, label: b.TypeRange, header: b.DefRange(), whole: hcl.RangeBetween(b.TypeRange, b.CloseBraceRange)}
	if !p.readLabels(b, n) {
		return nil
	}
	p.readBody(b.Body, n)
	return n
}

// unknownBlock reports a block that is not there and returns the type that was meant, or "".
func (p *problems) unknownBlock(b *hclsyntax.Block, parent *Block) string {
	if _, ok := parent.Arg(b.Type); ok {
		p.error("UF1106", b.TypeRange, "%q is an argument: write %s = {…}.", b.Type, b.Type)
		return ""
	}
	if parent == rootSchema && slices.Contains(futureBlocks, b.Type) {
		p.error("UF1102", b.TypeRange, "Blocks of type %q are reserved for later.", b.Type)
		return ""
	}
	d := p.error("UF1102", b.TypeRange, "Blocks of type %q are not expected here.", b.Type)
	if hint, here := foreignHint(b.Type, parent); here {
		d.hint("%s", hint)
		return ""
	}
	return d.meant(b.TypeRange, b.Type, append(parent.blockNames(), parent.argNames()...)).replacement()
}

func (p *problems) readLabels(b *hclsyntax.Block, n *node) bool {
	want := n.schema.Labels
	if len(b.Labels) != want {
		place := b.DefRange()
		if len(b.LabelRanges) > want {
			place = b.LabelRanges[want]
		}
		if want == 1 {
			p.error("UF1107", place, "%s needs one name: %s.", b.Type, n.schema.form(b.Type))
		} else {
			d := p.error("UF1107", place, "%s takes no name: %s.", b.Type, n.schema.form(b.Type))
			if _, named := n.schema.Arg("name"); named {
				d.hint("Write name = %q in the block.", b.Labels[0])
			}
		}
		return false
	}
	if want == 1 {
		n.name, n.label = b.Labels[0], b.LabelRanges[0]
	}
	return true
}

// missing reports required arguments and blocks that are not set.
func (p *problems) missing(n *node) {
	for i := range n.schema.Args {
		a := &n.schema.Args[i]
		if a.Required && n.arg(a.Name) == nil {
			p.error("UF1103", n.header, "The argument %q is required.", a.Name)
		}
	}
}

// repeated reports blocks that may stand only once.
func (p *problems) repeated(n *node) {
	for _, s := range n.schema.Blocks {
		if s.Many || n.schema == rootSchema {
			continue
		}
		if bs := n.all(s.Name); len(bs) > 1 {
			for _, b := range bs[1:] {
				p.error("UF1108", b.header, "A %s has at most one %s block.", n.schema.Name, s.Name).
					also(bs[0].header, "the first is here")
			}
		}
	}
}

// replacement is the name that a diagnostic offers for a wrong one, or "".
func (d *Diagnostic) replacement() string {
	if d.Fix == nil {
		return ""
	}
	return d.Fix.Text
}

package lang

import (
	"bytes"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"
)

// jsonReader turns the JSON form of a campaign file into the syntax tree of the native form, so that
// everything after it, references and types included, is checked alike.
type jsonReader struct {
	name  string
	src   []byte
	probs *problems
}

func parseJSON(b []byte, name string, p *problems) *hclsyntax.Body {
	whole := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
	defer p.recovered(whole)
	r := jsonReader{name, b, p}
	if body := r.parse(whole); body != nil {
		return r.body(body, rootSchema)
	}
	return nil
}

// parse reads what a JSON file says. It returns nil when that is no object, nor a list of objects.
func (r *jsonReader) parse(whole hcl.Range) hcl.Body {
	start := hcl.InitialPos
	text, marked := bytes.CutPrefix(r.src, byteOrderMark)
	if marked { // as in HCL's own syntax, it is no part of the text
		start.Byte = len(byteOrderMark)
	}
	f, ds := json.ParseWithStartPos(text, r.name, start)
	for i, d := range ds {
		if i > 0 && d.Summary == "Root value must be object" {
			continue // nobody knows what it was to be
		}
		summary, rest := sentence(d)
		r.probs.error("UF1006", subjectOf(d, whole), "%s", syntaxSentence(d, summary)).Detail = rest
	}
	if ds.HasErrors() || f == nil {
		return nil
	}
	return f.Body
}

// body converts an object that stands for a block of the given schema.
func (r *jsonReader) body(b hcl.Body, schema *Block) *hclsyntax.Body {
	out := &hclsyntax.Body{Attributes: hclsyntax.Attributes{}, SrcRange: b.MissingItemRange(), EndRange: b.MissingItemRange()}
	want := &hcl.BodySchema{}
	for _, n := range schema.Blocks {
		want.Blocks = append(want.Blocks, hcl.BlockHeaderSchema{Type: n.Name, LabelNames: make([]string, n.Labels)})
	}
	content, rest, ds := b.PartialContent(want)
	r.report(ds)
	for _, blk := range content.Blocks {
		if slices.Contains(blk.Labels, "//") {
			continue // a comment among names
		}
		n, _ := schema.Block(blk.Type)
		out.Blocks = append(out.Blocks, r.block(blk, n))
	}
	attrs, ds := rest.JustAttributes()
	r.report(ds)
	for name, a := range attrs {
		if name == "//" {
			continue // a comment
		}
		spec, _ := schema.Arg(name)
		out.Attributes[name] = &hclsyntax.Attribute{
			Name: name, NameRange: withoutQuotes(a.NameRange, name), SrcRange: a.Range, EqualsRange: a.NameRange,
			Expr: r.expression(a.Expr, spec),
		}
	}
	return out
}

func (r *jsonReader) block(b *hcl.Block, schema *Block) *hclsyntax.Block {
	return &hclsyntax.Block{
		Type: b.Type, Labels: b.Labels, Body: r.body(b.Body, schema),
		TypeRange: b.TypeRange, LabelRanges: b.LabelRanges,
		OpenBraceRange: b.DefRange, CloseBraceRange: b.Body.MissingItemRange(),
	}
}

func (r *jsonReader) report(ds hcl.Diagnostics) {
	for _, d := range ds {
		where := subjectOf(d, hcl.Range{Filename: r.name})
		if isComment(r.src[:min(where.Start.Byte, len(r.src))]) {
			continue // where a name could stand, HCL takes what is said there for a block
		}
		if m := setBefore().FindStringSubmatch(d.Detail); m != nil {
			r.probs.setTwice(where, r.src, m)
			continue
		}
		code := syntaxCodes[d.Summary]
		if code == "" {
			code = "UF1006"
		}
		summary, rest := sentence(d)
		r.probs.error(code, where, "%s", summary).Detail = rest
	}
}

// isComment reports whether what stands behind a text is the value of "//".
func isComment(before []byte) bool {
	const blanks = " \t\r\n"
	name, ok := bytes.CutSuffix(bytes.TrimRight(before, blanks), []byte(":"))
	return ok && bytes.HasSuffix(bytes.TrimRight(name, blanks), []byte(`"//"`))
}

// expression converts a JSON value. Strings are templates, or references where the argument takes one.
func (r *jsonReader) expression(e hcl.Expression, spec *Arg) hclsyntax.Expression {
	if pairs, ds := hcl.ExprMap(e); !ds.HasErrors() {
		o := &hclsyntax.ObjectConsExpr{SrcRange: e.Range(), OpenRange: e.StartRange()}
		for _, p := range pairs {
			key := &hclsyntax.ObjectConsKeyExpr{Wrapped: r.expression(p.Key, nil), ForceNonLiteral: true}
			o.Items = append(o.Items, hclsyntax.ObjectConsItem{KeyExpr: key, ValueExpr: r.expression(p.Value, nil)})
		}
		return o
	}
	if list, ds := hcl.ExprList(e); !ds.HasErrors() {
		t := &hclsyntax.TupleConsExpr{SrcRange: e.Range(), OpenRange: e.StartRange()}
		for _, x := range list {
			t.Exprs = append(t.Exprs, r.expression(x, spec))
		}
		return t
	}
	v, ds := e.Value(nil)
	r.report(ds)
	if v.Type() != cty.String || v.IsNull() || !v.IsKnown() {
		return &hclsyntax.LiteralValueExpr{Val: v, SrcRange: e.Range()}
	}
	return r.text(v.AsString(), e.Range(), spec)
}

// text parses the text of a JSON string; positions are right as long as it holds no escapes.
func (r *jsonReader) text(s string, where hcl.Range, spec *Arg) hclsyntax.Expression {
	start := where.Start
	start.Byte++
	start.Column++
	literal := &hclsyntax.LiteralValueExpr{Val: cty.StringVal(s), SrcRange: where}
	if _, depth := tooDeep([]byte(s), r.name); depth > 0 {
		r.probs.error("UF1004", where, "%s", nestedTooDeep(depth))
		return literal
	}
	var x hclsyntax.Expression
	var ds hcl.Diagnostics
	switch {
	case takesReference(spec) && !strings.Contains(s, "${"):
		x, ds = hclsyntax.ParseExpression([]byte(s), r.name, start)
	case !strings.Contains(s, "${") && !strings.Contains(s, "%{"):
		return literal
	case len(s) > maxPromptFile:
		r.probs.error("UF5003", where, "This text is over 256 KiB.").hint("Put large text into an input file and give its path.")
		return literal
	default:
		x, ds = hclsyntax.ParseTemplate([]byte(s), r.name, start)
	}
	if ds.HasErrors() {
		r.probs.syntaxProblems(ds, where, []byte(s), false)
		return literal
	}
	return x
}

// takesReference reports whether a string for this argument is a reference or a type, not a text.
func takesReference(spec *Arg) bool {
	if spec == nil {
		return false
	}
	return spec.Phase == Static || spec.Type == "profile" || spec.Type == "pool" || spec.Type == "type"
}

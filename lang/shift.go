package lang

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// shift copies syntax trees to another place of the same file. Trees are shared between campaigns, so
// their positions are never changed in place. Columns stay: what is moved starts at the beginning of a line.
type shift struct {
	lines, bytes int
	items        map[*hclsyntax.AnonSymbolExpr]*hclsyntax.AnonSymbolExpr // of splat expressions, by the old one
}

func newShift(from, to hcl.Pos) *shift {
	return &shift{lines: to.Line - from.Line, bytes: to.Byte - from.Byte, items: map[*hclsyntax.AnonSymbolExpr]*hclsyntax.AnonSymbolExpr{}}
}

func (s *shift) at(r hcl.Range) hcl.Range {
	r.Start.Line += s.lines
	r.Start.Byte += s.bytes
	r.End.Line += s.lines
	r.End.Byte += s.bytes
	return r
}

func (s *shift) body(b *hclsyntax.Body) *hclsyntax.Body {
	n := &hclsyntax.Body{Attributes: make(hclsyntax.Attributes, len(b.Attributes)), SrcRange: s.at(b.SrcRange), EndRange: s.at(b.EndRange)}
	for name, a := range b.Attributes {
		n.Attributes[name] = &hclsyntax.Attribute{
			Name: a.Name, Expr: s.expr(a.Expr), SrcRange: s.at(a.SrcRange), NameRange: s.at(a.NameRange), EqualsRange: s.at(a.EqualsRange),
		}
	}
	if b.Blocks != nil {
		n.Blocks = make(hclsyntax.Blocks, 0, len(b.Blocks))
	}
	for _, b := range b.Blocks {
		n.Blocks = append(n.Blocks, s.block(b))
	}
	return n
}

func (s *shift) block(b *hclsyntax.Block) *hclsyntax.Block {
	n := &hclsyntax.Block{
		Type: b.Type, Labels: b.Labels, Body: s.body(b.Body),
		TypeRange: s.at(b.TypeRange), OpenBraceRange: s.at(b.OpenBraceRange), CloseBraceRange: s.at(b.CloseBraceRange),
	}
	for _, r := range b.LabelRanges {
		n.LabelRanges = append(n.LabelRanges, s.at(r))
	}
	return n
}

func (s *shift) exprs(es []hclsyntax.Expression) []hclsyntax.Expression {
	if es == nil {
		return nil
	}
	ns := make([]hclsyntax.Expression, len(es))
	for i, e := range es {
		ns[i] = s.expr(e)
	}
	return ns
}

// expr copies an expression; nil stays nil.
func (s *shift) expr(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case nil:
		return nil
	case *hclsyntax.LiteralValueExpr:
		return &hclsyntax.LiteralValueExpr{Val: e.Val, SrcRange: s.at(e.SrcRange)}
	case *hclsyntax.TemplateExpr:
		return &hclsyntax.TemplateExpr{Parts: s.exprs(e.Parts), SrcRange: s.at(e.SrcRange)}
	case *hclsyntax.TemplateWrapExpr:
		return &hclsyntax.TemplateWrapExpr{Wrapped: s.expr(e.Wrapped), SrcRange: s.at(e.SrcRange)}
	case *hclsyntax.TemplateJoinExpr:
		return &hclsyntax.TemplateJoinExpr{Tuple: s.expr(e.Tuple)}
	case *hclsyntax.ScopeTraversalExpr:
		return &hclsyntax.ScopeTraversalExpr{Traversal: s.steps(e.Traversal), SrcRange: s.at(e.SrcRange)}
	case *hclsyntax.RelativeTraversalExpr:
		return &hclsyntax.RelativeTraversalExpr{Source: s.expr(e.Source), Traversal: s.steps(e.Traversal), SrcRange: s.at(e.SrcRange)}
	case *hclsyntax.TupleConsExpr:
		return &hclsyntax.TupleConsExpr{Exprs: s.exprs(e.Exprs), SrcRange: s.at(e.SrcRange), OpenRange: s.at(e.OpenRange)}
	case *hclsyntax.ObjectConsExpr:
		return s.object(e)
	case *hclsyntax.ObjectConsKeyExpr:
		return &hclsyntax.ObjectConsKeyExpr{Wrapped: s.expr(e.Wrapped), ForceNonLiteral: e.ForceNonLiteral}
	case *hclsyntax.AnonSymbolExpr:
		return s.item(e)
	}
	return s.compound(e)
}

func (s *shift) compound(e hclsyntax.Expression) hclsyntax.Expression {
	switch e := e.(type) {
	case *hclsyntax.FunctionCallExpr:
		return &hclsyntax.FunctionCallExpr{
			Name: e.Name, Args: s.exprs(e.Args), ExpandFinal: e.ExpandFinal,
			NameRange: s.at(e.NameRange), OpenParenRange: s.at(e.OpenParenRange), CloseParenRange: s.at(e.CloseParenRange),
		}
	case *hclsyntax.ConditionalExpr:
		return &hclsyntax.ConditionalExpr{
			Condition: s.expr(e.Condition), TrueResult: s.expr(e.TrueResult), FalseResult: s.expr(e.FalseResult), SrcRange: s.at(e.SrcRange),
		}
	case *hclsyntax.BinaryOpExpr:
		return &hclsyntax.BinaryOpExpr{LHS: s.expr(e.LHS), Op: e.Op, RHS: s.expr(e.RHS), SrcRange: s.at(e.SrcRange)}
	case *hclsyntax.UnaryOpExpr:
		return &hclsyntax.UnaryOpExpr{Op: e.Op, Val: s.expr(e.Val), SrcRange: s.at(e.SrcRange), SymbolRange: s.at(e.SymbolRange)}
	case *hclsyntax.ParenthesesExpr:
		return &hclsyntax.ParenthesesExpr{Expression: s.expr(e.Expression), SrcRange: s.at(e.SrcRange)}
	case *hclsyntax.IndexExpr:
		return &hclsyntax.IndexExpr{
			Collection: s.expr(e.Collection), Key: s.expr(e.Key),
			SrcRange: s.at(e.SrcRange), OpenRange: s.at(e.OpenRange), BracketRange: s.at(e.BracketRange),
		}
	case *hclsyntax.ForExpr:
		return &hclsyntax.ForExpr{
			KeyVar: e.KeyVar, ValVar: e.ValVar, CollExpr: s.expr(e.CollExpr), KeyExpr: s.expr(e.KeyExpr), ValExpr: s.expr(e.ValExpr),
			CondExpr: s.expr(e.CondExpr), Group: e.Group,
			SrcRange: s.at(e.SrcRange), OpenRange: s.at(e.OpenRange), CloseRange: s.at(e.CloseRange),
		}
	case *hclsyntax.SplatExpr:
		item := s.item(e.Item) // before Each, which refers to it
		return &hclsyntax.SplatExpr{Source: s.expr(e.Source), Each: s.expr(e.Each), Item: item, SrcRange: s.at(e.SrcRange), MarkerRange: s.at(e.MarkerRange)}
	}
	bug("a syntax tree without errors holds a %T", e)
	return nil
}

func (s *shift) object(e *hclsyntax.ObjectConsExpr) hclsyntax.Expression {
	n := &hclsyntax.ObjectConsExpr{SrcRange: s.at(e.SrcRange), OpenRange: s.at(e.OpenRange)}
	for _, it := range e.Items {
		n.Items = append(n.Items, hclsyntax.ObjectConsItem{KeyExpr: s.expr(it.KeyExpr), ValueExpr: s.expr(it.ValueExpr)})
	}
	return n
}

// item copies the element of a splat expression, the same one for everything that refers to it.
func (s *shift) item(e *hclsyntax.AnonSymbolExpr) *hclsyntax.AnonSymbolExpr {
	n, ok := s.items[e]
	if !ok {
		n = &hclsyntax.AnonSymbolExpr{SrcRange: s.at(e.SrcRange)}
		s.items[e] = n
	}
	return n
}

func (s *shift) steps(t hcl.Traversal) hcl.Traversal {
	n := make(hcl.Traversal, len(t))
	for i, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			step.SrcRange = s.at(step.SrcRange)
			n[i] = step
		case hcl.TraverseAttr:
			step.SrcRange = s.at(step.SrcRange)
			n[i] = step
		case hcl.TraverseIndex:
			step.SrcRange = s.at(step.SrcRange)
			n[i] = step
		case hcl.TraverseSplat:
			step.SrcRange = s.at(step.SrcRange)
			n[i] = step
		}
	}
	return n
}

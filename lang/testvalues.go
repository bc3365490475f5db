package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Bounds of what a failed condition shows: a prompt may be a page.
const (
	maxShownValue  = 240 // characters of a value
	maxShownSource = 60  // characters of the expression it is of
)

// values says what the parts of a condition that does not hold came to, so that nobody has to guess. What is written out
// in the condition can be read there.
func (r *testRunner) values(x *expression) string {
	s := &shownValues{r: r, ctx: r.context(x), seen: map[string]bool{}}
	s.explain(x.syntax)
	return strings.Join(s.said, "\n")
}

// shownValues gathers values of parts of one condition.
type shownValues struct {
	r    *testRunner
	ctx  *hcl.EvalContext
	seen map[string]bool
	said []string
}

// explain goes down to what made the condition false.
func (s *shownValues) explain(e hclsyntax.Expression) {
	switch e := e.(type) {
	case *hclsyntax.ParenthesesExpr:
		s.explain(e.Expression)
	case *hclsyntax.UnaryOpExpr:
		s.explain(e.Val)
	case *hclsyntax.FunctionCallExpr:
		if _, asks := questions[e.Name]; asks {
			s.show(e)
			return
		}
		for _, arg := range e.Args {
			s.show(arg)
		}
	case *hclsyntax.BinaryOpExpr:
		switch {
		case e.Op == hclsyntax.OpLogicalAnd && s.holds(e.LHS):
			s.explain(e.RHS)
		case e.Op == hclsyntax.OpLogicalAnd:
			s.explain(e.LHS)
		case e.Op == hclsyntax.OpLogicalOr:
			s.explain(e.LHS)
			s.explain(e.RHS)
		default:
			s.show(e.LHS)
			s.show(e.RHS)
		}
	default:
		s.show(e)
	}
}

func (s *shownValues) holds(e hclsyntax.Expression) bool {
	v, ds := e.Value(s.ctx)
	b, ok := convertTo(plain(v), cty.Bool)
	return !ds.HasErrors() && ok && b.IsKnown() && !b.IsNull() && b.True()
}

// show says the value of an expression that is not written out.
func (s *shownValues) show(e hclsyntax.Expression) {
	if len(e.Variables()) == 0 && !calls(e) {
		return
	}
	v, ds := e.Value(s.ctx)
	if ds.HasErrors() || !v.IsWhollyKnown() || isSecret(v) {
		return
	}
	if !e.Range().CanSliceBytes(s.r.source) {
		return
	}
	src := oneLine(string(e.Range().SliceBytes(s.r.source)))
	if s.seen[src] {
		return
	}
	s.seen[src] = true
	value := string(hclwrite.TokensForValue(plain(v)).Bytes())
	s.said = append(s.said, cutText(src, maxShownSource)+" is "+cutText(oneLine(value), maxShownValue)+".")
}

// calls reports whether an expression calls a function.
func calls(e hclsyntax.Expression) bool {
	found := false
	_ = hclsyntax.VisitAll(e, func(n hclsyntax.Node) hcl.Diagnostics {
		if _, ok := n.(*hclsyntax.FunctionCallExpr); ok {
			found = true
		}
		return nil
	})
	return found
}

// oneLine joins the lines of an expression. Those of a text in a value are escaped, so they stay.
func oneLine(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, " ")
}

// cutText cuts a text that is too long to be shown.
func cutText(s string, limit int) string {
	if r := []rune(s); len(r) > limit {
		return string(r[:limit]) + "…"
	}
	return s
}

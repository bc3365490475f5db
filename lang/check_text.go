package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// textOf is how an expression is written, for messages.
func (c *checker) textOf(e hclsyntax.Expression) string {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return traversalText(e.Traversal)
	case *hclsyntax.RelativeTraversalExpr:
		return c.textOf(e.Source) + traversalText(e.Traversal)
	case *hclsyntax.IndexExpr:
		return c.textOf(e.Collection) + "[…]"
	case *hclsyntax.ParenthesesExpr:
		return "(…)"
	case *hclsyntax.FunctionCallExpr:
		return e.Name + "(…)"
	case *hclsyntax.AnonSymbolExpr:
		return "The element"
	case *hclsyntax.SplatExpr:
		return c.textOf(e.Source) + "[*]"
	}
	return "This"
}

func traversalText(t hcl.Traversal) string {
	var b strings.Builder
	for _, s := range t {
		switch s := s.(type) {
		case hcl.TraverseRoot:
			b.WriteString(s.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + s.Name)
		case hcl.TraverseIndex:
			b.WriteString("[" + strings.TrimSpace(valueText(s.Key)) + "]")
		}
	}
	return b.String()
}

// rootKey names what a guard must have asked: task.NAME, or a name bound by a for expression.
func (c *checker) rootKey(e hclsyntax.Expression) string {
	switch e := e.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		root := e.Traversal.RootName()
		if isTaskRoot(root) && len(e.Traversal) > 1 {
			if name, ok := stepName(e.Traversal[1]); ok {
				return root + "." + name
			}
		}
		return root
	case *hclsyntax.RelativeTraversalExpr:
		return c.rootKey(e.Source)
	case *hclsyntax.IndexExpr:
		return c.rootKey(e.Collection)
	case *hclsyntax.ParenthesesExpr:
		return c.rootKey(e.Expression)
	}
	return ""
}

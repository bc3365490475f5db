package lang

import (
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// maxIncludes bounds what comes into one prompt; far over what a person keeps apart.
const maxIncludes = 1000

// inlineIncludes replaces ${include("x.md")} by the template of that file, so that it is checked and
// rendered with the names of the place where it stands.
func (l *loader) inlineIncludes(x hclsyntax.Expression, dir string, within []string) hclsyntax.Expression {
	switch e := x.(type) {
	case *hclsyntax.TemplateWrapExpr:
		if c, ok := includeCall(e.Wrapped); ok {
			return &hclsyntax.TemplateExpr{Parts: []hclsyntax.Expression{l.includedTemplate(c, dir, within)}, SrcRange: e.SrcRange}
		}
		e.Wrapped = l.inlineIncludes(e.Wrapped, dir, within)
	case *hclsyntax.TemplateExpr:
		for i, part := range e.Parts {
			if c, ok := includeCall(part); ok {
				e.Parts[i] = l.includedTemplate(c, dir, within)
				continue
			}
			e.Parts[i] = l.inlineIncludes(part, dir, within)
		}
	case *hclsyntax.TemplateJoinExpr:
		e.Tuple = l.inlineIncludes(e.Tuple, dir, within)
	case *hclsyntax.ForExpr:
		e.ValExpr = l.inlineIncludes(e.ValExpr, dir, within)
	case *hclsyntax.ConditionalExpr:
		e.TrueResult = l.inlineIncludes(e.TrueResult, dir, within)
		e.FalseResult = l.inlineIncludes(e.FalseResult, dir, within)
	case *hclsyntax.ParenthesesExpr:
		e.Expression = l.inlineIncludes(e.Expression, dir, within)
	}
	return x
}

// includeCall returns the call when e is include(…).
func includeCall(e hclsyntax.Expression) (*hclsyntax.FunctionCallExpr, bool) {
	c, ok := e.(*hclsyntax.FunctionCallExpr)
	return c, ok && c.Name == "include"
}

// includedTemplate returns the template that a call of include names; an empty text after a report.
func (l *loader) includedTemplate(c *hclsyntax.FunctionCallExpr, dir string, within []string) hclsyntax.Expression {
	nothing := &hclsyntax.TemplateExpr{Parts: []hclsyntax.Expression{
		&hclsyntax.LiteralValueExpr{Val: cty.StringVal(""), SrcRange: c.Range()},
	}, SrcRange: c.Range()}
	if len(c.Args) != 1 || c.ExpandFinal {
		l.error("UF2204", c.NameRange, "include takes one argument: the path of a template.")
		return nothing
	}
	v, ok := literalValue(c.Args[0])
	if !ok || v.Type() != cty.String || v.IsNull() {
		l.error("UF5002", c.Args[0].Range(), "include takes a path that is written out.")
		return nothing
	}
	if x := l.includeFile(c, v.AsString(), dir, within); x != nil {
		return x
	}
	return nothing
}

func (l *loader) includeFile(c *hclsyntax.FunctionCallExpr, name, dir string, within []string) hclsyntax.Expression {
	a := &argument{name: "include", nameRange: c.NameRange, expression: &expression{syntax: c.Args[0], place: c.Args[0].Range()}}
	if !cleanPath(name) {
		l.error("UF5002", a.place, "include is given %q; it must be a clean path: no \"..\", no leading \"/\".", name)
		return nil
	}
	file := l.includePath(name, dir)
	if slices.Contains(within, file) {
		l.error("UF5005", a.place, "%s includes itself: %s.", file, strings.Join(append(within, file), " -> "))
		return nil
	}
	if l.included[within[0]]++; l.included[within[0]] > maxIncludes {
		l.error("UF5003", hcl.Range{Filename: within[0], Start: hcl.InitialPos, End: hcl.InitialPos},
			"%s includes more than %d files, each counted as often as it is included.", within[0], maxIncludes).
			because("Files that include each other twice at every step would make a prompt of any size.")
		return nil
	}
	l.ev.includes = append(l.ev.includes, includeUse{place: a.place, file: file, root: within[0]})
	src, err := l.ev.src.read(file, maxPromptFile)
	if err != nil {
		if d := l.missingFile("UF5001", a, file, err); d != nil && d.Fix == nil && d.Hint == "" {
			d.Hint = "It is looked for beside the file that includes it, then below prompts/, then below the campaign directory."
		}
		return nil
	}
	body, start, ok := l.frontMatter(file, src)
	if !ok {
		return nil
	}
	x := l.template(file, body, start, within)
	if x == nil {
		return nil
	}
	if t, ok := x.syntax.(*hclsyntax.TemplateExpr); ok {
		return t
	}
	return &hclsyntax.TemplateExpr{Parts: []hclsyntax.Expression{x.syntax}, SrcRange: hcl.RangeBetween(c.Range(), c.Range())}
}

// includeUse is one call of include.
type includeUse struct {
	place hcl.Range // of the path
	file  string    // slash path below the root
	root  string    // the prompt into which it comes in the end
}

// includePath finds an included file: beside the file that includes it, below prompts/, or below the
// campaign root.
func (l *loader) includePath(name, dir string) string {
	for _, p := range []string{path.Join(dir, name), path.Join("prompts", name)} {
		if l.ev.src.exists(p) {
			return p
		}
	}
	return name
}

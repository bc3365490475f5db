package lsp

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/ufbuild/ufbuild/lang"
	"github.com/ufbuild/ufbuild/lang/format"
)

// Symbols returns the blocks of a campaign file with what is in them.
func (s *Session) Symbols(file string) []DocumentSymbol {
	d := s.docs[file]
	if d == nil || !strings.HasSuffix(file, ".hcl") || lang.CheckSyntax(file, d.text).HasErrors() {
		return nil
	}
	f, _ := hclsyntax.ParseConfig(d.text, file, hcl.InitialPos)
	body, ok := f.Body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	return blockSymbols(d, body)
}

// symbolKinds are the pictures that editors show for blocks.
var symbolKinds = map[string]int{
	"task": SymbolFunction, "group": SymbolModule, "variable": SymbolVariable, "locals": SymbolConstant, "contract": SymbolStruct,
	"output": SymbolProperty, "input": SymbolProperty,
}

func blockSymbols(d *document, body *hclsyntax.Body) []DocumentSymbol {
	var list []DocumentSymbol
	for _, b := range body.Blocks {
		one := DocumentSymbol{Name: b.Type, Kind: symbolKinds[b.Type], Range: hclSpan(d, hcl.RangeBetween(b.TypeRange, b.CloseBraceRange)), SelectionRange: hclSpan(d, b.TypeRange)}
		if one.Kind == 0 {
			one.Kind = SymbolObject
		}
		if len(b.Labels) > 0 && b.Labels[0] != "" {
			one.Name, one.Detail, one.SelectionRange = b.Labels[0], b.Type, hclSpan(d, b.LabelRanges[0])
		}
		if b.Type == "locals" {
			one.Children = localSymbols(d, b.Body)
		} else {
			one.Children = blockSymbols(d, b.Body)
		}
		list = append(list, one)
	}
	return list
}

func localSymbols(d *document, body *hclsyntax.Body) []DocumentSymbol {
	var list []DocumentSymbol
	for _, a := range body.Attributes {
		list = append(list, DocumentSymbol{Name: a.Name, Kind: SymbolConstant, Range: hclSpan(d, a.SrcRange), SelectionRange: hclSpan(d, a.NameRange)})
	}
	slices.SortFunc(list, func(a, b DocumentSymbol) int {
		if a.Range.Start.Line != b.Range.Start.Line {
			return a.Range.Start.Line - b.Range.Start.Line
		}
		return a.Range.Start.Character - b.Range.Start.Character
	})
	return list
}

func hclSpan(d *document, r hcl.Range) Range { return d.span(r.Start.Byte, r.End.Byte) }

// WorkspaceSymbols returns the declarations of the open campaigns whose names hold a text.
func (s *Session) WorkspaceSymbols(query string) []WorkspaceSymbol {
	var list []WorkspaceSymbol
	for _, key := range slices.Sorted(maps.Keys(s.spaces)) {
		sp := s.spaces[key]
		if sp.behind {
			s.load(sp)
		}
		for _, o := range sp.index() {
			if o.Declares && o.Symbol.Of == "" && strings.Contains(o.Symbol.Name, query) {
				kind := symbolKinds[o.Symbol.Kind]
				if kind == 0 {
					kind = SymbolObject
				}
				list = append(list, WorkspaceSymbol{Name: o.Symbol.Name, Kind: kind, Location: s.location(sp, o.Range)})
			}
		}
	}
	return list
}

// Format returns the edits that give a campaign file its canonical form; nothing for broken files and
// prompts.
func (s *Session) Format(file string) []TextEdit {
	d := s.docs[file]
	if d == nil || !strings.HasSuffix(file, ".hcl") && !strings.HasSuffix(file, ".hcl.json") {
		return nil
	}
	out, ds := format.Format(file, d.text)
	if ds.HasErrors() || string(out) == string(d.text) {
		return nil
	}
	return []TextEdit{{Range: d.span(0, len(d.text)), NewText: string(out)}}
}

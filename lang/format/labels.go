package format

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// parseBody returns the syntax tree of text that is known to be well formed.
func parseBody(name string, src []byte) *hclsyntax.Body {
	file, ds := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if ds.HasErrors() {
		panic("BUG: text that was well formed is no longer: " + ds.Error())
	}
	return file.Body.(*hclsyntax.Body)
}

// quoteLabels returns src with every label of every block in quotes.
func quoteLabels(src []byte, body *hclsyntax.Body) []byte {
	var out []byte
	done := 0
	forEachLabel(body, func(r hcl.Range) {
		label := r.SliceBytes(src)
		if len(label) == 0 || label[0] == '"' {
			return
		}
		out = append(out, src[done:r.Start.Byte]...)
		out = append(append(append(out, '"'), label...), '"')
		done = r.End.Byte
	})
	return append(out, src[done:]...)
}

// forEachLabel calls f for all labels in the order of the text.
func forEachLabel(body *hclsyntax.Body, f func(hcl.Range)) {
	for _, b := range body.Blocks {
		for _, r := range b.LabelRanges {
			f(r)
		}
		forEachLabel(b.Body, f)
	}
}

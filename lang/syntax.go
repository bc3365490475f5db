package lang

import (
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// CheckSyntax reports what is wrong with the syntax of one campaign file, without looking at what it
// means. The name decides the syntax (JSON if it ends in .json) and stands in the diagnostics. Text
// without errors is safe to give to HCL's own parser: it is UTF-8 and not nested too deep.
func CheckSyntax(name string, src []byte) Diagnostics {
	return parseAlone(name, src).probs.all()
}

// parseAlone parses one campaign file by itself.
func parseAlone(name string, src []byte) *parsedFile {
	f := &parsedFile{name: name}
	whole := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
	switch {
	case !f.acceptable(src, whole):
	case strings.HasSuffix(name, ".json"):
		f.body = parseJSON(src, name, &f.probs)
	default:
		f.parseNative(src, whole, nil)
	}
	return f
}

// OutOf returns where the campaign block of one campaign file says that outputs are put, a slash path from the file's directory;
// "" when the file does not say it in plain text. It looks no further than syntax, so a file may be full of mistakes.
func OutOf(name string, src []byte) string {
	f := parseAlone(name, src)
	if f.body == nil {
		return ""
	}
	for _, b := range f.body.Blocks {
		a := b.Body.Attributes["out"]
		if b.Type != "campaign" || a == nil {
			continue
		}
		if v, ds := a.Expr.Value(nil); !ds.HasErrors() && v.Type() == cty.String && v.IsKnown() && !v.IsNull() {
			return path.Clean(v.AsString())
		}
	}
	return ""
}

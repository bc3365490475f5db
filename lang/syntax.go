package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// CheckSyntax reports what is wrong with the syntax of one campaign file, without looking at what it
// means. The name decides the syntax (JSON if it ends in .json) and stands in the diagnostics. Text
// without errors is safe to give to HCL's own parser: it is UTF-8 and not nested too deep.
func CheckSyntax(name string, src []byte) Diagnostics {
	f := &parsedFile{name: name}
	whole := hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos}
	if !f.acceptable(src, whole) {
		return f.probs.all()
	}
	if strings.HasSuffix(name, ".json") {
		parseJSON(src, name, &f.probs)
	} else {
		f.parseNative(src, whole, nil)
	}
	return f.probs.all()
}

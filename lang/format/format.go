// Package format prints campaign files in their one canonical form.
//
// # The nouns
//
// [Format] takes the bytes of a campaign file and returns them formatted: indented by two, arguments
// aligned, labels quoted, one blank line between top-level blocks, never two blank lines in a row,
// line ends of one byte and one at the end of the file. [Diff] shows what that changes.
//
// # The promises
//
// Only white space, line ends outside of heredocs and the quotes of labels change; comments stay where
// they are. What the file means stays the same to the byte, so formatting never makes a task stale.
// Formatting twice is formatting once. Broken text is never touched: it gives diagnostics.
//
// # The dangers
//
// Lines inside heredocs are content and keep blanks at their ends and their own line ends.
package format

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/ufbuild/ufbuild/lang"
)

// maxPasses bounds the search for the fixed point. HCL's formatter needs a second pass now and then,
// when aligning one line changes what the next is aligned with.
const maxPasses = 8

// Format returns src in canonical form, or nil and the reasons when it is not well formed. The name
// decides the syntax (JSON if it ends in .json) and stands in the diagnostics.
func Format(name string, src []byte) ([]byte, lang.Diagnostics) {
	if strings.HasSuffix(name, ".json") {
		return formatJSON(name, src)
	}
	if ds := lang.CheckSyntax(name, src); ds.HasErrors() {
		return nil, ds
	}
	out := quoteLabels(src, parseBody(name, src))
	for range maxPasses {
		next := layout(name, hclwrite.Format(out))
		if bytes.Equal(next, out) {
			break
		}
		out = next
	}
	return out, nil
}

// formatJSON indents JSON; keys keep their order.
func formatJSON(name string, src []byte) ([]byte, lang.Diagnostics) {
	var b bytes.Buffer
	if err := json.Indent(&b, bytes.TrimSpace(src), "", "  "); err != nil {
		return nil, jsonProblem(name, src, err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// jsonProblem makes a diagnostic of an error of encoding/json.
func jsonProblem(name string, src []byte, err error) lang.Diagnostics {
	offset := 0
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		// Offsets are counted after the white space that was cut off, and past the byte to blame.
		cut := len(src) - len(bytes.TrimLeft(src, " \t\r\n"))
		offset = max(0, cut+int(syntax.Offset)-1)
	}
	x := lang.NewLineIndex(src)
	r := lang.Range{File: name, Start: x.Pos(offset), End: x.Pos(offset + 1)}
	return lang.Diagnostics{{
		Severity: lang.Error, Code: "UF1006", Summary: fmt.Sprintf("This is not valid JSON: %v.", err), Subject: &r,
	}}
}

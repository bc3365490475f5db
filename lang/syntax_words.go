package lang

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// syntaxWord says a syntax error in our words: what is wrong, and what to write.
type syntaxWord struct{ summary, hint string }

// syntaxWords are the errors of HCL's parser by its summary. What is not among them keeps HCL's words.
var syntaxWords = map[string]syntaxWord{
	"Argument or block definition required":           {"A setting or a block is expected here.", `Write a setting as NAME = VALUE, and a block as TYPE "NAME" { … }.`},
	"Argument definition required":                    {"A block on one line holds one setting and no block.", "Put each setting and each block in it on a line of its own. A setting is NAME = VALUE."},
	"Invalid argument name":                           {"The name of a setting stands without quotes.", "Write it as NAME = VALUE."},
	"Invalid single-argument block definition":        {"A block on one line holds one setting.", "Put every setting on a line of its own."},
	"Unclosed configuration block":                    {"This block is never closed.", "Add } where it ends. The one that is missing may belong to a block inside of it."},
	"Unclosed configuration body":                     {"A block before this is never closed.", "Add } where it ends."},
	"Missing newline after argument":                  {"A setting ends with its line.", "Put what follows on a line of its own, or join it to the value with an operator."},
	"Missing newline after block definition":          {"A block ends with its line.", "Put what follows on a line of its own."},
	"Invalid multi-line string":                       {"This text has no closing quote on its line.", "Text of several lines goes between <<-END and END."},
	"Unterminated template string":                    {"This text has no closing quote.", "Text of several lines goes between <<-END and END."},
	"Unterminated string literal":                     {"This text has no closing quote.", "Text of several lines goes between <<-END and END."},
	"Missing item separator":                          {"A comma or ] is missing before this.", "The elements of a list are separated by commas."},
	"Unterminated tuple constructor expression":       {"This list is never closed.", "Add ] where it ends."},
	"Missing attribute separator":                     {"A comma or a new line is missing before this.", "Each entry of an object stands on a line of its own, or behind a comma."},
	"Missing attribute value":                         {"A value is expected here.", "Write an entry as KEY = VALUE."},
	"Missing key/value separator":                     {"An equals sign is missing before this.", "Write an entry as KEY = VALUE."},
	"Unterminated object constructor expression":      {"This object is never closed.", "Add } where it ends."},
	"Missing argument separator":                      {"A comma or ) is missing before this.", "The arguments of a function are separated by commas."},
	"Unterminated function call":                      {"This call is never closed.", "Add ) where it ends."},
	"Unbalanced parentheses":                          {"This parenthesis is never closed.", "Add ) where it ends."},
	"Missing close bracket on index":                  {"A ] is missing before this.", "An element is written as LIST[0] or MAP[\"KEY\"]."},
	"Invalid expression":                              {"A value is expected here.", "Text stands in double quotes; a name needs its kind before it, such as var.NAME or task.NAME."},
	"Missing expression":                              {"A value is expected here.", ""},
	"Missing false expression in conditional":         {"This condition has no second value.", "Write CONDITION ? VALUE : OTHER."},
	"Extra characters after interpolation expression": {"Something follows the value before its closing brace.", "If this is text and no template, such as a shell parameter, write $${ instead of ${."},
	"Unclosed template interpolation sequence":        {"This ${ is never closed.", "If this is text and no template, such as a shell parameter, write $${ instead of ${."},
}

// blockWords tell apart what HCL calls an invalid block definition.
var blockWords = []struct {
	sign string // of HCL's detail
	syntaxWord
}{
	{"must not be used when defining a block", syntaxWord{"A block takes no equals sign.", `Write TYPE "NAME" { … }.`}},
	{"starting on the same line", syntaxWord{"The opening brace of a block stands on the line of its name.", `Write TYPE "NAME" { and then the settings.`}},
	{"Either a quoted string block label", syntaxWord{"A name in quotes or an opening brace is expected here.", `Write TYPE "NAME" { … }.`}},
}

// notKeyword finds the word in what HCL says of %{…}.
var notKeyword = lookFor(`"([^"]+)" is not a valid template control keyword`)

// ourWords says a syntax error in our words; false when there are none for it.
func ourWords(d *hcl.Diagnostic) (syntaxWord, bool) {
	if m := notKeyword().FindStringSubmatch(d.Detail); m != nil {
		return syntaxWord{`"` + m[1] + `" is no word of a template: those are if, else, endif, for and endfor.`, "If this is text and no template, write %%{ instead of %{."}, true
	}
	if d.Summary == "Invalid block definition" {
		for _, w := range blockWords {
			if strings.Contains(d.Detail, w.sign) {
				return w.syntaxWord, true
			}
		}
	}
	if d.Summary == "Invalid character" && strings.Contains(d.Detail, "Single quotes") {
		return syntaxWord{"Text stands in double quotes, not in single ones.", `Write "…".`}, true
	}
	w, ok := syntaxWords[d.Summary]
	return w, ok
}

package lang

import (
	"strings"

	"github.com/zclconf/go-cty/cty/function"
)

// fileReader gives functions the files below the campaign root. Paths and patterns are clean slash
// paths relative to the root. Implementations record what they read: it is an input of the task.
type fileReader interface {
	ReadFile(path string) ([]byte, error)
	Glob(pattern string) ([]string, error)
}

// functionEntry is one row of the function table: the function and its documentation.
type functionEntry struct {
	name    string
	doc     string // one sentence
	example string // an expression
	result  string // what it gives, as HCL text
	fn      function.Function
	reads   func(fileReader) function.Function // for functions that read files, instead of fn
}

// functionTable returns every function of the campaign language by name. All of them are pure but
// for file and fileset, which read through r. Marks of arguments reach the result.
func functionTable(r fileReader) map[string]function.Function {
	table := make(map[string]function.Function, len(functionEntries))
	for i := range functionEntries {
		e := &functionEntries[i]
		table[e.name] = e.build(r)
	}
	return table
}

// build returns the function, reading files through r.
func (e *functionEntry) build(r fileReader) function.Function {
	if e.reads != nil {
		return e.reads(r)
	}
	return e.fn
}

// functionNames returns the names of all functions in the order of the reference.
func functionNames() []string {
	names := make([]string, len(functionEntries))
	for i, e := range functionEntries {
		names[i] = e.name
	}
	return names
}

// FunctionDoc is the documentation of one function of the campaign language.
type FunctionDoc struct {
	Name      string
	Signature string   // "lookup(inputMap, key, default)"; "…" after a parameter that may repeat
	Params    []string // as the signature has them
	Doc       string   // one sentence
	Example   string   // an expression
	Result    string   // what Example gives, as HCL text
}

// includeDoc documents what only prompts may call.
var includeDoc = FunctionDoc{Name: "include", Signature: "include(path)", Params: []string{"path"}, Doc: "The template of another file."}

// IncludeDoc returns the documentation of include, which only prompts may call.
func IncludeDoc() FunctionDoc { return includeDoc }

// FunctionDocs returns the documentation of every function, sorted by name.
func FunctionDocs() []FunctionDoc {
	docs := make([]FunctionDoc, len(functionEntries))
	for i := range functionEntries {
		e := &functionEntries[i]
		docs[i] = FunctionDoc{
			Name: e.name, Signature: e.signature(), Params: e.params(), Doc: e.doc, Example: e.example, Result: e.result,
		}
	}
	return docs
}

// signature prints the name with its parameters.
func (e *functionEntry) signature() string {
	return e.name + "(" + strings.Join(e.params(), ", ") + ")"
}

// params lists the parameters.
func (e *functionEntry) params() (params []string) {
	fn := e.build(nil)
	for _, p := range fn.Params() {
		params = append(params, p.Name)
	}
	if v := fn.VarParam(); v != nil {
		params = append(params, v.Name+"…")
	}
	return params
}

// functionHints says what to use instead of functions that people know from elsewhere.
var functionHints = map[string]string{
	"timestamp":     "There is no clock: the same files give the same campaign. Pass the time as a variable.",
	"plantimestamp": "There is no clock: the same files give the same campaign. Pass the time as a variable.",
	"now":           "There is no clock: the same files give the same campaign. Pass the time as a variable.",
	"uuid":          "There is no randomness: the same files give the same campaign.",
	"random":        "There is no randomness: the same files give the same campaign.",
	"env":           "Expressions cannot read the environment. Declare a variable and set it with UF_VAR_name.",
	"getenv":        "Expressions cannot read the environment. Declare a variable and set it with UF_VAR_name.",
	"templatefile":  `Prompts bring in other templates with include("partials/x.md").`,
	"nonsensitive":  "A sensitive value stays sensitive; it may go to secrets only.",
	"sensitive":     "Set sensitive = true on the variable.",
	"fileexists":    "Use length(fileset(glob)) > 0.",
	"abspath":       "Absolute paths would make a campaign depend on where it lies.",
	"pathexpand":    "Absolute paths would make a campaign depend on where it lies.",
	"regexreplace":  `Use replace(text, "/PATTERN/", new).`,
	"strlen":        "Use length(text).",
	"len":           "Use length(value).",
	"count":         "Use length(value).",
	"size":          "Use length(value).",
	"append":        "Use concat(list, [value]).",
	"push":          "Use concat(list, [value]).",
	"includes":      "Use contains(list, value).",
	"has":           "Use contains(keys(map), key).",
	"map":           "Write { key = value }.",
	"list":          "Write [value, value].",
	"filter":        "Write [for x in list : x if condition].",
	"md5":           "Use sha256(text) or blake3(text).",
	"sha1":          "Use sha256(text) or blake3(text).",
	"tojson":        "Use jsonencode(value).",
	"fromjson":      "Use jsondecode(text).",
}

// functionHint returns what to use instead of a function that does not exist; "" when nothing is known.
func functionHint(name string) string { return functionHints[strings.ToLower(name)] }

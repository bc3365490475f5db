package lang

import (
	"slices"
	"strings"

	"golang.org/x/tools/txtar"
)

// CodeDoc is the page of one diagnostic code. Codes never change their meaning and are never reused.
type CodeDoc struct {
	Code        string
	Title       string   // what is wrong, a few words
	Severity    Severity // what it is unless -W error
	Explanation string   // plain English: lines of at most 120 columns, blank lines between paragraphs
	Bad         string   // a campaign that has the problem; "" only where Where is "bug"
	Good        string   // the same campaign without it
	Command     string   // a line of shell that shows the problem of Bad
	Where       string   // the room that finds it: "lang", "graph", "cmd", "build" at run time; "bug" where no campaign can have it
}

// Files splits an example (Bad or Good) into its files. Text before the first line of the form
// "-- PATH --" is campaign.hcl; every such line starts another file.
func (CodeDoc) Files(example string) []SourceFile {
	archive := txtar.Parse([]byte(example))
	var files []SourceFile
	if len(archive.Comment) > 0 {
		files = append(files, SourceFile{Path: mainFile, Bytes: archive.Comment})
	}
	for _, f := range archive.Files {
		files = append(files, SourceFile{Path: f.Name, Bytes: f.Data})
	}
	return files
}

// exampleAgent is what every example with a prompt needs.
const exampleAgent = `
agent "echo" {
  adapter = "exec"
  command = ["cat"]
}

profile "default" {
  agent = agent.echo
}
`

// codePages are the pages by family; codes within them are sorted.
var codePages = [][]CodeDoc{
	syntaxCodeDocs, nameCodeDocs, graphCodeDocs, instanceCodeDocs, promptCodeDocs,
	outputCodeDocs, contractCodeDocs, agentCodeDocs, inputCodeDocs, variableCodeDocs, testCodeDocs, bugCodeDocs,
	runtimeCodeDocs,
}

// Codes returns the pages of all codes, sorted by code.
func Codes() []CodeDoc {
	all := slices.Concat(codePages...)
	for i := range all {
		all[i] = all[i].complete()
	}
	return all
}

// Explain returns the page of a code, whose letters may be in lower case; false when there is no such
// code.
func Explain(code string) (CodeDoc, bool) {
	code = strings.ToUpper(code)
	for _, page := range codePages {
		for _, c := range page {
			if c.Code == code {
				return c.complete(), true
			}
		}
	}
	return CodeDoc{}, false
}

// complete fills in what most pages have in common.
func (c CodeDoc) complete() CodeDoc {
	if c.Severity == 0 {
		c.Severity = Error
	}
	if c.Where == "" {
		c.Where = "lang"
	}
	if c.Command == "" {
		c.Command = "ufbuild check"
	}
	c.Explanation = rewrap(c.Explanation)
	c.Bad, c.Good = strings.TrimLeft(c.Bad, "\n"), strings.TrimLeft(c.Good, "\n")
	return c
}

// pageWidth fits the narrowest terminal in use.
const pageWidth = 80

// rewrap breaks the lines of every paragraph anew.
func rewrap(text string) string {
	w := textWriter{o: TextOptions{Width: pageWidth}}
	var paragraphs []string
	for p := range strings.SplitSeq(text, "\n\n") {
		flowing := strings.Join(strings.Fields(p), " ")
		paragraphs = append(paragraphs, strings.Join(w.wrap(flowing, 0, 0), "\n"))
	}
	return strings.Join(paragraphs, "\n\n")
}

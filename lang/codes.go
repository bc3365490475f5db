package lang

import "slices"

// CodeDoc is the page of one diagnostic code. Codes never change their meaning and are never reused.
type CodeDoc struct {
	Code        string
	Title       string   // what is wrong, a few words
	Severity    Severity // what it is unless -W error
	Explanation string   // paragraphs of plain English
	Bad         string   // a campaign that has the problem; "" when no file can show it
	Good        string   // the same campaign without it
	Where       string   // what finds it: "lang", "graph", "build" or "cmd"
}

// Codes returns the pages of all codes, sorted by code.
func Codes() []CodeDoc {
	all := slices.Concat(codePages...)
	slices.SortFunc(all, func(a, b CodeDoc) int {
		if a.Code < b.Code {
			return -1
		}
		return 1
	})
	return all
}

// Explain returns the page of a code; false when there is no such code.
func Explain(code string) (CodeDoc, bool) {
	for _, page := range codePages {
		for _, c := range page {
			if c.Code == code {
				return c, true
			}
		}
	}
	return CodeDoc{}, false
}

// codePages are the pages by family.
var codePages = [][]CodeDoc{}

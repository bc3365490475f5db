package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Finding is one entry of a list of findings that a task wrote.
type Finding struct {
	Node     int             `json:"node"` // index of Document.Nodes
	N        int             `json:"n"`    // the attempt
	Output   string          `json:"output"`
	Severity string          `json:"severity,omitempty"` // as it was written
	Grade    int             `json:"grade"`              // 0 is worst, 3 unknown, 5 for information
	Title    string          `json:"title"`
	Where    string          `json:"where,omitempty"`
	Fields   json.RawMessage `json:"fields,omitempty"` // the whole entry
}

// The names by which fields of findings are known, best first, in lower case and without _ and -.
var (
	severityNames = []string{"severity", "risk", "level", "impact", "criticality"}
	titleNames    = []string{"title", "name", "summary", "message", "description", "claim", "text", "detail"}
	fileNames     = []string{"file", "path", "filename", "uri", "location", "contract", "function", "component"}
	lineNames     = []string{"line", "startline", "lineno"}
	// listNames are what a list of findings is called; the plural s is cut.
	listNames = []string{"finding", "issue", "bug", "flaw", "vulnerability", "vulnerabilitie", "violation", "crash", "crashe", "problem", "defect", "result"}
)

// maxEntry bounds the fields that are kept of one finding.
const maxEntry = 8 << 10

// FindFindings returns the lists of findings in a JSON document, or in JSON lines. Name is that of the output or
// its contract. Schema, the bytes of a JSON Schema or nil, says what the entries are; without one the
// entries themselves do. An array counts whose entries have a severity and a title, or a title and a place,
// or a title and a telling name.
func FindFindings(doc []byte, lines bool, name string, schema []byte) []Finding {
	root, ok := decode(doc, lines)
	if !ok {
		return nil
	}
	rules, _ := decode(schema, false)
	if list, ok := root.([]any); ok {
		return entries(list, name, fieldsOf(rules, list))
	}
	top, _ := root.(map[string]any)
	if runs, ok := top["runs"].([]any); ok {
		return sarif(runs)
	}
	var out []Finding
	properties := property(rules, "properties")
	for _, key := range slices.Sorted(maps.Keys(top)) {
		if list, ok := top[key].([]any); ok {
			out = append(out, entries(list, key, fieldsOf(property(properties, key), list))...)
		}
	}
	return out
}

// decode reads one document, or one a line; numbers stay as they are written.
func decode(doc []byte, lines bool) (any, bool) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	list := []any{}
	for {
		var v any
		if err := d.Decode(&v); err != nil {
			return list, lines && len(list) > 0
		}
		if !lines {
			return v, true
		}
		list = append(list, v)
	}
}

func property(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

// fieldsOf lists the fields that entries have, by the schema of their list or by the first of them.
func fieldsOf(schema any, list []any) map[string]bool {
	fields := map[string]bool{}
	declared, _ := property(property(schema, "items"), "properties").(map[string]any)
	for name := range declared {
		fields[plain(name)] = true
	}
	for _, e := range list[:min(len(list), 20)] {
		m, _ := e.(map[string]any)
		for name := range m {
			fields[plain(name)] = true
		}
	}
	return fields
}

func plain(name string) string {
	return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(name))
}

func entries(list []any, name string, fields map[string]bool) []Finding {
	has := func(names []string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return fields[n] })
	}
	called := slices.ContainsFunc(listNames, func(n string) bool { return strings.HasSuffix(strings.TrimSuffix(plain(name), "s"), n) })
	grave := has(severityNames[:1]) || called && has(severityNames)
	if !has(titleNames) || !grave && !(has(fileNames[:4]) && has(lineNames)) && !called {
		return nil
	}
	var out []Finding
	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, entry(m))
		}
	}
	return out
}

func entry(m map[string]any) Finding {
	f := Finding{Severity: pick(m, severityNames), Title: pick(m, titleNames), Where: pick(m, fileNames)}
	if f.Title == "" {
		f.Title = pick(m, []string{"id", "rule", "ruleid"})
	}
	if line := pick(m, lineNames); line != "" && f.Where != "" {
		f.Where += ":" + line
	}
	f.Grade = severityRank(f.Severity) / 10
	if b, err := json.Marshal(m); err == nil && len(b) <= maxEntry {
		f.Fields = b
	}
	return f
}

// pick returns the first field that has one of the names, as text.
func pick(m map[string]any, names []string) string {
	best, at := "", len(names)
	for _, key := range slices.Sorted(maps.Keys(m)) { // two may be alike but for case
		v := m[key]
		n := slices.Index(names, plain(key))
		if n < 0 || n >= at {
			continue
		}
		switch v := v.(type) {
		case string:
			best, at = v, n
		case json.Number:
			best, at = v.String(), n
		case map[string]any:
			if inner := pick(v, append([]string{"text"}, fileNames...)); inner != "" {
				best, at = inner, n
			}
		}
	}
	return best
}

// sarif reads the results of a SARIF log.
func sarif(runs []any) (out []Finding) {
	for _, run := range runs {
		results, _ := property(run, "results").([]any)
		for _, r := range results {
			m, ok := r.(map[string]any)
			if !ok {
				continue
			}
			f := entry(m)
			if places, _ := m["locations"].([]any); len(places) > 0 {
				at := property(places[0], "physicalLocation")
				f.Where, _ = property(property(at, "artifactLocation"), "uri").(string)
				if line, ok := property(property(at, "region"), "startLine").(json.Number); ok {
					f.Where += ":" + line.String()
				}
			}
			out = append(out, f)
		}
	}
	return out
}

// severityRank orders severities, worst first; what is not known stands in the middle.
func severityRank(s string) int {
	s = strings.ToLower(strings.TrimSpace(s))
	if n, err := strconv.ParseFloat(s, 64); err == nil && !math.IsNaN(n) && !math.IsInf(n, 0) {
		return scoreRank(n)
	}
	for rank, words := range [][]string{{"critical", "blocker", "fatal"}, {"high", "error", "severe", "major"}, {"medium", "moderate", "warning", "warn"}, nil, {"low", "minor", "note"}, {"info", "informational", "none", "gas"}} {
		if slices.Contains(words, s) {
			return rank * 10
		}
	}
	return 30
}

// scoreRank orders scores from 10, the worst, to 0, among severities in words, as the qualitative scale of CVSS does (3.1, section 5).
func scoreRank(n float64) int {
	for _, grade := range []struct {
		from, to float64
		rank     int
	}{{9, 10, 0}, {7, 9, 10}, {4, 7, 20}, {0, 4, 40}} {
		if n >= grade.from && n > 0 {
			return grade.rank + int(9*(grade.to-min(n, grade.to))/(grade.to-grade.from))
		}
	}
	return 50
}

// SortFindings puts the worst first and leaves the rest in order.
func SortFindings(all []Finding) {
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(severityRank(a.Severity), severityRank(b.Severity)) })
}

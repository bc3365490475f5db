package lang

import (
	"io"
	"net/url"
)

// WriteSARIF prints a SARIF 2.1.0 log with one run, for code scanners. Columns are in UTF-16 units,
// so Source should be set.
func WriteSARIF(w io.Writer, ds Diagnostics, o AnnotationOptions) error {
	b := sarifBuilder{o: o, files: lineIndexes{source: o.Source}, ruleIndex: map[string]int{}}
	results := make([]sarifResult, 0, len(ds))
	for i := range ds {
		results = append(results, b.result(&ds[i]))
	}
	driver := sarifDriver{
		Name: "ufbuild", Version: o.Version, InformationURI: "https://github.com/ufbuild/ufbuild", Rules: b.rules,
	}
	return encodeJSON(w, sarifLog{
		Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0",
		Runs: []sarifRun{{Tool: sarifTool{driver}, ColumnKind: "utf16CodeUnits", Results: results}},
	})
}

// The part of SARIF 2.1.0 that is used here, under its own names.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool     `json:"tool"`
		ColumnKind string        `json:"columnKind"`
		Results    []sarifResult `json:"results"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules,omitempty"`
	}
	sarifRule struct {
		ID    string     `json:"id"`
		Short *sarifText `json:"shortDescription,omitempty"`
		Help  *sarifText `json:"help,omitempty"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID    string          `json:"ruleId"`
		RuleIndex int             `json:"ruleIndex"`
		Level     string          `json:"level"`
		Message   sarifText       `json:"message"`
		Locations []sarifLocation `json:"locations,omitempty"`
		Related   []sarifLocation `json:"relatedLocations,omitempty"`
		Fixes     []sarifFix      `json:"fixes,omitempty"`
	}
	sarifLocation struct {
		ID       int           `json:"id,omitempty"`
		Physical sarifPhysical `json:"physicalLocation"`
		Message  *sarifText    `json:"message,omitempty"`
	}
	sarifPhysical struct {
		Artifact sarifArtifact `json:"artifactLocation"`
		Region   *sarifRegion  `json:"region,omitempty"`
	}
	sarifArtifact struct {
		URI string `json:"uri"`
	}
	sarifRegion struct {
		StartLine   int `json:"startLine"`
		StartColumn int `json:"startColumn"`
		EndLine     int `json:"endLine"`
		EndColumn   int `json:"endColumn"`
	}
	sarifFix struct {
		Description sarifText     `json:"description"`
		Changes     []sarifChange `json:"artifactChanges"`
	}
	sarifChange struct {
		Artifact     sarifArtifact      `json:"artifactLocation"`
		Replacements []sarifReplacement `json:"replacements"`
	}
	sarifReplacement struct {
		Deleted  sarifRegion `json:"deletedRegion"`
		Inserted sarifText   `json:"insertedContent"`
	}
)

// sarifBuilder makes results and gathers the rules they name.
type sarifBuilder struct {
	o         AnnotationOptions
	files     lineIndexes
	rules     []sarifRule
	ruleIndex map[string]int
}

func (b *sarifBuilder) result(d *Diagnostic) sarifResult {
	text := d.Summary
	if d.Detail != "" {
		text += "\n" + d.Detail
	}
	if d.Hint != "" {
		text += "\nhint: " + d.Hint
	}
	r := sarifResult{RuleID: d.Code, RuleIndex: b.rule(d.Code), Level: d.Severity.String(), Message: sarifText{text}}
	if d.Subject != nil && d.Subject.File != "" {
		r.Locations = []sarifLocation{b.location(*d.Subject)}
	}
	for i, rel := range d.Related {
		l := b.location(rel.Range)
		l.ID, l.Message = i+1, &sarifText{rel.Message}
		r.Related = append(r.Related, l)
	}
	if d.Fix != nil {
		r.Fixes = []sarifFix{b.fix(d.Fix)}
	}
	return r
}

// rule returns the index of the rule for a code and adds it when it is new.
func (b *sarifBuilder) rule(code string) int {
	if i, ok := b.ruleIndex[code]; ok {
		return i
	}
	rule := sarifRule{ID: code}
	if doc, ok := Explain(code); ok {
		rule.Short, rule.Help = &sarifText{doc.Title}, &sarifText{doc.Explanation}
	}
	b.ruleIndex[code] = len(b.rules)
	b.rules = append(b.rules, rule)
	return b.ruleIndex[code]
}

func (b *sarifBuilder) location(r Range) sarifLocation {
	l := sarifLocation{Physical: sarifPhysical{Artifact: b.artifact(r.File)}}
	if r.Start.Line > 0 {
		region := b.region(r)
		l.Physical.Region = &region
	}
	return l
}

// artifact names a file as a relative URI.
func (b *sarifBuilder) artifact(file string) sarifArtifact {
	return sarifArtifact{(&url.URL{Path: b.o.file(file)}).EscapedPath()}
}

func (b *sarifBuilder) region(r Range) sarifRegion {
	return sarifRegion{
		StartLine: int(r.Start.Line), StartColumn: column16(&b.files, r.File, r.Start),
		EndLine: int(max(r.Start.Line, r.End.Line)), EndColumn: column16(&b.files, r.File, r.End),
	}
}

func (b *sarifBuilder) fix(f *Fix) sarifFix {
	return sarifFix{Description: sarifText{f.Title}, Changes: []sarifChange{{
		Artifact:     b.artifact(f.Range.File),
		Replacements: []sarifReplacement{{Deleted: b.region(f.Range), Inserted: sarifText{f.Text}}},
	}}}
}

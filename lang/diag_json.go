package lang

import (
	"bytes"
	"encoding/json"
	"io"
)

// diagnosticsSchema is the version of the document that WriteJSON prints; it goes up when a reader
// of the old one could be misled.
const diagnosticsSchema = 1

// WriteJSON prints one JSON document with all diagnostics in the order given.
func WriteJSON(w io.Writer, ds Diagnostics) error {
	if ds == nil {
		ds = Diagnostics{}
	}
	return encodeJSON(w, struct {
		SchemaVersion int         `json:"schema_version"`
		Valid         bool        `json:"valid"`
		ErrorCount    int         `json:"error_count"`
		WarningCount  int         `json:"warning_count"`
		Diagnostics   Diagnostics `json:"diagnostics"`
	}{diagnosticsSchema, !ds.HasErrors(), ds.Count(Error), ds.Count(Warning), ds})
}

// encodeJSON prints v indented, with <, > and & as they are.
func encodeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// The shapes of a diagnostic in JSON. Fields are only ever added.
type (
	jsonDiagnostic struct {
		Severity string        `json:"severity"`
		Code     string        `json:"code"`
		Summary  string        `json:"summary"`
		Detail   string        `json:"detail,omitempty"`
		Hint     string        `json:"hint,omitempty"`
		Range    *jsonRange    `json:"range,omitempty"`
		Related  []jsonRelated `json:"related,omitempty"`
		Fix      *jsonFix      `json:"fix,omitempty"`
	}
	jsonRange struct {
		File  string  `json:"file"`
		Start jsonPos `json:"start"`
		End   jsonPos `json:"end"`
	}
	jsonPos struct {
		Line   int32 `json:"line"`
		Column int32 `json:"column"`
		Byte   int32 `json:"byte"`
	}
	jsonRelated struct {
		Message string    `json:"message"`
		Range   jsonRange `json:"range"`
	}
	jsonFix struct {
		Title string    `json:"title"`
		Range jsonRange `json:"range"`
		Text  string    `json:"text"`
	}
)

// MarshalJSON returns the diagnostic as an object: severity, code, summary, detail, hint, range,
// related, fix. What is empty is left out, except code.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	out := jsonDiagnostic{
		Severity: d.Severity.String(), Code: d.Code, Summary: d.Summary, Detail: d.Detail, Hint: d.Hint,
	}
	if d.Subject != nil {
		r := rangeJSON(*d.Subject)
		out.Range = &r
	}
	for _, r := range d.Related {
		out.Related = append(out.Related, jsonRelated{Message: r.Message, Range: rangeJSON(r.Range)})
	}
	if d.Fix != nil {
		out.Fix = &jsonFix{Title: d.Fix.Title, Range: rangeJSON(d.Fix.Range), Text: d.Fix.Text}
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b) // json.Marshal would escape <, > and & for good
	e.SetEscapeHTML(false)
	err := e.Encode(out)
	return b.Bytes(), err
}

func rangeJSON(r Range) jsonRange {
	return jsonRange{File: r.File, Start: jsonPos(r.Start), End: jsonPos(r.End)}
}

package lsp

import "encoding/json"

// Position is a place between two characters.
type Position struct {
	Line      int `json:"line"`      // from 0
	Character int `json:"character"` // from 0, in UTF-16 units
}

// Range is a half-open stretch of a file.
type Range struct {
	Start Position `json:"start"`
	End   Position `json:"end"`
}

// Location is a stretch of some file.
type Location struct {
	Path  string // absolute; the transport makes a URI of it
	Range Range
}

// TextEdit replaces a stretch of text.
type TextEdit struct {
	Range   Range  `json:"range"`
	NewText string `json:"newText"`
}

// Change is one edit that an editor tells of; without a range Text is the whole new text.
type Change struct {
	Range *Range `json:"range"`
	Text  string `json:"text"`
}

// The severities of the protocol.
const (
	SeverityError   = 1
	SeverityWarning = 2
)

// Diagnostic is a problem as the protocol has it.
type Diagnostic struct {
	Range    Range
	Severity int
	Code     string
	Message  string
	Related  []Related
}

// Related is a second place that explains a diagnostic.
type Related struct {
	Location Location
	Message  string
}

// FileDiagnostics is all that is wrong with one file; an empty list clears it.
type FileDiagnostics struct {
	Path        string
	Diagnostics []Diagnostic
}

// The kinds of completion that are offered.
const (
	CompletionFunction = 3
	CompletionField    = 5
	CompletionVariable = 6
	CompletionModule   = 9
	CompletionProperty = 10
	CompletionValue    = 12
	CompletionKeyword  = 14
	CompletionFile     = 17
	CompletionFolder   = 19
)

// CompletionItem is one thing that may be written at a place.
type CompletionItem struct {
	Label   string
	Kind    int
	Detail  string // a type or signature
	Doc     string
	Edit    TextEdit
	Snippet string // instead of Edit.NewText, for editors with snippets; "" for none
	Order   int    // what an editor should sort by
}

// Hover is what to show for a place, as Markdown.
type Hover struct {
	Markdown string
	Range    Range
}

// The kinds of symbols.
const (
	SymbolModule   = 2
	SymbolProperty = 7
	SymbolFunction = 12
	SymbolVariable = 13
	SymbolConstant = 14
	SymbolString   = 15
	SymbolObject   = 19
	SymbolStruct   = 23
)

// DocumentSymbol is one block or named value of a file.
type DocumentSymbol struct {
	Name           string           `json:"name"`
	Detail         string           `json:"detail,omitempty"`
	Kind           int              `json:"kind"`
	Range          Range            `json:"range"`
	SelectionRange Range            `json:"selectionRange"`
	Children       []DocumentSymbol `json:"children,omitempty"`
}

// WorkspaceSymbol is a declaration of a campaign.
type WorkspaceSymbol struct {
	Name     string
	Kind     int
	Location Location
}

// CodeAction is a fix that an editor offers.
type CodeAction struct {
	Title      string
	Path       string
	Edits      []TextEdit
	Diagnostic Diagnostic
}

// SemanticTokens are five numbers a token, as the protocol packs them.
type SemanticTokens []uint32

// MarshalJSON writes an empty list for no tokens: the protocol wants one.
func (t SemanticTokens) MarshalJSON() ([]byte, error) {
	if t == nil {
		return []byte("[]"), nil
	}
	return json.Marshal([]uint32(t))
}

package editor

import (
	"encoding/json"
	"fmt"
	"net/url"
	"path/filepath"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ufbuild/ufbuild/lang/lsp"
)

// documentID names a document.
type documentID struct {
	URI string `json:"uri"`
}

// place is a document and a position in it.
type place struct {
	TextDocument documentID   `json:"textDocument"`
	Position     lsp.Position `json:"position"`
}

type wireLocation struct {
	URI   string    `json:"uri"`
	Range lsp.Range `json:"range"`
}

type wireRelated struct {
	Location wireLocation `json:"location"`
	Message  string       `json:"message"`
}

type wireDiagnostic struct {
	Range    lsp.Range     `json:"range"`
	Severity int           `json:"severity"`
	Code     string        `json:"code"`
	Source   string        `json:"source"`
	Message  string        `json:"message"`
	Related  []wireRelated `json:"relatedInformation,omitempty"`
}

type wireMarkup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type wireCompletion struct {
	Label            string        `json:"label"`
	Kind             int           `json:"kind"`
	Detail           string        `json:"detail,omitempty"`
	Documentation    string        `json:"documentation,omitempty"`
	SortText         string        `json:"sortText"`
	FilterText       string        `json:"filterText"`
	InsertTextFormat int           `json:"insertTextFormat"`
	TextEdit         *lsp.TextEdit `json:"textEdit"`
}

type wireEdit struct {
	Changes map[string][]lsp.TextEdit `json:"changes"`
}

type wireAction struct {
	Title       string           `json:"title"`
	Kind        string           `json:"kind"`
	Diagnostics []wireDiagnostic `json:"diagnostics"`
	Edit        wireEdit         `json:"edit"`
	Preferred   bool             `json:"isPreferred"`
}

type wireSymbol struct {
	Name     string       `json:"name"`
	Kind     int          `json:"kind"`
	Location wireLocation `json:"location"`
}

// read decodes parameters. What is not as the protocol says is the editor's mistake.
func read[T any](params json.RawMessage) (T, error) {
	var v T
	if err := json.Unmarshal(params, &v); err != nil {
		return v, &jsonrpc2.Error{Code: jsonrpc2.CodeInvalidParams, Message: fmt.Sprintf("read parameters: %v", err)}
	}
	return v, nil
}

// path is the absolute path of a file: address; false for any other.
func path(uri string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || !filepath.IsAbs(u.Path) {
		return "", false
	}
	return filepath.Clean(u.Path), true
}

// uri is the address of a file as the editor writes it.
func (s *Server) uri(file string) string {
	if known, ok := s.uris[file]; ok {
		return known
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(file)}).String()
}

func (s *Server) location(l lsp.Location) wireLocation { return wireLocation{s.uri(l.Path), l.Range} }

func (s *Server) locations(ls []lsp.Location) []wireLocation {
	list := make([]wireLocation, 0, len(ls))
	for _, l := range ls {
		list = append(list, s.location(l))
	}
	return list
}

func (s *Server) wire(d *lsp.Diagnostic) wireDiagnostic {
	w := wireDiagnostic{Range: d.Range, Severity: d.Severity, Code: d.Code, Source: "ufbuild", Message: d.Message}
	for _, r := range d.Related {
		w.Related = append(w.Related, wireRelated{s.location(r.Location), r.Message})
	}
	return w
}

func (s *Server) edit(edits map[string][]lsp.TextEdit) wireEdit {
	w := wireEdit{Changes: map[string][]lsp.TextEdit{}}
	for file, list := range edits {
		w.Changes[s.uri(file)] = list
	}
	return w
}

// The protocol's forms of the text of a completion.
const (
	plainText   = 1
	snippetText = 2
)

func (s *Server) completion(i *lsp.CompletionItem) wireCompletion {
	w := wireCompletion{
		Label: i.Label, Kind: i.Kind, Detail: i.Detail, Documentation: i.Doc, FilterText: i.Label,
		SortText: fmt.Sprintf("%05d", i.Order), InsertTextFormat: plainText, TextEdit: &i.Edit,
	}
	if s.snippets && i.Snippet != "" {
		w.InsertTextFormat = snippetText
		w.TextEdit = &lsp.TextEdit{Range: i.Edit.Range, NewText: i.Snippet}
	}
	return w
}

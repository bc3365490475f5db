package editor

import (
	"context"
	"encoding/json"
	"unicode/utf16"

	"github.com/sourcegraph/jsonrpc2"

	"github.com/ufbuild/ufbuild/lang/lsp"
)

// methods are the messages that are understood.
var methods = map[string]method{
	"initialize":  (*Server).initialize,
	"initialized": (*Server).initialized,
	"shutdown": func(s *Server, _ context.Context, _ json.RawMessage) (any, error) {
		s.shutdown = true
		return nil, nil
	},
	"exit":            func(*Server, context.Context, json.RawMessage) (any, error) { return nil, errExit },
	"$/cancelRequest": nothing, // answers are quicker than a message about them
	"$/setTrace":      nothing,

	"textDocument/didOpen":            (*Server).didOpen,
	"textDocument/didChange":          (*Server).didChange,
	"textDocument/didClose":           (*Server).didClose,
	"textDocument/didSave":            touched,
	"workspace/didChangeWatchedFiles": touched,

	"workspace/didChangeConfiguration":    nothing,
	"workspace/didChangeWorkspaceFolders": nothing,

	"textDocument/completion":          at((*Server).complete),
	"textDocument/hover":               at((*Server).hover),
	"textDocument/signatureHelp":       at((*Server).signature),
	"textDocument/definition":          at((*Server).definition),
	"textDocument/documentHighlight":   at((*Server).highlight),
	"textDocument/prepareRename":       at((*Server).prepareRename),
	"textDocument/references":          (*Server).references,
	"textDocument/rename":              (*Server).rename,
	"textDocument/codeAction":          (*Server).actions,
	"textDocument/formatting":          of((*Server).format),
	"textDocument/documentSymbol":      of((*Server).symbols),
	"textDocument/semanticTokens/full": of((*Server).tokens),
	"workspace/symbol":                 (*Server).workspaceSymbols,
}

func nothing(*Server, context.Context, json.RawMessage) (any, error) { return nil, nil }

func touched(s *Server, _ context.Context, _ json.RawMessage) (any, error) {
	s.Session.Touched()
	return nil, nil
}

// at is a method that asks about a place in a file.
func at(ask func(*Server, string, lsp.Position) (any, error)) method {
	return func(s *Server, _ context.Context, params json.RawMessage) (any, error) {
		p, err := read[place](params)
		if err != nil {
			return nil, err
		}
		file, ok := path(p.TextDocument.URI)
		if !ok {
			return nil, nil
		}
		return ask(s, file, p.Position)
	}
}

// of is a method that asks about a file.
func of(ask func(*Server, string) (any, error)) method {
	return at(func(s *Server, file string, _ lsp.Position) (any, error) { return ask(s, file) })
}

// initialize says what the server can do.
func (s *Server) initialize(_ context.Context, params json.RawMessage) (any, error) {
	type flag struct {
		Dynamic bool `json:"dynamicRegistration"`
	}
	p, err := read[struct {
		Capabilities struct {
			Workspace struct {
				Watched flag `json:"didChangeWatchedFiles"`
			} `json:"workspace"`
			TextDocument struct {
				Completion struct {
					Item struct {
						Snippets bool `json:"snippetSupport"`
					} `json:"completionItem"`
				} `json:"completion"`
				Signature struct {
					Information struct {
						Parameter struct {
							Offsets bool `json:"labelOffsetSupport"`
						} `json:"parameterInformation"`
					} `json:"signatureInformation"`
				} `json:"signatureHelp"`
			} `json:"textDocument"`
		} `json:"capabilities"`
	}](params)
	if err != nil {
		return nil, err
	}
	s.snippets = p.Capabilities.TextDocument.Completion.Item.Snippets
	s.offsets = p.Capabilities.TextDocument.Signature.Information.Parameter.Offsets
	s.watching = p.Capabilities.Workspace.Watched.Dynamic
	const incremental = 2
	return map[string]any{
		"serverInfo": map[string]any{"name": "ufbuild", "version": s.Version},
		"capabilities": map[string]any{
			"positionEncoding":           "utf-16",
			"textDocumentSync":           map[string]any{"openClose": true, "change": incremental, "save": map[string]any{"includeText": false}},
			"completionProvider":         map[string]any{"triggerCharacters": []string{".", "\"", "/", "{", "[", "="}},
			"hoverProvider":              true,
			"signatureHelpProvider":      map[string]any{"triggerCharacters": []string{"(", ","}},
			"definitionProvider":         true,
			"referencesProvider":         true,
			"documentHighlightProvider":  true,
			"documentSymbolProvider":     true,
			"workspaceSymbolProvider":    true,
			"documentFormattingProvider": true,
			"renameProvider":             map[string]any{"prepareProvider": true},
			"codeActionProvider":         map[string]any{"codeActionKinds": []string{"quickfix"}},
			"semanticTokensProvider": map[string]any{
				"full":   true,
				"legend": map[string]any{"tokenTypes": lsp.TokenTypes, "tokenModifiers": []string{}},
			},
		},
	}, nil
}

// initialized asks the editor to tell of changes on disk.
func (s *Server) initialized(ctx context.Context, _ json.RawMessage) (any, error) {
	if !s.watching {
		return nil, nil
	}
	watch := map[string]any{"watchers": []any{map[string]any{"globPattern": "**/*.{hcl,md,json}"}}}
	registration := map[string]any{"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": watch}
	_, err := s.conn.DispatchCall(ctx, "client/registerCapability", map[string]any{"registrations": []any{registration}})
	return nil, err
}

func (s *Server) didOpen(_ context.Context, params json.RawMessage) (any, error) {
	p, err := read[struct {
		TextDocument struct {
			URI  string `json:"uri"`
			Text string `json:"text"`
		} `json:"textDocument"`
	}](params)
	if file, ok := path(p.TextDocument.URI); ok && err == nil {
		s.uris[file] = p.TextDocument.URI
		s.Session.Open(file, []byte(p.TextDocument.Text))
	}
	return nil, err
}

func (s *Server) didChange(_ context.Context, params json.RawMessage) (any, error) {
	p, err := read[struct {
		TextDocument documentID   `json:"textDocument"`
		Changes      []lsp.Change `json:"contentChanges"`
	}](params)
	if file, ok := path(p.TextDocument.URI); ok && err == nil {
		s.Session.Change(file, p.Changes)
	}
	return nil, err
}

func (s *Server) didClose(ctx context.Context, params json.RawMessage) (any, error) {
	p, err := read[struct {
		TextDocument documentID `json:"textDocument"`
	}](params)
	if file, ok := path(p.TextDocument.URI); ok && err == nil {
		s.Session.Close(file)
		s.publish(ctx, s.Session.Diagnose) // under the address that the editor knows
		delete(s.uris, file)
	}
	return nil, err
}

func (s *Server) complete(file string, p lsp.Position) (any, error) {
	items := s.Session.Complete(file, p)
	list := make([]wireCompletion, 0, len(items))
	for i := range items {
		list = append(list, s.completion(&items[i]))
	}
	return map[string]any{"isIncomplete": false, "items": list}, nil
}

func (s *Server) hover(file string, p lsp.Position) (any, error) {
	h := s.Session.Hover(file, p)
	if h == nil {
		return nil, nil
	}
	return map[string]any{"contents": wireMarkup{"markdown", h.Markdown}, "range": h.Range}, nil
}

func (s *Server) signature(file string, p lsp.Position) (any, error) {
	g := s.Session.Signature(file, p)
	if g == nil {
		return nil, nil
	}
	params := []map[string]any{}
	for _, place := range g.Params {
		var label any = place
		if !s.offsets {
			units := utf16.Encode([]rune(g.Label))
			label = string(utf16.Decode(units[place[0]:place[1]]))
		}
		params = append(params, map[string]any{"label": label})
	}
	return map[string]any{"activeSignature": 0, "activeParameter": g.Active, "signatures": []any{
		map[string]any{"label": g.Label, "documentation": g.Doc, "parameters": params},
	}}, nil
}

func (s *Server) definition(file string, p lsp.Position) (any, error) {
	return s.locations(s.Session.Definition(file, p)), nil
}

func (s *Server) highlight(file string, p lsp.Position) (any, error) {
	list := []map[string]lsp.Range{}
	for _, r := range s.Session.Highlights(file, p) {
		list = append(list, map[string]lsp.Range{"range": r})
	}
	return list, nil
}

func (s *Server) prepareRename(file string, p lsp.Position) (any, error) {
	if r, ok := s.Session.Renameable(file, p); ok {
		return r, nil
	}
	return nil, nil
}

func (s *Server) references(_ context.Context, params json.RawMessage) (any, error) {
	p, err := read[struct {
		place
		Context struct {
			Declaration bool `json:"includeDeclaration"`
		} `json:"context"`
	}](params)
	file, ok := path(p.TextDocument.URI)
	if err != nil || !ok {
		return nil, err
	}
	return s.locations(s.Session.References(file, p.Position, p.Context.Declaration)), nil
}

func (s *Server) rename(_ context.Context, params json.RawMessage) (any, error) {
	p, err := read[struct {
		place
		NewName string `json:"newName"`
	}](params)
	file, ok := path(p.TextDocument.URI)
	if err != nil || !ok {
		return nil, err
	}
	edits, err := s.Session.Rename(file, p.Position, p.NewName)
	if err != nil {
		return nil, &jsonrpc2.Error{Code: requestFailed, Message: err.Error()}
	}
	return s.edit(edits), nil
}

func (s *Server) actions(_ context.Context, params json.RawMessage) (any, error) {
	p, err := read[struct {
		TextDocument documentID `json:"textDocument"`
		Range        lsp.Range  `json:"range"`
	}](params)
	file, ok := path(p.TextDocument.URI)
	if err != nil || !ok {
		return nil, err
	}
	list := []wireAction{}
	found := s.Session.Actions(file, p.Range)
	for i := range found {
		a := &found[i]
		list = append(list, wireAction{
			Title: a.Title, Kind: "quickfix", Preferred: true, Diagnostics: []wireDiagnostic{s.wire(&a.Diagnostic)},
			Edit: s.edit(map[string][]lsp.TextEdit{a.Path: a.Edits}),
		})
	}
	return list, nil
}

func (s *Server) format(file string) (any, error) {
	return append([]lsp.TextEdit{}, s.Session.Format(file)...), nil
}

func (s *Server) symbols(file string) (any, error) {
	return append([]lsp.DocumentSymbol{}, s.Session.Symbols(file)...), nil
}

func (s *Server) tokens(file string) (any, error) {
	return map[string]any{"data": s.Session.Tokens(file)}, nil
}

func (s *Server) workspaceSymbols(_ context.Context, params json.RawMessage) (any, error) {
	p, err := read[struct {
		Query string `json:"query"`
	}](params)
	list := []wireSymbol{}
	for _, x := range s.Session.WorkspaceSymbols(p.Query) {
		list = append(list, wireSymbol{x.Name, x.Kind, s.location(x.Location)})
	}
	return list, err
}

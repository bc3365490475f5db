package main

import (
	"encoding/json"
	"fmt"
)

// printJSON writes one document to stdout.
func (a *app) printJSON(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// printLine writes one document as one line of a stream of documents.
func (a *app) printLine(v any) error {
	enc := json.NewEncoder(a.out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	return nil
}

// bytesOnly refuses --json where text is printed as it is: a program that asked for a document must not get
// something else and take it for one.
func (a *app) bytesOnly(what string) error {
	if !a.json {
		return nil
	}
	return usageErrorf("%s text as it is, not JSON\nhint: leave out --json", what)
}

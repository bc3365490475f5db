package reference

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// The fields of the lock file that this version knows.
var (
	lockFields = []string{"schema_version", "references"}
	pinFields  = []string{"name", "repo", "commit", "paths", "url", "sha256", "tree", "blob", "files"}
)

// Unpinned returns a lock that pins nothing and keeps what a later version wrote beside the pins.
func (l *Lock) Unpinned() *Lock { return &Lock{version: l.version, later: l.later} }

// keepLater remembers the fields of src that this version does not know, so that writing the file loses nothing.
func (l *Lock) keepLater(src []byte) error {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(src, &file); err != nil {
		return err
	}
	var pins []map[string]json.RawMessage
	if refs, ok := file["references"]; ok {
		if err := json.Unmarshal(refs, &pins); err != nil {
			return err
		}
	}
	l.later = without(file, lockFields)
	for i := range min(len(l.Pins), len(pins)) { // a name spelled in capitals is known to the decoder only
		l.Pins[i].later = without(pins[i], pinFields)
	}
	return nil
}

// without returns the fields that are not known, nil for none.
func without(fields map[string]json.RawMessage, known []string) map[string]json.RawMessage {
	for name := range fields {
		if slices.ContainsFunc(known, func(k string) bool { return strings.EqualFold(k, name) }) {
			delete(fields, name)
		}
	}
	if len(fields) == 0 {
		return nil
	}
	return fields
}

// withLater encodes v, an object, with further fields behind its own.
func withLater(v any, later map[string]json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("BUG: encode lock file: " + err.Error())
	}
	if len(later) == 0 {
		return bytes.TrimSpace(b.Bytes())
	}
	text := bytes.TrimSuffix(bytes.TrimSpace(b.Bytes()), []byte("}"))
	for _, name := range slices.Sorted(maps.Keys(later)) {
		key, err := json.Marshal(name)
		if err != nil {
			panic("BUG: encode lock file: " + err.Error())
		}
		text = append(append(append(append(text, ','), key...), ':'), later[name]...)
	}
	return append(text, '}')
}

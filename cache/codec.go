package cache

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Encode returns the one-line JSON of r. A record that was decoded from text which this version does not fully understand
// gives back that text, so that copying records loses nothing.
func (r *Record) Encode() ([]byte, error) { return r.AppendTo(nil) }

// AppendTo appends what Encode returns to b.
func (r *Record) AppendTo(b []byte) ([]byte, error) {
	if r.raw != nil {
		return append(b, r.raw...), nil
	}
	if r.Key.IsZero() || r.Ordinal < 1 || r.Kind == "" {
		panic(fmt.Sprintf("BUG: encode record: kind %q, key %s, ordinal %d", r.Kind, r.Key, r.Ordinal))
	}
	if line, ok := appendFast(b, r); ok {
		return line, nil
	}
	slow, err := r.encodeSlow()
	return append(b, slow...), err
}

// encodeSlow is Encode by the definition of the types.
func (r *Record) encodeSlow() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false) // people read logs
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// DecodeRecord reads the JSON of a record. Unknown kinds and fields are no error: they are kept for Encode. b may be reused
// afterwards.
func DecodeRecord(b []byte) (Record, error) {
	r, ok := decodeFast(b)
	if !ok || !r.known() {
		r = Record{}
		if err := json.Unmarshal(b, &r); err != nil {
			return Record{}, fmt.Errorf("decode record: %w", err)
		}
		r.raw = compact(b) // spelled unusually at least, and perhaps not understood
	}
	if r.Key.IsZero() || r.Ordinal < 1 || r.Kind == "" {
		return Record{}, errors.New("decode record: key, kind or ordinal is missing")
	}
	return r, nil
}

// known reports whether r's kind is one of ours and carries what it promises.
func (r Record) known() bool {
	switch r.Kind {
	case KindStarted:
		return r.Start != nil
	case KindPlaced:
		return r.Placed != nil
	case KindCaptured:
		return r.Captured != nil
	case KindEnded:
		return r.End != nil
	case KindVerdict:
		return r.Verdict != nil
	case KindDiscard, KindRestore:
		return r.Discard != nil
	}
	return false
}

// compact copies valid JSON onto one line.
func compact(b []byte) []byte {
	var out bytes.Buffer
	if err := json.Compact(&out, b); err != nil {
		panic("BUG: compact record: " + err.Error())
	}
	return out.Bytes()
}

package workspace

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
)

// masked is what a secret value becomes.
const masked = "***"

// minSecret is the length in bytes from which a value is looked for. Shorter ones occur by chance, and
// masking every "1" would hide nothing and spoil everything.
const minSecret = 4

// Masker replaces secret values in a stream, also where one lies across two pieces of it.
type Masker struct {
	values [][]byte // longest first
	keep   int      // bytes to hold back: one less than the longest value
	held   []byte
	passed int64 // bytes of the stream before held
	first  int64 // where the first value was found, -1 for nowhere
}

// NewMasker returns a Masker for values. A value is also found in the form it has inside a JSON string,
// since agents print JSON.
func NewMasker(values []string) *Masker {
	m := &Masker{first: -1}
	for _, v := range values {
		if len(v) < minSecret {
			continue
		}
		m.add(v)
		if quoted, err := json.Marshal(v); err == nil {
			m.add(string(quoted[1 : len(quoted)-1]))
		}
	}
	slices.SortFunc(m.values, func(a, b []byte) int { return len(b) - len(a) })
	if len(m.values) > 0 {
		m.keep = len(m.values[0]) - 1
	}
	return m
}

func (m *Masker) add(v string) {
	if !slices.ContainsFunc(m.values, func(have []byte) bool { return string(have) == v }) {
		m.values = append(m.values, []byte(v))
	}
}

// Empty reports whether there is nothing to look for.
func (m *Masker) Empty() bool { return len(m.values) == 0 }

// First returns the offset of the first value in the stream, or -1.
func (m *Masker) First() int64 { return m.first }

// Next takes the next piece of the stream and returns what can be passed on. At the end, last says that
// nothing follows. The result is valid until the next call.
func (m *Masker) Next(p []byte, last bool) []byte {
	m.held = append(m.held, p...)
	var out []byte
	at := 0
	for {
		i, n := m.find(m.held[at:])
		if i < 0 {
			break
		}
		// A longer value may start before and end in the next piece.
		if !last && at+i > len(m.held)-1-m.keep {
			break
		}
		if m.first < 0 {
			m.first = m.passed + int64(at+i)
		}
		out = append(append(out, m.held[at:at+i]...), masked...)
		at += i + n
	}
	safe := max(at, len(m.held)-m.keep)
	if last {
		safe = len(m.held)
	}
	out = append(out, m.held[at:safe]...)
	m.passed += int64(safe)
	m.held = append(m.held[:0], m.held[safe:]...)
	return out
}

// find returns where the first value starts in b and how long it is; of several at one place the
// longest.
func (m *Masker) find(b []byte) (at, n int) {
	at = -1
	for _, v := range m.values {
		limit := len(b)
		if at >= 0 {
			limit = min(limit, at+len(v)-1)
		}
		if i := bytes.Index(b[:limit], v); i >= 0 && (at < 0 || i < at) {
			at, n = i, len(v)
		}
	}
	return at, n
}

// maskedReader passes a stream through a Masker.
type maskedReader struct {
	from io.Reader
	m    *Masker
	buf  []byte
	out  []byte
	err  error
}

// Read implements io.Reader.
func (r *maskedReader) Read(p []byte) (int, error) {
	for len(r.out) == 0 && r.err == nil {
		var n int
		n, r.err = r.from.Read(r.buf)
		r.out = r.m.Next(r.buf[:n], r.err != nil)
	}
	n := copy(p, r.out)
	r.out = r.out[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, r.err
}

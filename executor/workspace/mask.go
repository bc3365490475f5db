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

// Masker replaces secret values in a stream, also where one lies across two pieces of it. It holds back only what may be the
// beginning of a value, so a line that has nothing of one is passed on at once. Its methods are for one goroutine.
type Masker struct {
	values []secret // longest first
	held   []byte
	passed int64 // bytes of the stream before held
	first  int64 // where the first value was found, -1 for nowhere
}

// secret is a value to be looked for.
type secret struct {
	text []byte
	// again says for each beginning of text how long the longest shorter beginning is that it ends in (Knuth, Morris and Pratt), so
	// that a look for beginnings goes over the bytes once.
	again []int
}

func newSecret(v string) secret {
	s := secret{text: []byte(v), again: make([]int, len(v))}
	for i, n := 1, 0; i < len(v); i++ {
		n = s.step(n, v[i])
		s.again[i] = n
	}
	return s
}

// step returns how much of the beginning of text stands before and at a byte, of which n stood before it.
func (s *secret) step(n int, c byte) int {
	for n > 0 && s.text[n] != c {
		n = s.again[n-1]
	}
	if s.text[n] == c {
		n++
	}
	return n
}

// begun returns how many bytes at the end of b are the beginning of text, and not all of it.
func (s *secret) begun(b []byte) int {
	n := 0
	for _, c := range b[max(0, len(b)-len(s.text)+1):] {
		n = s.step(n, c)
	}
	return n
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
	slices.SortFunc(m.values, func(a, b secret) int { return len(b.text) - len(a.text) })
	return m
}

func (m *Masker) add(v string) {
	if !slices.ContainsFunc(m.values, func(have secret) bool { return string(have.text) == v }) {
		m.values = append(m.values, newSecret(v))
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
		// A longer value may start there or before, and end in the next piece.
		if !last && at+i > len(m.held)-len(m.values[0].text) && at+i >= m.open(at) {
			break
		}
		if m.first < 0 {
			m.first = m.passed + int64(at+i)
		}
		out = append(append(out, m.held[at:at+i]...), masked...)
		at += i + n
	}
	safe := len(m.held)
	if !last {
		safe = m.open(at)
	}
	out = append(out, m.held[at:safe]...)
	m.passed += int64(safe)
	m.held = append(m.held[:0], m.held[safe:]...)
	return out
}

// open returns where in what is held, from at on, the longest beginning of a value stands that may go on in the next piece; the end
// when there is none.
func (m *Masker) open(at int) int {
	begun := 0
	for i := range m.values {
		begun = max(begun, m.values[i].begun(m.held[at:]))
	}
	return len(m.held) - begun
}

// find returns where the first value starts in b and how long it is; of several at one place the
// longest.
func (m *Masker) find(b []byte) (at, n int) {
	at = -1
	for _, s := range m.values {
		limit := len(b)
		if at >= 0 {
			limit = min(limit, at+len(s.text)-1)
		}
		if i := bytes.Index(b[:limit], s.text); i >= 0 && (at < 0 || i < at) {
			at, n = i, len(s.text)
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

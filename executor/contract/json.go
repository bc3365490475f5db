package contract

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/ufbuild/ufbuild/lang"
)

const (
	// MaxJSON is the largest JSON document that is judged, in bytes. It is held in memory as
	// values, at about ten times its size.
	MaxJSON = 64 << 20
	// MaxDepth is how deep arrays and objects may be nested.
	MaxDepth = lang.MaxJSONDepth
)

// document is parsed JSON: a value, or for jsonl one value a line.
type document struct {
	value any   // jsonl: []any
	lines []int // jsonl: line number of each value
	ok    bool  // false: it did not parse, and that was reported
}

// jsonRules judges a json or jsonl file.
func (j *judging) jsonRules(s *Subject, c *lang.Contract, r *report) error {
	doc, err := j.parse(s.Output.Name, s.Captured.Digest.Size, s.Open, c.Kind == "jsonl", r)
	if err != nil || !doc.ok {
		return err
	}
	j.schemaRules(doc, c, r)
	itemRules(doc, c, r)
	return j.valueRules(doc, c, r)
}

// parse reads and parses a document once a judging; what is wrong with it goes to r, which is nil where it
// is reported elsewhere.
func (j *judging) parse(name string, size int64, open func() (io.ReadCloser, error), lines bool, r *report) (*document, error) {
	if doc, ok := j.docs[name]; ok && (doc.ok || r == nil) {
		return doc, nil
	}
	if r == nil {
		r = &report{}
	}
	doc := &document{}
	j.docs[name] = doc
	if size > MaxJSON {
		r.add("got %d bytes of JSON, want at most %d", size, MaxJSON)
		return doc, nil
	}
	b, err := readBytes(open)
	if err != nil {
		return nil, err
	}
	if lines {
		doc.parseLines(b, r)
	} else {
		doc.parseWhole(b, r)
	}
	return doc, nil
}

func readBytes(open func() (io.ReadCloser, error)) ([]byte, error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, MaxJSON+1))
}

func (d *document) parseWhole(b []byte, r *report) {
	v, bad := parseJSON(b)
	if bad != nil {
		line, col := position(b, bad.offset)
		r.add("line %d, column %d: %s", line, col, bad.what)
		return
	}
	d.value, d.ok = v, true
}

func (d *document) parseLines(b []byte, r *report) {
	values := []any{}
	d.ok = true
	for n := 1; len(b) > 0; n++ {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		v, bad := parseJSON(line)
		if bad != nil {
			_, col := position(line, bad.offset)
			r.add("line %d, column %d: %s", n, col, bad.what)
			d.ok = false
			continue
		}
		values, d.lines = append(values, v), append(d.lines, n)
	}
	d.value = values
}

// badJSON says what is wrong with a JSON text and at which byte.
type badJSON struct {
	offset int64
	what   string
}

// parseJSON parses one JSON text into the values of encoding/json, numbers as json.Number.
func parseJSON(b []byte) (any, *badJSON) {
	if at, what := lang.TextFault(b); what != "" {
		return nil, &badJSON{int64(at), what}
	}
	return decode(b)
}

func decode(b []byte) (any, *badJSON) {
	var raw json.RawMessage // checks the syntax of the whole text and gives exact offsets
	if err := json.Unmarshal(b, &raw); err != nil {
		return nil, syntaxError(b, err)
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, syntaxError(b, err)
	}
	if steps, wild := lang.WildNumber(v); wild {
		return nil, &badJSON{0, fmt.Sprintf("%s: a number out of the range of a double", pointerOrRoot(pointer(steps)))}
	}
	return v, nil
}

func syntaxError(b []byte, err error) *badJSON {
	var se *json.SyntaxError
	if !errors.As(err, &se) {
		return &badJSON{0, "JSON syntax: " + err.Error()}
	}
	at := max(se.Offset-1, 0)
	what := "JSON syntax: " + se.Error()
	switch {
	case se.Offset >= int64(len(b)) && strings.Contains(what, "unexpected end"):
		at = int64(len(b))
	case bytes.HasPrefix(bytes.TrimSpace(b), []byte("```")):
		what += "; the JSON is wrapped in a Markdown fence, want the bare JSON"
	}
	return &badJSON{at, what}
}

// position turns a byte offset into a 1-based line and column, columns in characters.
func position(b []byte, offset int64) (line, column int) {
	before := b[:min(offset, int64(len(b)))]
	line = 1 + bytes.Count(before, []byte("\n"))
	start := bytes.LastIndexByte(before, '\n') + 1
	return line, 1 + utf8.RuneCount(before[start:])
}

var pointerEscaper = strings.NewReplacer("~", "~0", "/", "~1")

func escapePointer(token string) string { return pointerEscaper.Replace(token) }

// pointerOrRoot spells the empty JSON pointer so that a reader sees it.
func pointerOrRoot(p string) string {
	if p == "" {
		return "(whole document)"
	}
	return p
}

package lang

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v4"
)

// frontMatterFields are all that front matter may hold: names for people, never sent and not hashed.
var frontMatterFields = []string{"id", "display_name"}

// frontMatter cuts the YAML front matter off a prompt and returns the rest with its position.
func (l *loader) frontMatter(name string, src []byte) (rest []byte, start hcl.Pos, ok bool) {
	body := bytes.TrimPrefix(src, byteOrderMark)
	start = hcl.InitialPos
	start.Byte = len(src) - len(body)
	fence := fenceLen(body)
	if fence == 0 {
		return body, start, true
	}
	matter, rest, lines := splitFrontMatter(body[fence:])
	if rest == nil {
		l.error("UF5004", hcl.Range{Filename: name, Start: start, End: start}, "The front matter has no closing line of three dashes.")
		return nil, start, false
	}
	l.checkFrontMatter(name, matter, start.Byte+fence)
	return rest, hcl.Pos{Line: lines + 2, Column: 1, Byte: len(src) - len(rest)}, true
}

// fenceLen returns the length of a line of three dashes at the start of b, its end included; 0 for none.
func fenceLen(b []byte) int {
	for _, fence := range []string{"---\n", "---\r\n"} {
		if bytes.HasPrefix(b, []byte(fence)) {
			return len(fence)
		}
	}
	return 0
}

// splitFrontMatter finds the closing fence; lines counts the lines up to and including it.
func splitFrontMatter(b []byte) (matter, rest []byte, lines int) {
	for at := 0; at < len(b); {
		lines++
		line := b[at:]
		if n := fenceLen(line); n > 0 {
			return b[:at], line[n:], lines
		}
		if bytes.Equal(line, []byte("---")) {
			return b[:at], []byte{}, lines
		}
		end := bytes.IndexByte(line, '\n')
		if end < 0 {
			break
		}
		at += end + 1
	}
	return nil, nil, 0
}

// checkFrontMatter reports what is not YAML or not allowed; offset is that of the text in the file.
func (l *loader) checkFrontMatter(name string, matter []byte, offset int) {
	defer l.recovered(hcl.Range{Filename: name, Start: hcl.InitialPos, End: hcl.InitialPos})
	where := func(line, column int) hcl.Range {
		pos := hcl.Pos{Line: line + 1, Column: max(column, 1), Byte: offset + lineOffset(matter, line) + max(column, 1) - 1}
		return hcl.Range{Filename: name, Start: pos, End: pos}
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(matter, &doc); err != nil {
		l.error("UF5004", where(1, 1), "The front matter is not YAML: %v.", err)
		return
	}
	if len(doc.Content) == 0 {
		return
	}
	m := doc.Content[0]
	if m.Kind != yaml.MappingNode {
		l.error("UF5004", where(m.Line, m.Column), "The front matter must be fields with values.")
		return
	}
	for i := 0; i+1 < len(m.Content); i += 2 {
		k := m.Content[i]
		if !containsString(frontMatterFields, k.Value) {
			r := where(k.Line, k.Column)
			r.End.Column += len(k.Value)
			r.End.Byte += len(k.Value)
			l.error("UF5004", r, "Unknown field %q in the front matter; allowed are id and display_name.", k.Value).
				meant(r, k.Value, frontMatterFields)
		}
	}
}

// lineOffset returns the byte offset of a 1-based line.
func lineOffset(b []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		n := bytes.IndexByte(b[at:], '\n')
		if n < 0 {
			break
		}
		at += n + 1
	}
	return at
}

package lsp

import (
	"bytes"
	"unicode/utf8"

	"github.com/ufbuild/ufbuild/lang"
)

// document is a file that is open in the editor.
type document struct {
	path  string // absolute
	text  []byte // never changed in place: campaigns keep it
	lines []int  // byte offset of each line
}

func newDocument(path string, text []byte) *document {
	d := &document{path: path, text: text, lines: []int{0}}
	for at := 0; ; {
		n := bytes.IndexByte(text[at:], '\n')
		if n < 0 {
			return d
		}
		at += n + 1
		d.lines = append(d.lines, at)
	}
}

// changed is the document after edits, each of which is about the text that the one before left.
func (d *document) changed(changes []Change) *document {
	for _, c := range changes {
		if c.Range == nil {
			d = newDocument(d.path, []byte(c.Text))
			continue
		}
		start, end := d.offset(c.Range.Start), d.offset(c.Range.End)
		if end < start {
			start, end = end, start
		}
		text := make([]byte, 0, len(d.text)+len(c.Text))
		text = append(append(append(text, d.text[:start]...), c.Text...), d.text[end:]...)
		d = newDocument(d.path, text)
	}
	return d
}

// line returns the bytes of a line (from 0) with its end; nothing where there is none.
func (d *document) line(n int) []byte {
	if n < 0 || n >= len(d.lines) {
		return nil
	}
	end := len(d.text)
	if n+1 < len(d.lines) {
		end = d.lines[n+1]
	}
	return d.text[d.lines[n]:end]
}

// offset is the byte offset of a position; what is outside of the text comes to its nearest end.
func (d *document) offset(p Position) int {
	switch {
	case p.Line < 0:
		return 0
	case p.Line >= len(d.lines):
		return len(d.text)
	}
	line := bytes.TrimRight(d.line(p.Line), "\r\n")
	at := 0
	for units := 0; at < len(line) && units < p.Character; {
		r, size := utf8.DecodeRune(line[at:])
		units += unitsOf(r)
		at += size
	}
	return d.lines[p.Line] + at
}

// unitsOf is how many UTF-16 units a character takes.
func unitsOf(r rune) int {
	if r > 0xFFFF {
		return 2
	}
	return 1
}

// position is the place of a byte offset.
func (d *document) position(offset int) Position {
	offset = max(0, min(offset, len(d.text)))
	lo, hi := 0, len(d.lines)-1
	for lo < hi {
		mid := (lo + hi + 1) / 2
		if d.lines[mid] <= offset {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	units := 0
	for at := d.lines[lo]; at < offset; {
		r, size := utf8.DecodeRune(d.text[at:])
		units += unitsOf(r)
		at += size
	}
	return Position{Line: lo, Character: units}
}

// span is the range between two byte offsets.
func (d *document) span(start, end int) Range {
	return Range{d.position(start), d.position(max(start, end))}
}

// place converts a range of lang in this file.
func (d *document) place(r lang.Range) Range { return d.span(r.Bytes()) }

// word returns the start of the name that ends at an offset.
func (d *document) word(offset int) int {
	at := offset
	for at > 0 && nameByte(d.text[at-1]) {
		at--
	}
	return at
}

// nameByte reports whether a byte may be part of a name.
func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c >= utf8.RuneSelf
}

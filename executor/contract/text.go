package contract

import (
	"bufio"
	"bytes"
	"io"
	"unicode/utf8"

	"github.com/ufbuild/ufbuild/lang"
)

// textRules judges markdown and text as a stream, so that a large log costs no memory.
func textRules(s *Subject, c *lang.Contract, r *report) error {
	f, err := s.Open()
	if err != nil {
		return err
	}
	defer f.Close()
	t, err := scanText(f)
	if err != nil {
		return err
	}
	if t.badLine > 0 {
		r.add("line %d: not UTF-8 (byte 0x%02x at offset %d)", t.badLine, t.badByte, t.badOffset)
	}
	if t.lines == 0 && c.Kind == "markdown" {
		r.add("says nothing: got only white space, want text")
	}
	if t.lines < c.MinItems {
		r.add("min_items: got %s, want at least %d", plural(t.lines, "non-blank line"), c.MinItems)
	}
	return nil
}

// textFacts is what one pass over a text finds.
type textFacts struct {
	lines     int   // that are not blank
	badLine   int   // 1-based line of the first byte that is not UTF-8; 0 for none
	badOffset int64 // 0-based
	badByte   byte
}

// scanText reads r to its end.
func scanText(r io.Reader) (textFacts, error) {
	var t textFacts
	in := bufio.NewReaderSize(r, 64<<10)
	line, offset, blank := 1, int64(0), true
	for {
		c, size, err := in.ReadRune()
		if err == io.EOF {
			return t, nil
		}
		if err != nil {
			return t, err
		}
		if c == utf8.RuneError && size == 1 && t.badLine == 0 {
			t.badLine, t.badOffset = line, offset
			if err := in.UnreadRune(); err == nil {
				t.badByte, _ = in.ReadByte()
			}
		}
		switch {
		case c == '\n':
			line, blank = line+1, true
		case blank && !bytes.ContainsRune(blanks, c):
			blank = false
			t.lines++
		}
		offset += int64(size)
	}
}

// blanks are the characters that make no line say anything. The last one is a byte order mark.
var blanks = []byte(" \t\r\v\f\u00a0\ufeff")

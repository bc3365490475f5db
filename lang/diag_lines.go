package lang

import (
	"bytes"
	"sort"
	"unicode/utf8"

	"github.com/apparentlymart/go-textseg/v15/textseg"
)

// LineIndex finds the lines of one file. It is built in one pass and then answers in constant time;
// it is immutable and may be used by several goroutines.
type LineIndex struct {
	src    []byte
	starts []int // byte offset of each line
}

// NewLineIndex reads src once. The index keeps src, which must not change.
func NewLineIndex(src []byte) *LineIndex {
	x := &LineIndex{src: src, starts: make([]int, 1, 1+bytes.Count(src, []byte{'\n'}))}
	for at := 0; ; {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			return x
		}
		at += i + 1
		x.starts = append(x.starts, at)
	}
}

// Lines returns how many lines there are; a file that ends in a newline has an empty last one.
func (x *LineIndex) Lines() int { return len(x.starts) }

// Line returns the bytes of the n-th line (from 1) without its line end; nil when there is none.
func (x *LineIndex) Line(n int) []byte {
	if n < 1 || n > len(x.starts) {
		return nil
	}
	end := len(x.src)
	if n < len(x.starts) {
		end = x.starts[n] - 1
	}
	return bytes.TrimSuffix(x.src[x.starts[n-1]:end], []byte{'\r'})
}

// Offset returns the position of p within its line, in bytes. It believes the byte offset of p when
// that lies in the line of p, else the column.
func (x *LineIndex) Offset(p Pos) int {
	line := x.Line(int(p.Line))
	if line == nil {
		return 0
	}
	off := int(p.Byte) - x.starts[p.Line-1]
	if off < 0 || off > len(line)+1 || (off == 0 && p.Column > 1) {
		return columnOffset(line, int(p.Column))
	}
	return min(off, len(line))
}

// UTF16Column returns the column of p (from 1) in UTF-16 code units, as SARIF and editors count.
func (x *LineIndex) UTF16Column(p Pos) int {
	line := x.Line(int(p.Line))
	if line == nil {
		return max(1, int(p.Column))
	}
	return 1 + utf16Len(line[:x.Offset(p)])
}

// Pos returns the position of a byte offset.
func (x *LineIndex) Pos(offset int) Pos {
	offset = max(0, min(offset, len(x.src)))
	line := sort.SearchInts(x.starts, offset+1)
	column := 1
	for rest := x.src[x.starts[line-1]:offset]; len(rest) > 0; column++ {
		n, _, err := textseg.ScanGraphemeClusters(rest, true)
		if err != nil || n == 0 {
			break
		}
		rest = rest[n:]
	}
	return posOf(line, column, offset)
}

// columnOffset returns the byte offset of a column (from 1) counted in characters as people see them.
func columnOffset(line []byte, column int) int {
	at := 0
	for ; column > 1 && at < len(line); column-- {
		n, _, err := textseg.ScanGraphemeClusters(line[at:], true)
		if err != nil || n == 0 {
			break
		}
		at += n
	}
	return at
}

// utf16Len counts UTF-16 code units. A byte that is not UTF-8 counts as one.
func utf16Len(b []byte) int {
	n := 0
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		n++
		if r > 0xFFFF {
			n++
		}
		b = b[size:]
	}
	return n
}

// lineIndexes makes the index of each file at most once.
type lineIndexes struct {
	source func(file string) ([]byte, bool)
	known  map[string]*LineIndex
}

// of returns the index of a file; nil when its source cannot be had.
func (l *lineIndexes) of(file string) *LineIndex {
	if x, ok := l.known[file]; ok {
		return x
	}
	var x *LineIndex
	if l.source != nil && file != "" {
		if src, ok := l.source(file); ok {
			x = NewLineIndex(src)
		}
	}
	if l.known == nil {
		l.known = map[string]*LineIndex{}
	}
	l.known[file] = x
	return x
}

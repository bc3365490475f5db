package main

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
)

// A patch of bytes that are no text is what git calls a binary patch: both sides whole, compressed, in an ASCII
// alphabet, under the names that git gives to them, so that it can be applied forwards and backwards and nothing
// else is taken for what it is against. Neither side is ever in memory as a whole.

// open returns the bytes of a side; a side that does not exist has none.
func (v *fileVersion) open() (io.ReadCloser, error) {
	if v == nil || !v.large {
		return io.NopCloser(bytes.NewReader(textOf(v))), nil
	}
	return v.read()
}

// size is the number of bytes of a side.
func (v *fileVersion) size() int64 {
	if v != nil && v.large {
		return v.entry.Digest.Size
	}
	return int64(len(textOf(v)))
}

// gitNothing is the name of a side that does not exist.
const gitNothing = "0000000000000000000000000000000000000000"

// gitObject is the name that git gives to the bytes of a side.
func (v *fileVersion) gitObject() (string, error) {
	if v == nil {
		return gitNothing, nil
	}
	r, err := v.open()
	if err != nil {
		return "", err
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", v.size())
	_, err = io.Copy(h, r)
	return hex.EncodeToString(h.Sum(nil)), errors.Join(err, r.Close())
}

// binaryPatch writes the part of a patch behind the modes.
func (c *fileChange) binaryPatch(w io.Writer) error {
	from, err := c.old.gitObject()
	if err != nil {
		return err
	}
	to, err := c.new.gitObject()
	if err != nil {
		return err
	}
	mode := ""
	if c.old != nil && c.new != nil && gitMode(c.old.entry) == gitMode(c.new.entry) {
		mode = " " + gitMode(c.new.entry)
	}
	if _, err := fmt.Fprintf(w, "index %s..%s%s\nGIT binary patch\n", from, to, mode); err != nil {
		return err
	}
	if err := c.new.literal(w); err != nil {
		return err
	}
	return c.old.literal(w)
}

// literal writes one side whole.
func (v *fileVersion) literal(w io.Writer) (err error) {
	if _, err := fmt.Fprintf(w, "literal %d\n", v.size()); err != nil {
		return err
	}
	r, err := v.open()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	lines := &base85Lines{w: w}
	z := zlib.NewWriter(lines)
	if _, err := io.Copy(z, r); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return lines.end()
}

// base85Line is how many bytes a line of a binary patch stands for.
const base85Line = 52

const base85Alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// base85Lines writes bytes in git's form of base 85: before each line its length as a letter.
type base85Lines struct {
	w    io.Writer
	held []byte
}

// Write implements io.Writer.
func (b *base85Lines) Write(p []byte) (int, error) {
	b.held = append(b.held, p...)
	for len(b.held) >= base85Line {
		if err := b.line(b.held[:base85Line]); err != nil {
			return 0, err
		}
		b.held = append(b.held[:0], b.held[base85Line:]...)
	}
	return len(p), nil
}

func (b *base85Lines) line(p []byte) error {
	length := byte('A' + len(p) - 1)
	if len(p) > 26 {
		length = byte('a' + len(p) - 27)
	}
	out := append(make([]byte, 0, base85Line/4*5+2), length)
	for ; len(p) > 0; p = p[min(4, len(p)):] {
		var word [4]byte
		copy(word[:], p)
		var digits [5]byte
		for n, i := binary.BigEndian.Uint32(word[:]), 4; i >= 0; i-- {
			digits[i] = base85Alphabet[n%85]
			n /= 85
		}
		out = append(out, digits[:]...)
	}
	_, err := b.w.Write(append(out, '\n'))
	return err
}

// end writes what is left, and the empty line that ends a side.
func (b *base85Lines) end() error {
	if len(b.held) > 0 {
		if err := b.line(b.held); err != nil {
			return err
		}
	}
	_, err := io.WriteString(b.w, "\n")
	return err
}

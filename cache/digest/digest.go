// Package digest names content: a [Digest] is the BLAKE3 sum of a byte string together with its length.
//
// Two blobs with equal digests are the same blob; everything stored is found, verified and compared by digest alone.
// A Digest is a comparable value, may be a map key, prints as "b3:<64 hex>/<size>" and parses back from exactly that
// text and no other. The zero Digest names no content at all (the empty blob has a sum of its own); it is written as
// the empty text in JSON.
//
// Danger: a digest proves bytes only when somebody has hashed them. Holding one says nothing about what a disk holds.
package digest

import (
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"

	"github.com/zeebo/blake3"
)

// Digest is the name of a blob. The zero value names nothing.
type Digest struct {
	Sum  [32]byte // BLAKE3, 256 bits, unkeyed
	Size int64    // bytes
}

// prefix says which algorithm made the sum, so that another one can be told apart in old data.
const prefix = "b3:"

// hexLen is the length of a printed sum.
const hexLen = 64

// Of returns the digest of b.
func Of(b []byte) Digest {
	return Digest{Sum: blake3.Sum256(b), Size: int64(len(b))}
}

// FromReader returns the digest of everything r yields. The error is that of r, unwrapped.
func FromReader(r io.Reader) (Digest, error) {
	h := NewHasher()
	// A stretch keeps BLAKE3 in its widest SIMD path; io.Copy's 32 KiB does not.
	buf := stretchPool.Get().(*[stretch]byte)
	defer stretchPool.Put(buf)
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{r}, buf[:]); err != nil {
		return Digest{}, err
	}
	return h.Digest(), nil
}

// IsZero reports whether d names nothing.
func (d Digest) IsZero() bool { return d == Digest{} }

// String returns "b3:<64 hex>/<size>", or "none" for the zero digest. Parse accepts the first form only.
func (d Digest) String() string {
	if d.IsZero() {
		return "none"
	}
	return string(d.Append(make([]byte, 0, 96)))
}

// Append appends the text form of d to b and returns the result; the zero digest appends nothing.
func (d Digest) Append(b []byte) []byte {
	if d.IsZero() {
		return b
	}
	b = append(b, prefix...)
	b = hex.AppendEncode(b, d.Sum[:])
	b = append(b, '/')
	return strconv.AppendInt(b, d.Size, 10)
}

// Short is the beginning of the sum, for people; Parse does not read it.
func (d Digest) Short() string { return prefix + d.Hex()[:12] }

// Hex returns the sum alone in 64 lower-case hex digits.
func (d Digest) Hex() string { return hex.EncodeToString(d.Sum[:]) }

// Parse reads the canonical text of a digest: lower-case hex and a size without sign or leading zeros.
func Parse(s string) (Digest, error) {
	var d Digest
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok || len(rest) < hexLen+2 || rest[hexLen] != '/' {
		return Digest{}, fmt.Errorf("parse digest %q: want b3:<64 hex>/<size>", s)
	}
	if err := ParseSum(&d.Sum, rest[:hexLen]); err != nil {
		return Digest{}, fmt.Errorf("parse digest %q: %w", s, err)
	}
	size, err := parseSize(rest[hexLen+1:])
	if err != nil {
		return Digest{}, fmt.Errorf("parse digest %q: %w", s, err)
	}
	d.Size = size
	if d.IsZero() {
		return Digest{}, fmt.Errorf("parse digest %q: names nothing", s)
	}
	return d, nil
}

// ParseSum decodes exactly 64 lower-case hex digits into sum. It is the one spelling of sums, used by digests and keys.
func ParseSum[T string | []byte](sum *[32]byte, s T) error {
	if len(s) != hexLen {
		return fmt.Errorf("want %d hex digits, have %d", hexLen, len(s))
	}
	for i := range sum {
		hi, lo := nibbles[s[2*i]], nibbles[s[2*i+1]]
		if hi|lo > 15 {
			return fmt.Errorf("byte %d is not lower-case hex", i)
		}
		sum[i] = hi<<4 | lo
	}
	return nil
}

// nibbles maps lower-case hex digits to their values and everything else to 255.
var nibbles = func() (table [256]byte) {
	for c := range table {
		table[c] = 255
	}
	for v, c := range "0123456789abcdef" {
		table[c] = byte(v)
	}
	return table
}()

func parseSize(s string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || n < 0 || strconv.FormatInt(n, 10) != s {
		return 0, fmt.Errorf("size %q is not a plain decimal", s)
	}
	return n, nil
}

// MarshalText returns the text form; the zero digest gives empty text.
func (d Digest) MarshalText() ([]byte, error) { return d.Append(nil), nil }

// AppendText appends what MarshalText returns.
func (d Digest) AppendText(b []byte) ([]byte, error) { return d.Append(b), nil }

// UnmarshalText reads the text form; empty text gives the zero digest.
func (d *Digest) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		*d = Digest{}
		return nil
	}
	p, err := Parse(string(b))
	if err != nil {
		return err
	}
	*d = p
	return nil
}

// Hasher computes a digest of what is written to it. It is not safe for concurrent use.
type Hasher struct {
	h hash.Hash
	n int64
}

// NewHasher returns a Hasher that has seen nothing.
func NewHasher() *Hasher { return &Hasher{h: blake3.New()} }

// Write adds b to the content. It never fails.
func (h *Hasher) Write(b []byte) (int, error) {
	h.n += int64(len(b))
	return h.h.Write(b)
}

// Digest returns the digest of what was written so far; more may be written afterwards.
func (h *Hasher) Digest() Digest {
	d := Digest{Size: h.n}
	h.h.Sum(d.Sum[:0])
	return d
}

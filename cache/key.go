package cache

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/zeebo/blake3"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// Domains keep keys, verdict keys and plain digests of the same bytes apart. The number is the salt: a new one disowns
// every earlier result, so it changes only when manifests stop meaning what they meant.
const (
	keyDomain     = "ufbuild manifest v1"
	verdictDomain = "ufbuild verdict v1"
)

// keyHashers and verdictHashers keep hashers between uses: one has a buffer of 8 KiB, and deriving from the domain costs as
// much as hashing a manifest.
var (
	keyHashers     = newHashers(keyDomain)
	verdictHashers = newHashers(verdictDomain)
)

// hashers is a pool of hashers of one domain.
type hashers struct{ pool sync.Pool }

func newHashers(domain string) *hashers {
	return &hashers{sync.Pool{New: func() any { return blake3.NewDeriveKey(domain) }}}
}

func (p *hashers) take() *blake3.Hasher { return p.pool.Get().(*blake3.Hasher) }

func (p *hashers) put(h *blake3.Hasher) {
	h.Reset()
	p.pool.Put(h)
}

// Key is the digest of a manifest and the index of the action cache. The zero Key is no key.
type Key [32]byte

// VerdictKey names a judgement: what a contract says about certain outputs. The zero VerdictKey is none.
type VerdictKey [32]byte

// KeyOf returns the key of a manifest.
func KeyOf(manifest []byte) Key {
	h := keyHashers.take()
	defer keyHashers.put(h)
	writeSized(h, manifest)
	var k Key
	h.Sum(k[:0])
	return k
}

// VerdictKeyOf returns the key of what the contract says about outputs. The order of outputs matters; a zero digest
// stands for an output that does not exist.
func VerdictKeyOf(contractManifest []byte, outputs []digest.Digest) VerdictKey {
	h := verdictHashers.take()
	defer verdictHashers.put(h)
	writeSized(h, contractManifest)
	writeNumber(h, int64(len(outputs)))
	for _, d := range outputs {
		_, _ = h.Write(d.Sum[:])
		writeNumber(h, d.Size)
	}
	var k VerdictKey
	h.Sum(k[:0])
	return k
}

// writeSized adds b after its length, so that no two sequences of parts hash alike. A hasher's Write never fails.
func writeSized(h *blake3.Hasher, b []byte) {
	writeNumber(h, int64(len(b)))
	_, _ = h.Write(b)
}

func writeNumber(h *blake3.Hasher, n int64) {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], uint64(n))
	_, _ = h.Write(b[:])
}

// IsZero reports whether k is no key.
func (k Key) IsZero() bool { return k == Key{} }

// String returns "k:<64 hex>".
func (k Key) String() string { return sumText("k:", (*[32]byte)(&k)) }

// Short returns the first 12 hex digits, for people.
func (k Key) Short() string { return hex.EncodeToString(k[:6]) }

// MarshalText returns the text form; the zero Key gives empty text.
func (k Key) MarshalText() ([]byte, error) { return k.AppendText(nil) }

// AppendText appends what MarshalText returns.
func (k Key) AppendText(b []byte) ([]byte, error) { return appendSum(b, "k:", (*[32]byte)(&k)), nil }

// UnmarshalText reads the text form; empty text gives the zero Key.
func (k *Key) UnmarshalText(b []byte) error { return parseSumText((*[32]byte)(k), "k:", string(b)) }

// ParseKey reads what String prints, and nothing else.
func ParseKey(s string) (Key, error) {
	var k Key
	if s == "" {
		return k, fmt.Errorf("parse key %q: want k:<64 hex>", s)
	}
	err := k.UnmarshalText([]byte(s))
	return k, err
}

// IsZero reports whether k is none.
func (k VerdictKey) IsZero() bool { return k == VerdictKey{} }

// String returns "v:<64 hex>".
func (k VerdictKey) String() string { return sumText("v:", (*[32]byte)(&k)) }

// Short returns the first 12 hex digits, for people.
func (k VerdictKey) Short() string { return hex.EncodeToString(k[:6]) }

// MarshalText returns the text form; the zero VerdictKey gives empty text.
func (k VerdictKey) MarshalText() ([]byte, error) { return k.AppendText(nil) }

// AppendText appends what MarshalText returns.
func (k VerdictKey) AppendText(b []byte) ([]byte, error) {
	return appendSum(b, "v:", (*[32]byte)(&k)), nil
}

// UnmarshalText reads the text form; empty text gives the zero VerdictKey.
func (k *VerdictKey) UnmarshalText(b []byte) error {
	return parseSumText((*[32]byte)(k), "v:", string(b))
}

func appendSum(b []byte, prefix string, sum *[32]byte) []byte {
	if *sum == [32]byte{} {
		return b
	}
	return hex.AppendEncode(append(b, prefix...), sum[:])
}

func parseSumText(sum *[32]byte, prefix, s string) error {
	var parsed [32]byte
	if s == "" {
		*sum = parsed
		return nil
	}
	rest, ok := strings.CutPrefix(s, prefix)
	if !ok {
		return fmt.Errorf("parse key %q: want %s<64 hex>", s, prefix)
	}
	if err := digest.ParseSum(&parsed, rest); err != nil {
		return fmt.Errorf("parse key %q: %w", s, err)
	}
	*sum = parsed
	return nil
}

// sumText spells a sum behind the letter of its kind.
func sumText(kind string, sum *[32]byte) string {
	b := append(make([]byte, 0, 2+2*len(sum)), kind...)
	return string(hex.AppendEncode(b, sum[:]))
}

package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/zeebo/blake3"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// Digest names a blob in the digest function of a client: a BLAKE3 or SHA256 sum together with the length in bytes.
type Digest struct {
	Sum  [32]byte
	Size int64
}

// IsZero reports whether d names nothing.
func (d Digest) IsZero() bool { return d == Digest{} }

// Hex returns the sum in lower-case hex digits.
func (d Digest) Hex() string {
	var text [2 * len(d.Sum)]byte
	hex.Encode(text[:], d.Sum[:])
	return string(text[:])
}

// String returns "<hex>/<size>", as REAPI tools print digests.
func (d Digest) String() string { return fmt.Sprintf("%s/%d", d.Hex(), d.Size) }

// Proto returns the message of d; nil for the zero digest.
func (d Digest) Proto() *repb.Digest {
	if d.IsZero() {
		return nil
	}
	return &repb.Digest{Hash: d.Hex(), SizeBytes: d.Size}
}

// protos returns the messages of digests, none of which is zero.
func protos(digests []Digest) []*repb.Digest {
	all, out := make([]repb.Digest, len(digests)), make([]*repb.Digest, len(digests))
	for i, d := range digests {
		out[i] = &all[i]
		out[i].Hash, out[i].SizeBytes = d.Hex(), d.Size
	}
	return out
}

// FromProto reads a digest that a server sent. A nil message, a sum of another length and a negative size are errors.
func FromProto(p *repb.Digest) (Digest, error) {
	d := Digest{Size: p.GetSizeBytes()}
	if err := digest.ParseSum(&d.Sum, p.GetHash()); err != nil {
		return Digest{}, fmt.Errorf("read digest %q: %w", p.GetHash(), err)
	}
	if d.Size < 0 {
		return Digest{}, fmt.Errorf("read digest %s: the size is negative", d)
	}
	return d, nil
}

// Function is a digest function that this package can use.
type Function int

// The functions, best first.
const (
	BLAKE3 Function = iota + 1
	SHA256
)

// String returns REAPI's name.
func (f Function) String() string { return f.Proto().String() }

// Proto returns REAPI's value.
func (f Function) Proto() repb.DigestFunction_Value {
	switch f {
	case BLAKE3:
		return repb.DigestFunction_BLAKE3
	case SHA256:
		return repb.DigestFunction_SHA256
	}
	return repb.DigestFunction_UNKNOWN
}

// Of returns the digest of b.
func (f Function) Of(b []byte) Digest {
	if f == SHA256 {
		return Digest{Sum: sha256.Sum256(b), Size: int64(len(b))}
	}
	return Digest{Sum: blake3.Sum256(b), Size: int64(len(b))}
}

// hasher returns a new hash of the function.
func (f Function) hasher() hash.Hash {
	if f == SHA256 {
		return sha256.New()
	}
	return blake3.New()
}

// segment is what stands before a hash in the resource names of ByteStream: a name for functions that a length of hash
// does not tell apart from older ones.
func (f Function) segment() string {
	if f == BLAKE3 {
		return "blake3/"
	}
	return ""
}

package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// CAS maps digests to blobs. All methods may be called concurrently.
type CAS interface {
	// Put stores what r yields and returns its digest. A blob that is there already is not stored again. An error of r
	// stores nothing.
	Put(r io.Reader) (digest.Digest, error)
	// Open returns the bytes of d. What it yields up to io.EOF was verified; it ends in ErrCorrupt instead of io.EOF when
	// the bytes are not those of d. The error is ErrMissing or ErrCorrupt, or the world's.
	Open(d digest.Digest) (io.ReadCloser, error)
	// Has reports whether d is there, without reading its bytes.
	Has(d digest.Digest) (bool, error)
}

// Actions maps keys to attempts. All methods may be called concurrently.
type Actions interface {
	// Append adds records, in order. They are visible to every handle of the store when Append returns, and durable after Sync; after
	// an error none is. Who is killed within it leaves the first of them, or none.
	Append(records ...Record) error
	// Attempts returns the attempts of k in order of their ordinals, with everything appended so far by any process. The
	// caller owns the slice.
	Attempts(k Key) ([]Attempt, error)
}

// Store is a CAS and an action cache together. All methods may be called concurrently.
type Store interface {
	CAS
	Actions
	// Sync returns when everything put and appended before the call is durable: blobs first, then records. Concurrent
	// calls share one commit.
	Sync() error
	// Lock holds k until release is called, so that one key is executed once at a time by all users of the store. It
	// waits for the present holder, and gives up with the error of ctx; a key that nobody has is given also when ctx is over.
	// The kernel releases it when the process dies. release may be called more than once.
	Lock(ctx context.Context, k Key) (release func(), err error)
	// Workdir is the absolute directory below which workspaces are made. It may not exist yet.
	Workdir() string
	// RegisterCampaign makes the absolute root known to the store, so that trim can ask it what it selected.
	RegisterCampaign(root string) error
	// Campaigns returns the registered roots, sorted. Some may be gone.
	Campaigns() ([]string, error)
	// Close releases what the handle holds. It does not Sync.
	Close() error
}

// ErrMissing says that a blob is not in the store.
type ErrMissing struct{ Digest digest.Digest }

// Error implements error.
func (e ErrMissing) Error() string { return fmt.Sprintf("read blob %s: not in the store", e.Digest) }

// ErrCorrupt says that the bytes found are not those the digest names.
type ErrCorrupt struct {
	Digest digest.Digest
	Detail string
}

// Error implements error.
func (e ErrCorrupt) Error() string {
	return fmt.Sprintf("read blob %s: stored bytes are damaged: %s", e.Digest, e.Detail)
}

// IsMissing reports whether err says that a blob is missing.
func IsMissing(err error) bool { return err != nil && errors.As(err, new(ErrMissing)) }

// IsCorrupt reports whether err says that a blob is corrupt.
func IsCorrupt(err error) bool { return err != nil && errors.As(err, new(ErrCorrupt)) }

// ReadAll returns the verified bytes of d. A blob longer than limit bytes is an error and is not read; a limit below 0
// means no limit. Other errors are those of Open.
func ReadAll(cas CAS, d digest.Digest, limit int64) ([]byte, error) {
	if limit >= 0 && d.Size > limit {
		return nil, fmt.Errorf("read blob %s: %d bytes is more than the limit of %d", d, d.Size, limit)
	}
	r, err := cas.Open(d)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	b := bytes.NewBuffer(make([]byte, 0, firstBuffer(d.Size)))
	if _, err := b.ReadFrom(r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Copier is a CAS that copies blobs without an allocation for each.
type Copier interface {
	// CopyBlob writes the bytes of d. The error is that of Open, of reading or of w. Of a blob that is damaged some bytes may have been
	// written.
	CopyBlob(w io.Writer, d digest.Digest) error
}

// CopyBlob writes the bytes of d to w, as Copier says, whatever cas is.
func CopyBlob(w io.Writer, cas CAS, d digest.Digest) error {
	if c, ok := cas.(Copier); ok {
		return c.CopyBlob(w, d)
	}
	r, err := cas.Open(d)
	if err != nil {
		return err
	}
	_, err = io.Copy(w, r)
	return errors.Join(err, r.Close())
}

// firstBuffer bounds what is allocated on the word of a digest alone; a forged size must not exhaust memory.
func firstBuffer(size int64) int64 { return min(max(size, 0), 1<<20) + bytes.MinRead }

// PutBytes stores b and returns its digest. The error is that of Put.
func PutBytes(cas CAS, b []byte) (digest.Digest, error) { return cas.Put(bytes.NewReader(b)) }

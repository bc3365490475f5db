package remote

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"sync"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ufbuild/ufbuild/cache"
)

// MissingError says that the server does not have a blob.
type MissingError struct{ Digest Digest }

// Error implements error.
func (e *MissingError) Error() string { return fmt.Sprintf("download %s: not on the remote", e.Digest) }

// Is makes it an ErrNotFound.
func (e *MissingError) Is(target error) bool { return target == ErrNotFound }

// CorruptError says that a server sent other bytes than the digest names.
type CorruptError struct {
	Digest Digest
	Detail string
}

// Error implements error.
func (e *CorruptError) Error() string {
	return fmt.Sprintf("download %s: the remote sent other bytes: %s", e.Digest, e.Detail)
}

// Is makes it a cache.ErrPoisoned.
func (e *CorruptError) Is(target error) bool { return target == cache.ErrPoisoned }

// Read fetches blobs and calls each for every one with its verified bytes, from several goroutines and in any order. Small
// ones travel together; each reads a large one as a stream, whose last Read fails when the bytes are not those of the digest,
// and must then forget what it read. It stops at the first error: a *MissingError, a *CorruptError, that of each, or the
// server's.
func (c *Client) Read(ctx context.Context, digests []Digest, each func(Digest, io.Reader) error) error {
	var work [][]Digest
	var small []Digest
	rest, err := giveEmpty(c.function, digests, each)
	if err != nil {
		return err
	}
	for _, d := range unique(rest) {
		if d.Size+perBlob <= c.batchBytes() && !c.noBatchRead.Load() {
			small = append(small, d)
		} else {
			work = append(work, []Digest{d})
		}
	}
	work = append(work, batches(small, c.batchBytes(), func(d Digest) int64 { return d.Size })...)
	return parallel(ctx, work, func(ctx context.Context, some []Digest) error {
		if len(some) == 1 && some[0].Size+perBlob > c.batchBytes() || c.noBatchRead.Load() {
			return c.readEach(ctx, some, each)
		}
		return c.readBatch(ctx, some, each)
	})
}

// giveEmpty hands the empty blob to each, if it is asked for, and returns the other digests.
func giveEmpty(f Function, digests []Digest, each func(Digest, io.Reader) error) ([]Digest, error) {
	rest := notEmpty(f, digests)
	if len(rest) == len(digests) {
		return rest, nil
	}
	return rest, each(f.Of(nil), bytes.NewReader(nil))
}

func (c *Client) readEach(ctx context.Context, digests []Digest, each func(Digest, io.Reader) error) error {
	for _, d := range digests {
		r := c.Open(ctx, d)
		err := each(d, r)
		_ = r.Close() // reading told already
		if err != nil {
			return err
		}
	}
	return nil
}

// readBatch fetches small blobs in one request. What the server refuses to send in a batch is read as a stream.
func (c *Client) readBatch(ctx context.Context, digests []Digest, each func(Digest, io.Reader) error) error {
	req := &repb.BatchReadBlobsRequest{InstanceName: c.endpoint.instance, DigestFunction: c.function.Proto(), Digests: protos(digests)}
	if c.offer.ZstdBatch {
		req.AcceptableCompressors = []repb.Compressor_Value{repb.Compressor_IDENTITY, repb.Compressor_ZSTD}
	}
	reply, err := c.cas.BatchReadBlobs(ctx, req)
	switch codeOf(err) {
	case codes.Unimplemented:
		c.noBatchRead.Store(true)
		return c.readEach(ctx, digests, each)
	case codes.ResourceExhausted, codes.InvalidArgument: // larger than it sends at once, in spite of what it said
		return c.readEach(ctx, digests, each)
	}
	if err != nil {
		return fmt.Errorf("download blobs: %w", tell(err))
	}
	open := make(map[Digest]bool, len(digests))
	for _, d := range digests {
		open[d] = true
	}
	for _, r := range reply.GetResponses() {
		d, err := FromProto(r.GetDigest())
		if err != nil || !open[d] {
			return fmt.Errorf("download blobs: the remote sent one that it was not asked for")
		}
		delete(open, d)
		data, err := c.batchBytesOf(d, r)
		if err != nil {
			return err
		}
		if err := each(d, bytes.NewReader(data)); err != nil {
			return err
		}
	}
	for d := range open { // a server may leave out what does not fit
		if err := c.readEach(ctx, []Digest{d}, each); err != nil {
			return err
		}
	}
	return nil
}

// batchBytesOf returns the verified bytes of one answer in a batch.
func (c *Client) batchBytesOf(d Digest, r *repb.BatchReadBlobsResponse_Response) ([]byte, error) {
	switch s := status.FromProto(r.GetStatus()); s.Code() {
	case codes.OK:
	case codes.NotFound:
		return nil, &MissingError{d}
	default:
		return nil, fmt.Errorf("download %s: %w", d, tell(s.Err()))
	}
	data := r.GetData()
	if r.GetCompressor() == repb.Compressor_ZSTD {
		var err error
		if data, err = decompress(data, d.Size); err != nil {
			return nil, &CorruptError{d, err.Error()}
		}
	}
	if have := c.function.Of(data); have != d {
		return nil, &CorruptError{d, fmt.Sprintf("they are %s", have)}
	}
	return data, nil
}

// ReadAll returns the verified bytes of one blob. One larger than limit bytes is an error and is not read.
func (c *Client) ReadAll(ctx context.Context, d Digest, limit int64) ([]byte, error) {
	if d.Size > limit {
		return nil, fmt.Errorf("download %s: it is larger than the limit of %d bytes", d, limit)
	}
	var mu sync.Mutex
	var out []byte
	err := c.Read(ctx, []Digest{d}, func(_ Digest, r io.Reader) error {
		b, err := io.ReadAll(r)
		mu.Lock()
		defer mu.Unlock()
		out = b
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Download writes the bytes of d to w. An error at any time means that what was written must not be used.
func (c *Client) Download(ctx context.Context, d Digest, w io.Writer) error {
	r := c.Open(ctx, d)
	_, err := io.Copy(w, r)
	_ = r.Close() // reading told already
	return err
}

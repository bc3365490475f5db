package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

const (
	maxDigests  = 1000    // of one request: a server meets no longer list from Bazel either
	batchLimit  = 1 << 20 // bytes of a batch; larger ones gain nothing and meet limits of servers
	perBlob     = 128     // bytes that a blob adds to a message beside its own
	inParallel  = 8       // requests that one call of this package has under way
	smallestZip = 256     // bytes below which compressing costs more than it saves
)

// Blob is something to upload. Its bytes are in Bytes, or come from Open, which may be called more than once, or are those of Local
// in From.
type Blob struct {
	Digest Digest
	Bytes  []byte
	Open   func() (io.ReadCloser, error)
	From   cache.CAS
	Local  digest.Digest
}

func (b Blob) reader() (io.ReadCloser, error) {
	switch {
	case b.Open != nil:
		return b.Open()
	case b.Bytes == nil && b.From != nil:
		return b.From.Open(b.Local)
	}
	return io.NopCloser(bytes.NewReader(b.Bytes)), nil
}

// readBlobs returns the bytes of small blobs, in their order.
func readBlobs(blobs []Blob) ([][]byte, error) {
	out, err := together(blobs)
	if err != nil {
		return nil, err
	}
	for i, b := range blobs {
		if out[i] == nil {
			if out[i], err = b.read(); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// together returns the bytes of those blobs that one store can read together, and nil for the others.
func together(blobs []Blob) ([][]byte, error) {
	out := make([][]byte, len(blobs))
	first := slices.IndexFunc(blobs, func(b Blob) bool { return b.From != nil })
	if first < 0 {
		return out, nil
	}
	many, ok := blobs[first].From.(interface {
		Small([]digest.Digest) ([][]byte, error)
	})
	if !ok {
		return out, nil
	}
	var digests []digest.Digest
	var places []int
	for i, b := range blobs {
		if b.From == blobs[first].From && b.Bytes == nil {
			digests, places = append(digests, b.Local), append(places, i)
		}
	}
	found, err := many.Small(digests)
	for i, b := range found {
		out[places[i]] = b
	}
	return out, err
}

func (b Blob) read() ([]byte, error) {
	if b.Bytes != nil {
		return b.Bytes, nil
	}
	r, err := b.reader()
	if err != nil {
		return nil, err
	}
	all, err := readSized(r, b.Digest.Size)
	if err = errors.Join(err, r.Close()); err == nil && int64(len(all)) != b.Digest.Size {
		err = fmt.Errorf("read blob %s: it has another length", b.Digest)
	}
	return all, err
}

// FindMissing returns those of digests that the server does not have. The empty blob never is missing: every client has it, and
// servers differ in what they say of it.
func (c *Client) FindMissing(ctx context.Context, digests []Digest) ([]Digest, error) {
	return c.findMissing(ctx, unique(notEmpty(c.function, digests)))
}

// notEmpty leaves out the empty blob.
func notEmpty(f Function, digests []Digest) []Digest {
	empty := f.Of(nil)
	return slices.DeleteFunc(slices.Clone(digests), func(d Digest) bool { return d == empty })
}

// findMissing asks about all of digests, none of which is there twice.
func (c *Client) findMissing(ctx context.Context, digests []Digest) ([]Digest, error) {
	var mu sync.Mutex
	var missing []Digest
	err := parallel(ctx, slices.Collect(slices.Chunk(digests, maxDigests)), func(ctx context.Context, some []Digest) error {
		reply, err := c.cas.FindMissingBlobs(ctx, &repb.FindMissingBlobsRequest{
			InstanceName: c.endpoint.instance, BlobDigests: protos(some), DigestFunction: c.function.Proto(),
		})
		if err != nil {
			return fmt.Errorf("ask which blobs the remote lacks: %w", tell(err))
		}
		mu.Lock()
		defer mu.Unlock()
		for _, p := range reply.GetMissingBlobDigests() {
			d, err := FromProto(p)
			if err != nil {
				return fmt.Errorf("ask which blobs the remote lacks: %w", err)
			}
			missing = append(missing, d)
		}
		return nil
	})
	return missing, err
}

func unique(digests []Digest) []Digest {
	seen := make(map[Digest]bool, len(digests))
	out := make([]Digest, 0, len(digests))
	for _, d := range digests {
		if !d.IsZero() && !seen[d] {
			seen[d] = true
			out = append(out, d)
		}
	}
	return out
}

// Sent says what an upload took.
type Sent struct {
	Blobs int   // sent; the others were there
	Bytes int64 // of those, before compression
}

// Upload makes sure that the server has all blobs: it asks which are missing and sends those.
func (c *Client) Upload(ctx context.Context, blobs []Blob) (Sent, error) {
	places := make(map[Digest]int, len(blobs))
	digests := make([]Digest, 0, len(blobs))
	for i, b := range blobs {
		if _, twice := places[b.Digest]; !twice && !b.Digest.IsZero() {
			digests = append(digests, b.Digest)
			places[b.Digest] = i
		}
	}
	missing, err := c.findMissing(ctx, digests)
	if err != nil {
		return Sent{}, err
	}
	send := make([]Blob, 0, len(missing))
	var sent Sent
	for _, d := range missing {
		i, ok := places[d]
		if !ok {
			return Sent{}, fmt.Errorf("upload: the remote lacks %s, which it was not asked for", d)
		}
		if c.offer.MaxBlob > 0 && d.Size > c.offer.MaxBlob {
			return Sent{}, fmt.Errorf("upload %s: %w: at most %d bytes", d, cache.ErrTooLarge, c.offer.MaxBlob)
		}
		send = append(send, blobs[i])
		sent.Blobs++
		sent.Bytes += d.Size
	}
	return sent, c.send(ctx, send)
}

// send sends blobs: small ones together, others each in a stream.
func (c *Client) send(ctx context.Context, blobs []Blob) error {
	var work [][]Blob
	small := make([]Blob, 0, len(blobs))
	for _, b := range blobs {
		if b.Digest.Size+perBlob <= c.batchBytes() && !c.noBatchUpdate.Load() {
			small = append(small, b)
		} else {
			work = append(work, []Blob{b})
		}
	}
	work = append(work, batches(small, c.batchBytes(), func(b Blob) int64 { return b.Digest.Size })...)
	return parallel(ctx, work, func(ctx context.Context, some []Blob) error {
		if len(some) == 1 && some[0].Digest.Size+perBlob > c.batchBytes() || c.noBatchUpdate.Load() {
			return c.sendEach(ctx, some)
		}
		return c.sendBatch(ctx, some)
	})
}

// batchBytes is what one batch may hold. A server that names no limit still has that of gRPC, 4 MiB.
func (c *Client) batchBytes() int64 {
	if c.offer.MaxBatch > 0 {
		return min(c.offer.MaxBatch, batchLimit)
	}
	return batchLimit
}

// batches splits items so that none has more than limit bytes, overhead included, or too many items.
func batches[T any](items []T, limit int64, size func(T) int64) [][]T {
	var out [][]T
	first, sum := 0, int64(0)
	for i, item := range items {
		n := size(item) + perBlob
		if i > first && (sum+n > limit || i-first >= maxDigests) {
			out = append(out, items[first:i])
			first, sum = i, 0
		}
		sum += n
	}
	if first < len(items) {
		out = append(out, items[first:])
	}
	return out
}

func (c *Client) sendEach(ctx context.Context, blobs []Blob) error {
	for _, b := range blobs {
		if err := c.write(ctx, b); err != nil {
			return err
		}
	}
	return nil
}

// sendBatch sends small blobs in one request, and once more those that the server could not take just then.
func (c *Client) sendBatch(ctx context.Context, blobs []Blob) error {
	return c.Retry(ctx, func(ctx context.Context) error {
		left, err := c.tryBatch(ctx, blobs)
		if codeOf(err) == codes.Unimplemented {
			c.noBatchUpdate.Store(true)
			return c.sendEach(ctx, blobs)
		}
		blobs = left
		return err
	})
}

func (c *Client) tryBatch(ctx context.Context, blobs []Blob) (left []Blob, err error) {
	req := &repb.BatchUpdateBlobsRequest{
		InstanceName: c.endpoint.instance, DigestFunction: c.function.Proto(), Requests: make([]*repb.BatchUpdateBlobsRequest_Request, 0, len(blobs)),
	}
	all, err := readBlobs(blobs)
	if err != nil {
		return blobs, err
	}
	for i, b := range blobs {
		data := all[i]
		one := &repb.BatchUpdateBlobsRequest_Request{Digest: b.Digest.Proto(), Data: data}
		if c.offer.ZstdBatch && len(data) >= smallestZip {
			if zipped := compress(data); len(zipped) < len(data) {
				one.Data, one.Compressor = zipped, repb.Compressor_ZSTD
			}
		}
		req.Requests = append(req.Requests, one)
	}
	reply, err := c.cas.BatchUpdateBlobs(ctx, req)
	if err != nil {
		return blobs, fmt.Errorf("upload blobs: %w", tell(err))
	}
	return notTaken(blobs, reply)
}

// notTaken returns the blobs of a batch that a server does not say it has, and why.
func notTaken(blobs []Blob, reply *repb.BatchUpdateBlobsResponse) (left []Blob, err error) {
	answers := reply.GetResponses()
	taken := make([]bool, len(blobs))
	for i, r := range answers {
		d, bad := FromProto(r.GetDigest())
		switch { // most servers keep the order; Bazel's own worker does not say which, and keeps it
		case r.GetDigest() == nil && len(answers) == len(blobs):
			d = blobs[i].Digest
		case bad != nil:
			return blobs, fmt.Errorf("upload blobs: %w", bad)
		case i >= len(blobs) || blobs[i].Digest != d:
			i = slices.IndexFunc(blobs, func(b Blob) bool { return b.Digest == d })
		}
		if i < 0 {
			return blobs, errors.New("upload blobs: the remote answers for a blob that it was not sent")
		}
		s := status.FromProto(r.GetStatus())
		taken[i] = s.Code() == codes.OK
		if !taken[i] && err == nil {
			err = fmt.Errorf("upload blob %s: %w", d, tell(s.Err()))
		}
	}
	for i, b := range blobs {
		if !taken[i] {
			left = append(left, b)
		}
	}
	if err == nil && len(left) > 0 {
		err = fmt.Errorf("upload blobs: the remote says nothing of %d of them", len(left))
	}
	return left, err
}

// parallel does all work, some of it at a time, and returns the first error, which stops the rest.
func parallel[T any](ctx context.Context, work []T, do func(context.Context, T) error) error {
	if len(work) == 1 {
		return do(ctx, work[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var all sync.WaitGroup
	var once sync.Once
	var failed error
	next := make(chan T)
	for range min(inParallel, len(work)) {
		all.Go(func() {
			for w := range next {
				if err := do(ctx, w); err != nil {
					once.Do(func() { failed = err; cancel() })
				}
			}
		})
	}
	for _, w := range work {
		if ctx.Err() != nil {
			break
		}
		next <- w
	}
	close(next)
	all.Wait()
	if failed == nil {
		failed = context.Cause(ctx)
		if ctx.Err() == nil {
			failed = nil
		}
	}
	return failed
}

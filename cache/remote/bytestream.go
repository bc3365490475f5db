package remote

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash"
	"io"

	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc/codes"

	"github.com/klauspost/compress/zstd"
)

// chunk is how many bytes one message of a stream carries.
const chunk = 256 << 10

// overlap is how much of what was read already is read again when a broken stream is taken up, to see whether the server
// begins where it was asked to.
const overlap = 4 << 10

// zippedStream reports whether a blob of this size travels compressed in a stream.
func (c *Client) zippedStream(size int64) bool { return c.offer.ZstdStream && size >= smallestZip }

// resource is the name of a blob in ByteStream.
func (c *Client) resource(d Digest, upload string) string {
	kind := "blobs/"
	if c.zippedStream(d.Size) {
		kind = "compressed-blobs/zstd/"
	}
	name := upload + kind + c.function.segment() + d.String()
	if c.endpoint.instance != "" {
		return c.endpoint.instance + "/" + name
	}
	return name
}

// write uploads a blob as a stream.
func (c *Client) write(ctx context.Context, b Blob) error {
	err := c.Retry(ctx, func(ctx context.Context) error { return c.tryWrite(ctx, b) })
	if err != nil {
		return fmt.Errorf("upload blob %s: %w", b.Digest, err)
	}
	return nil
}

func (c *Client) tryWrite(ctx context.Context, b Blob) error {
	r, err := b.reader()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	ctx, kick, stop := c.watch(ctx)
	defer stop()
	s, err := c.stream.Write(ctx)
	if err != nil {
		return tell(err)
	}
	out := &streamWriter{s: s, kick: kick, name: c.resource(b.Digest, "uploads/"+uuid()+"/")}
	if err := c.pour(out, r, b.Digest.Size); err != nil && !errors.Is(err, io.EOF) {
		return tell(late(ctx, err))
	}
	reply, err := s.CloseAndRecv()
	if err != nil {
		return tell(late(ctx, err))
	}
	// A server that has the blob meanwhile may end early and say the whole size, or -1 for a compressed one.
	if n := reply.GetCommittedSize(); n != b.Digest.Size && n != out.offset && n != -1 {
		return fmt.Errorf("the remote took %d bytes of %d", n, b.Digest.Size)
	}
	return nil
}

// pour sends r, which has to have size bytes. io.EOF says that the server ended the stream early; its answer says why.
func (c *Client) pour(out *streamWriter, r io.Reader, size int64) error {
	w := io.WriteCloser(out)
	if c.zippedStream(size) {
		z := zippers.Get().(*zstd.Encoder)
		defer zippers.Put(z)
		z.Reset(out)
		w = both{z, out}
	}
	n, err := io.CopyBuffer(struct{ io.Writer }{w}, struct{ io.Reader }{io.LimitReader(r, size+1)}, make([]byte, chunk))
	if err == nil && n != size {
		err = fmt.Errorf("read the blob: it has %d bytes", n)
	}
	if err != nil {
		return err
	}
	return w.Close()
}

// both closes two writers in order.
type both struct {
	io.WriteCloser
	then io.Closer
}

// Close implements io.Closer.
func (b both) Close() error {
	if err := b.WriteCloser.Close(); err != nil {
		return err
	}
	return b.then.Close()
}

// streamWriter sends what is written to it in messages of a chunk.
type streamWriter struct {
	s      bytestream.ByteStream_WriteClient
	kick   func()
	name   string
	offset int64
	buf    []byte
}

// Write implements io.Writer.
func (w *streamWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		if len(w.buf) == chunk { // only now: the last message has to be the one with the last byte
			if err := w.flush(false); err != nil {
				return n - len(p), err
			}
		}
		take := min(chunk-len(w.buf), len(p))
		w.buf, p = append(w.buf, p[:take]...), p[take:]
	}
	return n, nil
}

// Close sends the rest.
func (w *streamWriter) Close() error { return w.flush(true) }

func (w *streamWriter) flush(last bool) error {
	err := w.s.Send(&bytestream.WriteRequest{ResourceName: w.name, WriteOffset: w.offset, Data: w.buf, FinishWrite: last})
	w.offset += int64(len(w.buf))
	w.buf = w.buf[:0]
	w.kick()
	return err
}

// uuid names one upload.
func uuid() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// Open returns the bytes of d as a stream. What it yields up to io.EOF was verified: it ends in a *MissingError, a
// *CorruptError or the error of the connection instead when something was wrong. A stream that breaks is taken up again.
func (c *Client) Open(ctx context.Context, d Digest) io.ReadCloser {
	if d == c.function.Of(nil) {
		return io.NopCloser(bytes.NewReader(nil))
	}
	return &blobReader{c: c, ctx: ctx, d: d, h: c.function.hasher()}
}

// blobReader reads a blob, over several streams when they break.
type blobReader struct {
	c    *Client
	ctx  context.Context // of Open: a reader has no other way to be told to stop
	d    Digest
	h    hash.Hash
	n    int64  // bytes handed out
	head []byte // the first bytes handed out, at most overlap
	tail []byte // the last ones, at most overlap
	try  int
	from io.ReadCloser // of the present stream; nil between streams
	err  error         // what Read says for ever
}

// Read implements io.Reader.
func (r *blobReader) Read(p []byte) (int, error) {
	for r.err == nil {
		if r.from == nil {
			if r.err = r.begin(); r.err != nil {
				break
			}
		}
		n, err := r.from.Read(p)
		if r.n+int64(n) > r.d.Size {
			r.err = &CorruptError{r.d, "they are more"}
			break
		}
		r.took(p[:n])
		if err != nil {
			r.ended(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, r.err
}

func (r *blobReader) took(p []byte) {
	_, _ = r.h.Write(p) // never fails
	r.n += int64(len(p))
	r.head = append(r.head, p[:min(len(p), overlap-len(r.head))]...)
	r.tail = append(r.tail, p[max(0, len(p)-overlap):]...)
	r.tail = r.tail[max(0, len(r.tail)-overlap):]
}

// ended looks at the end of a stream: of the blob, or of the stream alone.
func (r *blobReader) ended(err error) {
	_ = r.from.Close()
	r.from = nil
	var corrupt *CorruptError
	switch {
	case errors.Is(err, io.EOF):
		r.err = r.verify()
	case codeOf(err) == codes.NotFound:
		r.err = &MissingError{r.d}
	case errors.As(err, &corrupt):
		r.err = &CorruptError{r.d, corrupt.Detail}
	case r.try+1 < r.c.opts.Tries && Transient(err) && sleep(r.ctx, r.c.opts.Backoff<<(2*r.try)):
		r.try++
	default:
		r.err = fmt.Errorf("download %s: %w", r.d, tell(err))
	}
}

func (r *blobReader) verify() error {
	have := Digest{Size: r.n}
	r.h.Sum(have.Sum[:0])
	if have != r.d {
		return &CorruptError{r.d, fmt.Sprintf("they are %s", have)}
	}
	return io.EOF
}

// begin opens a stream and skips what was handed out already. A server asked to begin within the blob may begin at its
// start all the same; the bytes before the break tell which it did. Where they are those of the start too they tell nothing,
// and all is read again.
func (r *blobReader) begin() error {
	for {
		offset := r.n - int64(len(r.tail))
		if bytes.Equal(r.head, r.tail) {
			offset = 0
		}
		from, err := r.connect(offset)
		if err == nil {
			err = r.catchUp(from, offset)
		}
		if err == nil {
			r.from = from
			return nil
		}
		r.from = from
		if r.ended(err); r.err != nil {
			return r.err
		}
	}
}

func (r *blobReader) catchUp(from io.Reader, offset int64) error {
	if offset == 0 {
		_, err := io.CopyN(io.Discard, from, r.n)
		return unexpected(err)
	}
	again := make([]byte, len(r.tail))
	if _, err := io.ReadFull(from, again); err != nil {
		return unexpected(err)
	}
	if bytes.Equal(again, r.tail) {
		return nil
	}
	if _, err := io.CopyN(io.Discard, from, r.n-int64(len(again))); err != nil {
		return unexpected(err)
	}
	return nil
}

// unexpected makes the end of a stream that is too short what it is: other bytes than asked for.
func unexpected(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}

// connect opens one stream at an offset.
func (r *blobReader) connect(offset int64) (io.ReadCloser, error) {
	ctx, kick, stop := r.c.watch(r.ctx)
	s, err := r.c.stream.Read(ctx, &bytestream.ReadRequest{ResourceName: r.c.resource(r.d, ""), ReadOffset: offset})
	in := &streamReader{ctx: ctx, s: s, got: paced(kick), stop: stop}
	if err != nil || !r.c.zippedStream(r.d.Size) {
		return in, err
	}
	z := unzippers.Get().(*zstd.Decoder)
	return &unzipped{z, in}, z.Reset(in)
}

// late returns why a stream of ctx ended: its own word, or that it made no progress.
func late(ctx context.Context, err error) error {
	if Quiet(ctx) {
		return errNoAnswer
	}
	return err
}

// streamReader yields the bytes of a stream's messages.
type streamReader struct {
	ctx  context.Context // of the stream, for why it ended
	s    bytestream.ByteStream_ReadClient
	got  func(n int)
	stop func()
	rest []byte
}

// Read implements io.Reader.
func (r *streamReader) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		m, err := r.s.Recv()
		if err != nil {
			return 0, late(r.ctx, err)
		}
		r.rest = m.GetData()
		r.got(len(r.rest))
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Close ends the stream.
func (r *streamReader) Close() error {
	r.stop()
	return nil
}

// Close ends the stream, if there is one.
func (r *blobReader) Close() error {
	if r.err == nil {
		r.err = errors.New("read blob: it was closed")
	}
	if r.from == nil {
		return nil
	}
	return r.from.Close()
}

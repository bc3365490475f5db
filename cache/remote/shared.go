package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// transport is what a Cache needs of a connection.
type transport interface {
	Function() Function
	Upload(ctx context.Context, blobs []Blob) (Sent, error)
	FindMissing(ctx context.Context, digests []Digest) ([]Digest, error)
	Read(ctx context.Context, digests []Digest, each func(Digest, io.Reader) error) error
	Open(ctx context.Context, d Digest) io.ReadCloser
	GetActionResult(ctx context.Context, action Digest, inline ...string) (*repb.ActionResult, error)
	UpdateActionResult(ctx context.Context, action Digest, r *repb.ActionResult) error
	Close() error
}

// Cache keeps attempts under their keys in a server. It implements cache.Shared.
//
// Each key is one action, [Encoder.KeyAction]. Its result lists everything the attempt left as a REAPI client would, so that
// servers know what belongs together, keep or drop it together, and refuse to serve what has lost a part: files as output
// files, trees as output directories, the log as standard output. What it lists beyond that is attempt.json, the attempt
// itself, and attempt.sig, who signed it. Only these two are read back; everything else is found by the digests they name.
type Cache struct {
	conn  transport
	name  string
	sums  *Sums
	seal  *Seal
	trust *Trust

	mu    sync.Mutex
	hints map[digest.Digest][32]byte // SHA256 sums as other machines named them: where to look, never what to believe
}

var _ cache.Shared = (*Cache)(nil)

// CacheOptions are what a Cache needs beside a connection.
type CacheOptions struct {
	Sums  *Sums  // known pairs of digests; nil begins with none
	Seal  *Seal  // signs what is published; nil signs nothing
	Trust *Trust // takes only what these keys signed; nil takes everything
}

// OpenCache connects to a server that machines share: grpc:// and grpcs:// speak REAPI, http:// and https:// the HTTP cache of
// Bazel. The error is that of Dial.
func OpenCache(ctx context.Context, address string, o Options, co CacheOptions) (*Cache, error) {
	c := &Cache{sums: co.Sums, seal: co.Seal, trust: co.Trust, hints: map[digest.Digest][32]byte{}}
	if c.sums == nil {
		c.sums = NewSums()
	}
	if isHTTP(address) {
		h, err := dialHTTP(ctx, address, o)
		if err != nil {
			return nil, err
		}
		c.conn, c.name = h, Name(address)
		return c, nil
	}
	conn, err := Dial(ctx, address, o)
	if err != nil {
		return nil, err
	}
	conn.UseSums(c.sums)
	c.conn, c.name = conn, Name(address)
	return c, nil
}

// Check says what is wrong with an address, or with the options for it, without connecting.
func Check(address string, o Options) error {
	if isHTTP(address) {
		_, err := dialHTTP(context.Background(), address, o)
		return err
	}
	e, err := parseAddress(address)
	if err != nil {
		return err
	}
	_, err = o.credentials(e)
	return err
}

// Name is an address as it is shown: without an instance name or a path, which some servers take for a password, and without what
// stands before the host, which is one.
func Name(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return scheme + "://" + rest[strings.LastIndexByte(rest, '@')+1:]
}

// Name implements cache.Shared.
func (c *Cache) Name() string { return c.name }

// Offer is what the server says it can do; nil of an HTTP cache, which says nothing.
func (c *Cache) Offer() *Offer {
	if conn, ok := c.conn.(*Client); ok {
		return &conn.offer
	}
	return nil
}

// Close implements cache.Shared.
func (c *Cache) Close() error { return c.conn.Close() }

// Sums are the pairs of digests that are known.
func (c *Cache) Sums() *Sums { return c.sums }

func (c *Cache) encoder() Encoder { return Encoder{c.conn.Function()} }

// where returns the digest under which the remote has d, as far as anybody said so.
func (c *Cache) where(d digest.Digest) (Digest, bool) {
	if c.conn.Function() == BLAKE3 {
		return Digest(d), !d.IsZero()
	}
	if sum, ok := c.sums.get(d); ok {
		return Digest{sum, d.Size}, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	sum, ok := c.hints[d]
	return Digest{sum, d.Size}, ok
}

// Put implements cache.CAS.
func (c *Cache) Put(r io.Reader) (digest.Digest, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return digest.Digest{}, fmt.Errorf("put blob: %w", err)
	}
	d, w := digest.Of(b), c.conn.Function().Of(b)
	if c.conn.Function() != BLAKE3 {
		c.sums.learn(d, w.Sum)
	}
	_, err = c.conn.Upload(context.Background(), []Blob{{Digest: w, Bytes: b}})
	return d, err
}

// Has implements cache.CAS.
func (c *Cache) Has(d digest.Digest) (bool, error) {
	w, ok := c.where(d)
	if !ok {
		return false, nil
	}
	missing, err := c.conn.FindMissing(context.Background(), []Digest{w})
	return err == nil && len(missing) == 0, err
}

// Open implements cache.CAS. The bytes are verified by both digests, the remote's and the local one.
func (c *Cache) Open(d digest.Digest) (io.ReadCloser, error) {
	w, ok := c.where(d)
	if !ok {
		return nil, cache.ErrMissing{Digest: d}
	}
	r := &verified{r: c.conn.Open(context.Background(), w), want: d, h: digest.NewHasher()}
	if err := r.peek(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// verified yields what r yields, and the store's own errors for what is missing or wrong.
type verified struct {
	r    io.ReadCloser
	want digest.Digest
	h    *digest.Hasher
	head []byte
	err  error // after head
}

// peek reads the first bytes, so that what is missing is known before anything is handed out.
func (v *verified) peek() error {
	buf := make([]byte, 4<<10)
	n, err := digest.Fill(v.r, buf)
	v.head = buf[:n]
	_, _ = v.h.Write(v.head) // never fails
	if err == nil && n < len(buf) {
		err = io.EOF
	}
	if v.err = v.name(err); v.err == io.EOF {
		return nil
	}
	return v.err
}

// name turns an error of the remote into that of a store. A wrapped io.EOF is no end: a connection that broke has one.
func (v *verified) name(err error) error {
	var corrupt *CorruptError
	switch {
	case err == io.EOF:
		if have := v.h.Digest(); have != v.want {
			return cache.ErrCorrupt{Digest: v.want, Detail: "the remote sent " + have.String()}
		}
		return io.EOF
	case errors.Is(err, ErrNotFound):
		return cache.ErrMissing{Digest: v.want}
	case errors.As(err, &corrupt):
		return cache.ErrCorrupt{Digest: v.want, Detail: corrupt.Error()}
	}
	return err
}

// Read implements io.Reader.
func (v *verified) Read(p []byte) (int, error) {
	if len(v.head) > 0 {
		n := copy(p, v.head)
		v.head = v.head[n:]
		return n, nil
	}
	if v.err != nil {
		return 0, v.err
	}
	n, err := v.r.Read(p)
	_, _ = v.h.Write(p[:n]) // never fails
	if err != nil {
		v.err = v.name(err)
	}
	if n > 0 {
		return n, nil
	}
	return 0, v.err
}

// Close implements io.Closer.
func (v *verified) Close() error { return v.r.Close() }

// maxAttempt bounds attempt.json; one that names a million files has about 170 MB.
const maxAttempt = 256 << 20

// document is attempt.json.
type document struct {
	Format  int                 `json:"format"` // 1
	Attempt cache.SharedAttempt `json:"attempt"`
	// SHA256 names the blobs for a remote that does not know BLAKE3. Readers verify both.
	SHA256 wireSums `json:"sha256,omitempty"`
}

// documentFormat is the present format of attempt.json. A reader that meets a later one finds nothing.
const documentFormat = 1

func (d document) encode() ([]byte, error) {
	sums := d.SHA256
	d.SHA256 = nil
	b, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("encode attempt: %w", err)
	}
	if len(sums) > 0 { // the last field
		b = append(sums.append(append(b[:len(b)-1], `,"sha256":`...)), '}')
	}
	return b, nil
}

package remote

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/keepalive"

	"github.com/ufbuild/ufbuild/cache/digest"
)

// maxMessage bounds a message that a server may send: an action result that names very many files.
const maxMessage = 64 << 20

// Client is a connection to an endpoint. Its methods may be called concurrently.
type Client struct {
	opts     Options
	endpoint endpoint
	conn     *grpc.ClientConn
	offer    Offer
	function Function
	sums     *Sums

	cas    repb.ContentAddressableStorageClient
	ac     repb.ActionCacheClient
	stream bytestream.ByteStreamClient

	noBatchRead, noBatchUpdate atomic.Bool // the server said UNIMPLEMENTED
}

// Dial connects to address and settles what both sides can do. It fails when the server cannot be reached within ctx, offers
// no usable digest function, or speaks another version of the API; the error says what to do.
func Dial(ctx context.Context, address string, o Options) (*Client, error) {
	e, err := parseAddress(address)
	if err != nil {
		return nil, err
	}
	c := &Client{opts: o.withDefaults(), endpoint: e, sums: NewSums()}
	creds, err := o.credentials(e)
	if err != nil {
		return nil, err
	}
	c.conn, err = grpc.NewClient(e.target,
		grpc.WithTransportCredentials(creds),
		grpc.WithUserAgent("ufbuild/"+o.Version),
		grpc.WithChainUnaryInterceptor(c.again, c.labelUnary),
		grpc.WithChainStreamInterceptor(c.labelStream),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(maxMessage)),
		grpc.WithDisableServiceConfig(),
		// A peer that vanished is noticed though nothing is sent to it. Servers cut who asks more often than each five minutes.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 6 * time.Minute, Timeout: 30 * time.Second}),
		// A server that restarts is back within seconds; the library's own waits grow to minutes.
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 50 * time.Millisecond, Multiplier: 2, Jitter: 0.2, MaxDelay: 2 * time.Second},
			MinConnectTimeout: 5 * time.Second,
		}))
	if err != nil {
		return nil, fmt.Errorf("dial %s: %w", e.target, err)
	}
	c.cas = repb.NewContentAddressableStorageClient(c.conn)
	c.ac = repb.NewActionCacheClient(c.conn)
	c.stream = bytestream.NewByteStreamClient(c.conn)
	if err := c.negotiate(ctx); err != nil {
		return nil, fmt.Errorf("dial %s: %w%s", e.target, joinClose(err, c.conn), e.hint(err))
	}
	return c, nil
}

// joinClose closes what is given up because of err.
func joinClose(err error, c io.Closer) error {
	_ = c.Close() // nothing was sent that could be lost
	return err
}

// Close ends the connection. Calls under way fail.
func (c *Client) Close() error { return c.conn.Close() }

// Conn is the connection for services that this package does not use. Its calls carry headers and metadata, and unary ones
// are tried again, as all calls of the client are.
func (c *Client) Conn() grpc.ClientConnInterface { return c.conn }

// Instance is the instance name of the address; it may be "".
func (c *Client) Instance() string { return c.endpoint.instance }

// Address is host:port, for messages.
func (c *Client) Address() string { return c.endpoint.target }

// Function is the digest function that was settled on.
func (c *Client) Function() Function { return c.function }

// Offer is what the server says it can do.
func (c *Client) Offer() Offer { return c.offer }

// Encoder makes messages whose digests are of the client's function.
func (c *Client) Encoder() Encoder { return Encoder{c.function} }

// Of returns the digest of b.
func (c *Client) Of(b []byte) Digest { return c.function.Of(b) }

// UseSums makes the client remember pairs of digests in s, which other clients may share. Call it before any other method.
func (c *Client) UseSums(s *Sums) { c.sums = s }

// Wire returns the digest of the remote for a blob of the local store. With BLAKE3 they are the same; with SHA256 the bytes
// are read through open the first time, and the pair is remembered. The error is that of open or of reading, or says that
// the bytes are not those of d.
func (c *Client) Wire(d digest.Digest, open func() (io.ReadCloser, error)) (Digest, error) {
	if c.function == BLAKE3 || d.IsZero() {
		return Digest(d), nil
	}
	return c.sums.of(d, open)
}

package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"google.golang.org/protobuf/proto"

	"github.com/ufbuild/ufbuild/cache"
)

// httpConn speaks Bazel's HTTP cache: PUT and GET of /cas/<sha256> and /ac/<sha256 of the action>. Any server that stores
// files will do; it knows SHA256 only, verifies nothing, and cannot tell what it has without being asked for each.
type httpConn struct {
	opts   Options
	base   string // without a slash at the end
	client *http.Client
}

func isHTTP(address string) bool {
	return strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}

func dialHTTP(_ context.Context, address string, o Options) (*httpConn, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("read remote address: %w", cleanURLError(err))
	}
	if u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("read remote address %s: only host, port and a path are read\nhint: credentials go into a header", u.Redacted())
	}
	if o.Execute {
		return nil, fmt.Errorf("dial %s: an HTTP cache does not execute\nhint: name a grpc:// address", u.Host)
	}
	h := &httpConn{opts: o.withDefaults(), base: strings.TrimRight(u.String(), "/")}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 2 * inParallel
	t.ResponseHeaderTimeout = h.opts.Timeout
	if t.TLSClientConfig, err = h.opts.TLS(u.Hostname()); err != nil {
		return nil, err
	}
	if u.Scheme == "http" && (o.CA != "" || o.Cert != "" || o.Key != "") {
		return nil, fmt.Errorf("dial %s: certificates are of no use on a plain connection\nhint: write https:// instead of http://", u.Host)
	}
	h.client = &http.Client{Transport: t, CheckRedirect: sameHost}
	return h, nil
}

// sameHost refuses to follow a server elsewhere: headers may hold a credential. An upload that is followed may become a download.
func sameHost(req *http.Request, via []*http.Request) error {
	switch {
	case req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme:
		return refusal("the server sends the client to another host, which is refused")
	case via[0].Method == http.MethodPut:
		return refusal("the server sends an upload to another place, which is refused")
	case len(via) > 3:
		return refusal("the server sends the client in circles")
	}
	return nil
}

// refusal is why a request is not followed any further.
type refusal string

// Error implements error.
func (r refusal) Error() string { return string(r) }

// Function is SHA256; the protocol has no other.
func (h *httpConn) Function() Function { return SHA256 }

// Close lets go of idle connections.
func (h *httpConn) Close() error {
	h.client.CloseIdleConnections()
	return nil
}

// httpError is an answer that is no success.
type httpError struct{ status int }

// Error implements error.
func (e *httpError) Error() string {
	return fmt.Sprintf("the server answers %d %s", e.status, http.StatusText(e.status))
}

// Is makes an answer that says so a cache.ErrTooLarge.
func (e *httpError) Is(target error) bool {
	return target == cache.ErrTooLarge && e.status == http.StatusRequestEntityTooLarge
}

// do makes one request, and makes it again while the server cannot take it. body may be nil; it is opened for each try.
func (h *httpConn) do(ctx context.Context, method, name string, size int64, body func() (io.ReadCloser, error)) (*http.Response, error) {
	wait := h.opts.Backoff
	for try := 1; ; try++ {
		resp, err := h.once(ctx, method, name, size, body)
		if err == nil || try >= h.opts.Tries || !again(err) || !sleep(ctx, about(wait)) {
			return resp, err
		}
		wait *= 4
	}
}

// again reports whether the same request may succeed a little later.
func again(err error) bool {
	var e *httpError
	if errors.As(err, &e) {
		return e.status == http.StatusServiceUnavailable || e.status == http.StatusTooManyRequests || e.status == http.StatusBadGateway || e.status == http.StatusGatewayTimeout
	}
	var u *url.Error
	var refused refusal
	return errors.As(err, &u) && !u.Timeout() && !ofTLS(err) && !errors.As(err, &refused)
}

// hint says what to do about a request that failed; "" when nothing better is known than the error.
func (h *httpConn) hint(err error) string {
	var e *httpError
	if !errors.As(err, &e) {
		return endpoint{secure: strings.HasPrefix(h.base, "https://")}.hint(err)
	}
	if e.status == http.StatusUnauthorized || e.status == http.StatusForbidden {
		return credentialHint
	}
	return ""
}

func (h *httpConn) once(ctx context.Context, method, name string, size int64, body func() (io.ReadCloser, error)) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := time.AfterFunc(h.opts.Timeout, func() { cancel(errNoAnswer) })
	fail := func(err error) (*http.Response, error) {
		t.Stop()
		err = late(ctx, err)
		cancel(nil)
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, method, h.base+name, nil)
	if err != nil {
		return fail(err)
	}
	if body != nil {
		r, err := body()
		if err != nil {
			return fail(err)
		}
		req.Body, req.ContentLength = &kicking{r, paced(func() { t.Reset(h.opts.Timeout) }), nil}, size
		if size == 0 {
			req.Body = http.NoBody
			_ = r.Close() // nothing is read from it
		}
	}
	req.Header.Set("User-Agent", "ufbuild/"+h.opts.Version)
	for _, x := range h.opts.Headers {
		req.Header.Set(x.Name, x.Value)
	}
	resp, err := h.client.Do(req)
	if err != nil {
		return fail(err)
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		_ = drained(resp.Body) // the status says it all
		if resp.StatusCode == http.StatusNotFound {
			return fail(ErrNotFound)
		}
		return fail(&httpError{resp.StatusCode})
	}
	resp.Body = &kicking{resp.Body, paced(func() { t.Reset(h.opts.Timeout) }), func() { t.Stop(); cancel(nil) }}
	return resp, nil
}

// maxDrained bounds what is read of an answer that nobody wants, in bytes: a page that says "not found" is shorter.
const maxDrained = 16 << 10

// drained ends an answer of which the rest is not wanted. What is left of it is read where that is little: a connection with bytes
// in it cannot be used again, and the next request would have to make one, handshake and all.
func drained(body io.ReadCloser) error {
	_, _ = io.CopyN(io.Discard, body, maxDrained) // the connection is not used again, then
	return body.Close()
}

// kicking tells of progress, and of the end.
type kicking struct {
	io.ReadCloser
	got func(n int)
	end func()
}

// Read implements io.Reader.
func (k *kicking) Read(p []byte) (int, error) {
	n, err := k.ReadCloser.Read(p)
	k.got(n)
	return n, err
}

// Close implements io.Closer.
func (k *kicking) Close() error {
	if k.end != nil {
		k.end()
	}
	return k.ReadCloser.Close()
}

// FindMissing asks for each blob but the empty one.
func (h *httpConn) FindMissing(ctx context.Context, digests []Digest) ([]Digest, error) {
	return h.findMissing(ctx, notEmpty(SHA256, digests))
}

func (h *httpConn) findMissing(ctx context.Context, digests []Digest) ([]Digest, error) {
	var mu sync.Mutex
	var missing []Digest
	err := parallel(ctx, unique(digests), func(ctx context.Context, d Digest) error {
		resp, err := h.do(ctx, http.MethodHead, "/cas/"+d.Hex(), 0, nil)
		if errors.Is(err, ErrNotFound) {
			mu.Lock()
			defer mu.Unlock()
			missing = append(missing, d)
			return nil
		}
		if err != nil {
			return fmt.Errorf("ask which blobs the remote lacks: %w%s", err, h.hint(err))
		}
		return drained(resp.Body)
	})
	return missing, err
}

// Upload sends what the server lacks.
func (h *httpConn) Upload(ctx context.Context, blobs []Blob) (Sent, error) {
	by := map[Digest]Blob{}
	var digests []Digest
	for _, b := range blobs {
		by[b.Digest] = b
		digests = append(digests, b.Digest)
	}
	missing, err := h.findMissing(ctx, digests)
	if err != nil {
		return Sent{}, err
	}
	sent := Sent{Blobs: len(missing)}
	for _, d := range missing {
		sent.Bytes += d.Size
	}
	return sent, parallel(ctx, missing, func(ctx context.Context, d Digest) error {
		if err := h.put(ctx, "/cas/"+d.Hex(), d.Size, by[d].reader); err != nil {
			return fmt.Errorf("upload blob %s: %w%s", d, err, h.hint(err))
		}
		return nil
	})
}

func (h *httpConn) put(ctx context.Context, name string, size int64, body func() (io.ReadCloser, error)) error {
	resp, err := h.do(ctx, http.MethodPut, name, size, body)
	if err != nil {
		return err
	}
	return drained(resp.Body)
}

// Read fetches each blob by itself.
func (h *httpConn) Read(ctx context.Context, digests []Digest, each func(Digest, io.Reader) error) error {
	rest, err := giveEmpty(SHA256, digests, each)
	if err != nil {
		return err
	}
	return parallel(ctx, unique(rest), func(ctx context.Context, d Digest) error {
		r := h.Open(ctx, d)
		err := each(d, r)
		_ = r.Close() // reading told already
		return err
	})
}

// Open returns the verified bytes of d, or an error at their end.
func (h *httpConn) Open(ctx context.Context, d Digest) io.ReadCloser {
	if d == SHA256.Of(nil) {
		return io.NopCloser(bytes.NewReader(nil))
	}
	resp, err := h.do(ctx, http.MethodGet, "/cas/"+d.Hex(), 0, nil)
	if errors.Is(err, ErrNotFound) {
		err = &MissingError{d}
	}
	if err != nil {
		return failed{fmt.Errorf("download %s: %w", d, err)}
	}
	return &checked{r: resp.Body, d: d, h: SHA256.hasher()}
}

// failed is a reader of what could not be opened.
type failed struct{ err error }

// Read implements io.Reader.
func (f failed) Read([]byte) (int, error) { return 0, f.err }

// Close implements io.Closer.
func (f failed) Close() error { return nil }

// GetActionResult reads /ac/.
func (h *httpConn) GetActionResult(ctx context.Context, action Digest, _ ...string) (*repb.ActionResult, error) {
	resp, err := h.do(ctx, http.MethodGet, "/ac/"+action.Hex(), 0, nil)
	if err != nil {
		return nil, fmt.Errorf("ask the action cache for %s: %w%s", action, err, h.hint(err))
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage+1))
	if err = errors.Join(err, resp.Body.Close()); err != nil {
		return nil, fmt.Errorf("ask the action cache for %s: %w", action, err)
	}
	r := &repb.ActionResult{}
	if len(b) > maxMessage || proto.Unmarshal(b, r) != nil {
		return nil, fmt.Errorf("%w: the action cache has no result for %s but %s bytes of something else", cache.ErrPoisoned, action, strconv.Itoa(len(b)))
	}
	return r, nil
}

// UpdateActionResult writes /ac/.
func (h *httpConn) UpdateActionResult(ctx context.Context, action Digest, r *repb.ActionResult) error {
	b := Encoder{SHA256}.Message(r)
	err := h.put(ctx, "/ac/"+action.Hex(), b.Digest.Size, func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes)), nil })
	var denied *httpError
	hint := ""
	if errors.As(err, &denied) && denied.status >= 401 && denied.status <= 405 {
		hint = "\nhint: the server lets this user write no results; use --remote-mode=read, or give it a credential with --remote-header"
	}
	if err != nil {
		return fmt.Errorf("write to the action cache: %w%s", err, hint)
	}
	return nil
}

// checked verifies what it yields.
type checked struct {
	r io.ReadCloser
	d Digest
	h hash.Hash
	n int64
}

// Read implements io.Reader.
func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	_, _ = c.h.Write(p[:n]) // never fails
	if c.n += int64(n); c.n > c.d.Size {
		return 0, &CorruptError{c.d, "they are more"}
	}
	switch {
	case errors.Is(err, io.EOF):
		have := Digest{Size: c.n}
		c.h.Sum(have.Sum[:0])
		if have != c.d {
			return n, &CorruptError{c.d, fmt.Sprintf("they are %s", have)}
		}
	case err != nil:
		err = fmt.Errorf("download %s: %w", c.d, err)
	}
	return n, err
}

// Close implements io.Closer.
func (c *checked) Close() error { return c.r.Close() }

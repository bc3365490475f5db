package remote

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/bazelbuild/remote-apis/build/bazel/semver"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Offer is what a server says it can do, in plain words.
type Offer struct {
	Versions         string   // of the API, "2.0 to 2.12"; "" when it does not say
	CacheFunctions   []string // digest functions of the cache, as REAPI names them
	ExecuteFunctions []string // of the executor; empty without one
	Function         Function // what was settled on
	MaxBatch         int64    // bytes of a batch; 0: the server names no limit
	MaxBlob          int64    // bytes of a blob; 0: the server names no limit
	ZstdStream       bool     // compressed ByteStream
	ZstdBatch        bool     // compressed batches
	Update           bool     // results may be written to the action cache
	Execute          bool     // it executes
}

// The versions of the API that have what is used here.
const (
	lowestMajor  = 2
	highestMajor = 2
)

// negotiate asks for the capabilities and chooses the digest function.
func (c *Client) negotiate(ctx context.Context) error {
	caps, err := repb.NewCapabilitiesClient(c.conn).GetCapabilities(ctx, &repb.GetCapabilitiesRequest{InstanceName: c.endpoint.instance})
	if err != nil {
		return fmt.Errorf("ask what the server offers: %w", tell(err))
	}
	o := offerOf(caps)
	if lo, hi := caps.GetLowApiVersion(), caps.GetHighApiVersion(); hi.GetMajor() != 0 && (lo.GetMajor() > highestMajor || hi.GetMajor() < lowestMajor) {
		return fmt.Errorf("the server speaks version %s of the Remote Execution API, ufbuild speaks 2\nhint: use a server, or an address of it, that speaks version 2", o.Versions)
	}
	switch {
	case caps.GetCacheCapabilities() == nil:
		return errors.New("the server says that it has no cache\nhint: name the address of its storage")
	case c.opts.Execute && !o.Execute:
		return errors.New("the server says that it does not execute\nhint: name the address of its scheduler or front end")
	}
	o.Function = choose(o, c.opts.Execute)
	if o.Function == 0 {
		return fmt.Errorf("no digest function in common: ufbuild has BLAKE3 and SHA256, the server's cache has %s%s",
			orNone(o.CacheFunctions), executorHas(o, c.opts.Execute))
	}
	c.offer, c.function = o, o.Function
	return nil
}

func executorHas(o Offer, execute bool) string {
	if !execute {
		return ""
	}
	return ", its executor " + orNone(o.ExecuteFunctions)
}

func orNone(words []string) string {
	if len(words) == 0 {
		return "none"
	}
	return strings.Join(words, ", ")
}

func offerOf(caps *repb.ServerCapabilities) Offer {
	cc, ec := caps.GetCacheCapabilities(), caps.GetExecutionCapabilities()
	o := Offer{
		Versions:       versions(caps.GetLowApiVersion(), caps.GetHighApiVersion()),
		CacheFunctions: names(cc.GetDigestFunctions()),
		MaxBatch:       cc.GetMaxBatchTotalSizeBytes(),
		MaxBlob:        cc.GetMaxCasBlobSizeBytes(),
		ZstdStream:     slices.Contains(cc.GetSupportedCompressors(), repb.Compressor_ZSTD),
		ZstdBatch:      slices.Contains(cc.GetSupportedBatchUpdateCompressors(), repb.Compressor_ZSTD),
		Update:         cc.GetActionCacheUpdateCapabilities().GetUpdateEnabled(),
		Execute:        ec.GetExecEnabled(),
	}
	if ec == nil {
		return o
	}
	// The list first: a server may know more than the one function that the older field can name.
	if o.ExecuteFunctions = names(ec.GetDigestFunctions()); len(o.ExecuteFunctions) == 0 {
		o.ExecuteFunctions = names([]repb.DigestFunction_Value{ec.GetDigestFunction()})
	}
	return o
}

func names(functions []repb.DigestFunction_Value) []string {
	var out []string
	for _, f := range functions {
		if f != repb.DigestFunction_UNKNOWN && !slices.Contains(out, f.String()) {
			out = append(out, f.String())
		}
	}
	return out
}

func versions(lo, hi *semver.SemVer) string {
	text := func(v *semver.SemVer) string { return fmt.Sprintf("%d.%d", v.GetMajor(), v.GetMinor()) }
	switch {
	case hi == nil:
		return ""
	case lo == nil || text(lo) == text(hi):
		return text(hi)
	}
	return text(lo) + " to " + text(hi)
}

// choose returns the best function that the cache has, and the executor too where one is asked for; 0 when there is none. A
// cache that names none is one of before they could be named, which is SHA256.
func choose(o Offer, execute bool) Function {
	for _, f := range []Function{BLAKE3, SHA256} {
		inCache := slices.Contains(o.CacheFunctions, f.String()) || len(o.CacheFunctions) == 0 && f == SHA256
		if inCache && (!execute || slices.Contains(o.ExecuteFunctions, f.String()) || len(o.ExecuteFunctions) == 0 && f == SHA256) {
			return f
		}
	}
	return 0
}

// ErrNotFound says that the server does not have what was asked for.
var ErrNotFound = errors.New("not found")

// tell makes an error of gRPC readable: the code in words and the server's message.
func tell(err error) error {
	s, ok := status.FromError(err)
	if !ok || s.Code() == codes.OK {
		return err
	}
	if s.Code() == codes.NotFound {
		return fmt.Errorf("%w: %s", ErrNotFound, s.Message())
	}
	return &StatusError{Code: s.Code().String(), Message: plainly(s.Message()), err: err}
}

// plainly takes an error of a connection out of the words that gRPC puts around it.
func plainly(message string) string {
	if quoted, ok := strings.CutPrefix(message, "connection error: desc = "); ok {
		if inner, err := strconv.Unquote(quoted); err == nil {
			return strings.TrimPrefix(inner, "transport: ")
		}
	}
	return message
}

// StatusError is what a server, or the connection to it, answered instead of a result.
type StatusError struct {
	Code, Message string // as gRPC names it, "Unavailable"
	err           error
}

// Error implements error.
func (e *StatusError) Error() string { return fmt.Sprintf("%s: %s", e.Code, e.Message) }

// Unwrap returns the error of gRPC.
func (e *StatusError) Unwrap() error { return e.err }

package remotetest

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"maps"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/bazelbuild/remote-apis/build/bazel/semver"
	"github.com/zeebo/blake3"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// Options say what the server offers. The zero value offers BLAKE3 and SHA256 without compression.
type Options struct {
	Functions []repb.DigestFunction_Value
	SHA256    bool        // in place of Functions: SHA256 alone
	MaxBatch  int64       // as announced; 0 announces none
	MaxBlob   int64       // as announced, and held to; 0 announces none
	Zstd      bool        // in streams
	ZstdBatch bool        // in batches
	Deaf      bool        // it keeps nothing of what it hears, for benchmarks
	TLS       *tls.Config // nil: it speaks plainly
	Key       string      // a call needs it in the header x-api-key; "" asks for none
	Instance  string      // requests have to name it; "" takes any
	Execution *repb.ExecutionCapabilities
	// Services registers further services on each (re)start.
	Services func(*grpc.Server)
	// Streams, when set, may serve resources of ByteStream that are no blobs, from an offset on; found is false for those it does not know.
	Streams func(ctx context.Context, resource string, offset int64, send func([]byte) error) (found bool, err error)
}

// Server is a server on loopback. Its methods may be called concurrently.
type Server struct {
	Options
	addr string

	mu      sync.Mutex
	grpc    *grpc.Server // nil while it is down
	faults  Faults
	blobs   map[string][]byte // by function and digest
	results map[string]*repb.ActionResult
	heard   []byte
	calls   map[string]int
}

// Start runs a server until the test ends.
func Start(t testing.TB, o Options) *Server {
	t.Helper()
	s := New(o)
	t.Cleanup(s.Kill)
	return s
}

// New runs a server until Kill. It panics when loopback has no port left.
func New(o Options) *Server {
	switch {
	case o.SHA256:
		o.Functions = []repb.DigestFunction_Value{repb.DigestFunction_SHA256}
	case o.Functions == nil:
		o.Functions = []repb.DigestFunction_Value{repb.DigestFunction_SHA256, repb.DigestFunction_BLAKE3}
	}
	s := &Server{
		Options: o, addr: "127.0.0.1:0",
		blobs: map[string][]byte{}, results: map[string]*repb.ActionResult{}, calls: map[string]int{},
	}
	s.Restart()
	return s
}

// URL is the address for a client.
func (s *Server) URL() string {
	if s.TLS != nil {
		return "grpcs://" + s.addr
	}
	return "grpc://" + s.addr
}

// Kill ends the server at once; connections break.
func (s *Server) Kill() {
	s.mu.Lock()
	g := s.grpc
	s.grpc = nil
	s.mu.Unlock()
	if g != nil {
		g.Stop()
	}
}

// Restart starts it again on its address, with what it stored, unless it runs.
func (s *Server) Restart() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.grpc != nil {
		return
	}
	l, err := net.Listen("tcp", s.addr)
	if err != nil {
		panic(err)
	}
	s.addr = l.Addr().String()
	options := []grpc.ServerOption{grpc.UnaryInterceptor(s.unary), grpc.StreamInterceptor(s.streamed)}
	if s.TLS != nil {
		options = append(options, grpc.Creds(credentials.NewTLS(s.TLS.Clone())))
	}
	s.grpc = grpc.NewServer(options...)
	repb.RegisterCapabilitiesServer(s.grpc, s)
	repb.RegisterContentAddressableStorageServer(s.grpc, (*cas)(s))
	repb.RegisterActionCacheServer(s.grpc, (*actions)(s))
	bytestream.RegisterByteStreamServer(s.grpc, (*stream)(s))
	if s.Services != nil {
		s.Services(s.grpc)
	}
	g := s.grpc
	go func() { _ = g.Serve(l) }() // ends with Kill
}

// Heard returns everything that was sent to the server: metadata, messages, and the bytes of blobs as stored.
func (s *Server) Heard() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.heard)
}

func (s *Server) hear(b []byte) {
	if s.Deaf {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.heard = append(append(s.heard, b...), '\n')
}

// Calls returns how often each method was called, by its last name.
func (s *Server) Calls() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.calls)
}

// Blobs returns how many blobs are stored.
func (s *Server) Blobs() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.blobs)
}

// Results returns how many results are stored.
func (s *Server) Results() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.results)
}

func name(f repb.DigestFunction_Value, d *repb.Digest) string {
	return f.String() + "/" + d.GetHash() + "/" + strconv.FormatInt(d.GetSizeBytes(), 10)
}

// function returns the function of a request; one that names none means SHA256, as servers take hashes of that length.
func function(f repb.DigestFunction_Value) repb.DigestFunction_Value {
	if f == repb.DigestFunction_UNKNOWN {
		return repb.DigestFunction_SHA256
	}
	return f
}

func sum(f repb.DigestFunction_Value, b []byte) *repb.Digest {
	h := sha256.Sum256(b)
	if f == repb.DigestFunction_BLAKE3 {
		h = blake3.Sum256(b)
	}
	return &repb.Digest{Hash: hex.EncodeToString(h[:]), SizeBytes: int64(len(b))}
}

// Put stores b as a client would and returns its digest.
func (s *Server) Put(f repb.DigestFunction_Value, b []byte) *repb.Digest {
	d := sum(f, b)
	s.keep(f, d, b)
	return d
}

func (s *Server) keep(f repb.DigestFunction_Value, d *repb.Digest, b []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blobs[name(f, d)] = slices.Clone(b)
}

// Blob returns stored bytes.
func (s *Server) Blob(f repb.DigestFunction_Value, d *repb.Digest) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[name(f, d)]
	return b, ok
}

// Result returns the stored result of an action; SetResult stores one.
func (s *Server) Result(f repb.DigestFunction_Value, action *repb.Digest) (*repb.ActionResult, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.results[name(f, action)]
	return r, ok
}

// SetResult stores the result of an action; nil removes it.
func (s *Server) SetResult(f repb.DigestFunction_Value, action *repb.Digest, r *repb.ActionResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r == nil {
		delete(s.results, name(f, action))
		return
	}
	s.results[name(f, action)] = proto.Clone(r).(*repb.ActionResult)
}

// Forget drops all blobs that keep refuses; nil drops all.
func (s *Server) Forget(keep func(b []byte) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, b := range s.blobs {
		if keep == nil || !keep(b) {
			delete(s.blobs, n)
		}
	}
}

// Corrupt changes a byte of every stored blob that which names, or adds one to an empty blob.
func (s *Server) Corrupt(which func(b []byte) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n, b := range s.blobs {
		if which(b) {
			s.blobs[n] = spoil(b)
		}
	}
}

func spoil(b []byte) []byte {
	if len(b) == 0 {
		return []byte{'x'}
	}
	b = slices.Clone(b)
	b[len(b)/2] ^= 1
	return b
}

// GetCapabilities implements the service.
func (s *Server) GetCapabilities(context.Context, *repb.GetCapabilitiesRequest) (*repb.ServerCapabilities, error) {
	v := &semver.SemVer{Major: 2, Minor: 3}
	if s.fault().Version != 0 {
		v = &semver.SemVer{Major: s.fault().Version}
	}
	c := &repb.CacheCapabilities{
		DigestFunctions: s.Functions, MaxBatchTotalSizeBytes: s.MaxBatch, MaxCasBlobSizeBytes: s.MaxBlob,
		ActionCacheUpdateCapabilities: &repb.ActionCacheUpdateCapabilities{UpdateEnabled: true},
	}
	if s.Zstd {
		c.SupportedCompressors = []repb.Compressor_Value{repb.Compressor_ZSTD}
	}
	if s.ZstdBatch {
		c.SupportedBatchUpdateCompressors = []repb.Compressor_Value{repb.Compressor_ZSTD}
	}
	return &repb.ServerCapabilities{CacheCapabilities: c, ExecutionCapabilities: s.Execution, LowApiVersion: v, HighApiVersion: v}, nil
}

// actions is the action cache.
type actions Server

// GetActionResult implements the service.
func (a *actions) GetActionResult(_ context.Context, req *repb.GetActionResultRequest) (*repb.ActionResult, error) {
	r, ok := (*Server)(a).Result(function(req.GetDigestFunction()), req.GetActionDigest())
	if !ok {
		return nil, status.Error(codes.NotFound, "no such result")
	}
	return r, nil
}

// UpdateActionResult implements the service.
func (a *actions) UpdateActionResult(_ context.Context, req *repb.UpdateActionResultRequest) (*repb.ActionResult, error) {
	s := (*Server)(a)
	if s.fault().Full {
		return nil, status.Error(codes.ResourceExhausted, "the disk is full")
	}
	s.SetResult(function(req.GetDigestFunction()), req.GetActionDigest(), req.GetActionResult())
	return req.GetActionResult(), nil
}

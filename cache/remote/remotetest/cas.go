package remotetest

import (
	"context"
	"errors"
	"io"
	"strconv"
	"strings"
	"sync"

	repb "github.com/bazelbuild/remote-apis/build/bazel/remote/execution/v2"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/genproto/googleapis/bytestream"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// zipper and unzipper are made once; without options making them cannot fail.
var (
	zipper   = sync.OnceValue(func() *zstd.Encoder { z, _ := zstd.NewWriter(nil); return z })
	unzipper = sync.OnceValue(func() *zstd.Decoder { z, _ := zstd.NewReader(nil); return z })
)

// cas is the content-addressable storage.
type cas Server

// maxMessage is what gRPC takes when nobody says otherwise.
const maxMessage = 4 << 20

func (s *Server) store(f repb.DigestFunction_Value, d *repb.Digest, data []byte, zip bool) error {
	if s.fault().Full {
		return status.Error(codes.ResourceExhausted, "the disk is full")
	}
	if zip {
		var err error
		if data, err = unzipper().DecodeAll(data, nil); err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
	}
	if s.MaxBlob > 0 && int64(len(data)) > s.MaxBlob {
		return status.Errorf(codes.InvalidArgument, "a blob of more than %d bytes", s.MaxBlob)
	}
	s.hear(data)
	have := sum(f, data)
	if have.GetHash() != d.GetHash() || have.GetSizeBytes() != d.GetSizeBytes() {
		return status.Errorf(codes.InvalidArgument, "%s was sent as %s", name(f, have), name(f, d))
	}
	s.keep(f, d, data)
	return nil
}

// load returns stored bytes as the faults let them be seen.
func (s *Server) load(f repb.DigestFunction_Value, d *repb.Digest) ([]byte, error) {
	b, ok := s.Blob(f, d)
	if !ok || s.fault().Lose {
		return nil, status.Errorf(codes.NotFound, "no blob %s", name(f, d))
	}
	if s.fault().WrongBytes {
		b = spoil(b)
	}
	return b, nil
}

// FindMissingBlobs implements the service.
func (c *cas) FindMissingBlobs(_ context.Context, req *repb.FindMissingBlobsRequest) (*repb.FindMissingBlobsResponse, error) {
	s := (*Server)(c)
	if len(req.GetBlobDigests()) > 1000 {
		return nil, status.Error(codes.InvalidArgument, "more than 1,000 digests")
	}
	out := &repb.FindMissingBlobsResponse{}
	for _, d := range req.GetBlobDigests() {
		if _, ok := s.Blob(function(req.GetDigestFunction()), d); !ok {
			out.MissingBlobDigests = append(out.MissingBlobDigests, d)
		}
	}
	return out, nil
}

// BatchUpdateBlobs implements the service.
func (c *cas) BatchUpdateBlobs(_ context.Context, req *repb.BatchUpdateBlobsRequest) (*repb.BatchUpdateBlobsResponse, error) {
	s := (*Server)(c)
	if s.fault().NoBatchUpdate {
		return nil, status.Error(codes.Unimplemented, "no batches")
	}
	out := &repb.BatchUpdateBlobsResponse{}
	total := int64(0)
	for _, r := range req.GetRequests() {
		total += int64(len(r.GetData()))
		err := s.store(function(req.GetDigestFunction()), r.GetDigest(), r.GetData(), r.GetCompressor() == repb.Compressor_ZSTD)
		answer := &repb.BatchUpdateBlobsResponse_Response{Digest: r.GetDigest(), Status: status.Convert(err).Proto()}
		if s.fault().Unnamed {
			answer.Digest = nil
		}
		out.Responses = append(out.Responses, answer)
	}
	if s.MaxBatch > 0 && total > s.MaxBatch {
		return nil, status.Error(codes.InvalidArgument, "more than the server takes in a batch")
	}
	return out, nil
}

// BatchReadBlobs implements the service.
func (c *cas) BatchReadBlobs(_ context.Context, req *repb.BatchReadBlobsRequest) (*repb.BatchReadBlobsResponse, error) {
	s := (*Server)(c)
	if s.fault().NoBatchRead {
		return nil, status.Error(codes.Unimplemented, "no batches")
	}
	out := &repb.BatchReadBlobsResponse{}
	total := 0
	for _, d := range req.GetDigests() {
		r := &repb.BatchReadBlobsResponse_Response{Digest: d}
		b, err := s.load(function(req.GetDigestFunction()), d)
		if err != nil {
			r.Status = status.Convert(err).Proto()
		} else {
			r.Data = b
			if s.ZstdBatch && len(req.GetAcceptableCompressors()) > 1 {
				r.Data, r.Compressor = zipper().EncodeAll(b, nil), repb.Compressor_ZSTD
			}
		}
		total += len(r.GetData())
		out.Responses = append(out.Responses, r)
	}
	if total > maxMessage {
		return nil, status.Error(codes.ResourceExhausted, "the message would be larger than 4 MiB")
	}
	return out, nil
}

// GetTree implements the service; nobody asks for it.
func (c *cas) GetTree(*repb.GetTreeRequest, repb.ContentAddressableStorage_GetTreeServer) error {
	return status.Error(codes.Unimplemented, "no trees")
}

// SplitBlob implements the service; nobody asks for it.
func (c *cas) SplitBlob(context.Context, *repb.SplitBlobRequest) (*repb.SplitBlobResponse, error) {
	return nil, status.Error(codes.Unimplemented, "no chunks")
}

// SpliceBlob implements the service; nobody asks for it.
func (c *cas) SpliceBlob(context.Context, *repb.SpliceBlobRequest) (*repb.SpliceBlobResponse, error) {
	return nil, status.Error(codes.Unimplemented, "no chunks")
}

// stream is ByteStream.
type stream Server

// parse reads a resource name from its kind on.
func parse(resource string) (f repb.DigestFunction_Value, d *repb.Digest, zip bool, err error) {
	bad := status.Errorf(codes.InvalidArgument, "cannot read the resource name %q", resource)
	_, rest, ok := strings.Cut("/"+resource, "/compressed-blobs/zstd/")
	zip = ok
	if !ok {
		if _, rest, ok = strings.Cut("/"+resource, "/blobs/"); !ok {
			return 0, nil, false, bad
		}
	}
	f = repb.DigestFunction_SHA256
	if after, ok := strings.CutPrefix(rest, "blake3/"); ok {
		f, rest = repb.DigestFunction_BLAKE3, after
	}
	hash, size, _ := strings.Cut(rest, "/")
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil || len(hash) != 64 {
		return 0, nil, false, bad
	}
	return f, &repb.Digest{Hash: hash, SizeBytes: n}, zip, nil
}

// Read implements the service.
func (b *stream) Read(req *bytestream.ReadRequest, out bytestream.ByteStream_ReadServer) error {
	s := (*Server)(b)
	if s.Streams != nil {
		send := func(p []byte) error { return out.Send(&bytestream.ReadResponse{Data: p}) }
		if found, err := s.Streams(out.Context(), req.GetResourceName(), req.GetReadOffset(), send); found {
			return err
		}
	}
	f, d, zip, err := parse(req.GetResourceName())
	if err != nil {
		return err
	}
	data, err := s.load(f, d)
	if err != nil {
		return err
	}
	if offset := req.GetReadOffset(); offset > 0 && !s.fault().IgnoreOffset {
		data = data[min(offset, int64(len(data))):]
	}
	if zip {
		data = zipper().EncodeAll(data, nil)
	}
	for sent := 0; sent < len(data); {
		n := min(64<<10, len(data)-sent)
		if err := out.Send(&bytestream.ReadResponse{Data: data[sent : sent+n]}); err != nil {
			return err
		}
		if sent += n; s.broke(sent) {
			return status.Error(codes.Unavailable, "the stream broke")
		}
	}
	return nil
}

// Write implements the service.
func (b *stream) Write(in bytestream.ByteStream_WriteServer) error {
	s := (*Server)(b)
	var resource string
	var data []byte
	for {
		m, err := in.Recv()
		if errors.Is(err, io.EOF) {
			return status.Error(codes.InvalidArgument, "the upload was not finished")
		}
		if err != nil {
			return err
		}
		if m.GetResourceName() != "" {
			resource = m.GetResourceName()
			s.hear([]byte(resource))
		}
		if m.GetWriteOffset() != int64(len(data)) {
			return status.Error(codes.InvalidArgument, "the offset is not where the data ends")
		}
		data = append(data, m.GetData()...)
		if m.GetFinishWrite() {
			break
		}
	}
	f, d, zip, err := parse(resource)
	if err != nil {
		return err
	}
	if err := s.store(f, d, data, zip); err != nil {
		return err
	}
	return in.SendAndClose(&bytestream.WriteResponse{CommittedSize: int64(len(data))})
}

// QueryWriteStatus implements the service; nobody asks for it.
func (b *stream) QueryWriteStatus(context.Context, *bytestream.QueryWriteStatusRequest) (*bytestream.QueryWriteStatusResponse, error) {
	return nil, status.Error(codes.Unimplemented, "uploads begin anew")
}

package remote

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds what a compressed stream can make this process allocate.
const maxWindow = 128 << 20

// zippers and unzippers keep encoders and decoders, which are costly to make.
var (
	zippers = sync.Pool{New: func() any {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
		if err != nil {
			panic("BUG: make zstd encoder: " + err.Error())
		}
		return z
	}}
	unzippers = sync.Pool{New: func() any {
		z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxWindow))
		if err != nil {
			panic("BUG: make zstd decoder: " + err.Error())
		}
		return z
	}}
)

func compress(b []byte) []byte {
	z := zippers.Get().(*zstd.Encoder)
	defer zippers.Put(z)
	return z.EncodeAll(b, nil)
}

// decompress returns what b is of; more than size bytes are an error, and are not allocated.
func decompress(b []byte, size int64) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(b); err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	if h.HasFCS && h.FrameContentSize > uint64(size) || size > batchLimit {
		return nil, errors.New("decompress: there are more bytes than there should be")
	}
	z := unzippers.Get().(*zstd.Decoder)
	defer unzippers.Put(z)
	out, err := z.DecodeAll(b, make([]byte, 0, size))
	if err != nil {
		return nil, fmt.Errorf("decompress: %w", err)
	}
	return out, nil
}

// unzipped is a decompressed stream.
type unzipped struct {
	z    *zstd.Decoder
	from io.Closer
}

// Read implements io.Reader. Bytes that cannot be decompressed are those of no blob.
func (u *unzipped) Read(p []byte) (int, error) {
	n, err := u.z.Read(p)
	switch {
	case errors.Is(err, zstd.ErrMagicMismatch), errors.Is(err, zstd.ErrReservedBlockType), errors.Is(err, zstd.ErrCompressedSizeTooBig),
		errors.Is(err, zstd.ErrBlockTooSmall), errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded),
		errors.Is(err, zstd.ErrCRCMismatch), errors.Is(err, zstd.ErrFrameSizeExceeded), errors.Is(err, zstd.ErrFrameSizeMismatch):
		err = &CorruptError{Detail: err.Error()}
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = &CorruptError{Detail: "the compressed stream is cut"}
	}
	return n, err
}

// Close ends the stream. The decoder is kept for the next one; a second Close does nothing.
func (u *unzipped) Close() error {
	if u.z == nil {
		return nil
	}
	_ = u.z.Reset(nil) // lets go of the stream; never fails without one
	unzippers.Put(u.z)
	u.z = nil
	return u.from.Close()
}

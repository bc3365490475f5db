package digest

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// partLen is what is hashed at a time: a power of two of chunks. readLen is what one goroutine reads at a time: small enough to stay
// in the processor's cache between reading and hashing, large enough that system calls and strides do not count. Measured: mapping the file
// instead is slower where it is in memory, since each page is mapped anew, and no faster on disks.
const (
	partLen = 64 << 10
	readLen = 4 * partLen
)

// PartsFrom is the size in bytes from which FromReaderAt uses more than one goroutine: 4 MiB are hashed in two
// milliseconds, and starting goroutines takes some microseconds.
const PartsFrom = 4 << 20

// part is the memory that hashing one part takes.
type part struct {
	bytes [readLen]byte
	room  [partLen / chunkLen]cv
}

var partPool = sync.Pool{New: func() any { return new(part) }}

// FromReaderAt returns the digest of the first size bytes of r. A large content is read and hashed in parts, by as many
// goroutines as there are processors, in memory of 256 KiB each and 32 bytes for every 64 KiB of content. The
// error is that of r, or io.ErrUnexpectedEOF when r ends early.
func FromReaderAt(r io.ReaderAt, size int64) (Digest, error) {
	if size < PartsFrom {
		d, err := FromReader(io.NewSectionReader(r, 0, size))
		if err == nil && d.Size != size {
			err = io.ErrUnexpectedEOF
		}
		return d, err
	}
	return fromParts(r, size, runtime.GOMAXPROCS(0))
}

// fromParts hashes more than one part.
func fromParts(r io.ReaderAt, size int64, workers int) (Digest, error) {
	parts := make([]cv, (size+partLen-1)/partLen)
	var (
		next   atomic.Int64
		failed atomic.Bool
		wg     sync.WaitGroup
		errs   = make([]error, workers)
	)
	for w := range workers {
		wg.Go(func() {
			p := partPool.Get().(*part)
			defer partPool.Put(p)
			for !failed.Load() {
				at := (next.Add(1) - 1) * readLen
				if at >= size {
					return
				}
				b := p.bytes[:min(readLen, size-at)]
				if err := readAt(r, b, at); err != nil {
					errs[w] = err
					failed.Store(true)
					return
				}
				for i := at / partLen; len(b) > 0; i++ {
					n := min(partLen, len(b))
					parts[i] = subtree(b[:n], uint64(i)*(partLen/chunkLen), p.room[:])
					b = b[n:]
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return Digest{}, err
		}
	}
	return Digest{Sum: rootOf(parts), Size: size}, nil
}

// stretch is what Copy reads at a time: a part for each of several goroutines.
const stretch = 16 * partLen

var stretchPool = sync.Pool{New: func() any { return new([stretch]byte) }}

// Copy copies r to w and returns the digest of what was copied. Of more than a mebibyte each stretch is hashed by as many goroutines
// as there are processors while it is written, in memory of 1 MiB and 32 bytes for every 64 KiB of content. The error is that of r
// or of w, unwrapped; what was written before it must not be used.
func Copy(w io.Writer, r io.Reader) (Digest, error) {
	buf := stretchPool.Get().(*[stretch]byte)
	defer stretchPool.Put(buf)
	n, err := Fill(r, buf[:])
	if err != nil {
		return Digest{}, err
	}
	if n < stretch {
		if _, err := w.Write(buf[:n]); err != nil {
			return Digest{}, err
		}
		return Of(buf[:n]), nil
	}
	var parts []cv
	size := int64(0)
	for n > 0 {
		at := len(parts)
		parts = append(parts, make([]cv, (n+partLen-1)/partLen)...)
		wait := hashStretch(buf[:n], parts[at:], at)
		_, err := w.Write(buf[:n])
		wait()
		if err != nil {
			return Digest{}, err
		}
		size += int64(n)
		if n, err = Fill(r, buf[:]); err != nil {
			return Digest{}, err
		}
	}
	return Digest{Sum: rootOf(parts), Size: size}, nil
}

// hashStretch begins to hash b, of which the first part is number at of the whole, into parts. wait returns when that is done.
func hashStretch(b []byte, parts []cv, at int) (wait func()) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(parts)) {
		wg.Go(func() {
			var room [partLen / chunkLen]cv
			for {
				i := int(next.Add(1)) - 1
				if i >= len(parts) {
					return
				}
				part := b[i*partLen : min((i+1)*partLen, len(b))]
				parts[i] = subtree(part, uint64(at+i)*(partLen/chunkLen), room[:])
			}
		})
	}
	return wg.Wait
}

// Fill reads r until b is full or r ends, and returns how many bytes it read. An error is always r's own: io.ReadFull says
// io.ErrUnexpectedEOF of an early end, which is just what a connection that broke and a compressed stream that was cut say.
func Fill(r io.Reader, b []byte) (int, error) {
	n := 0
	for n < len(b) {
		k, err := r.Read(b[n:])
		n += k
		if err == io.EOF { // a wrapped one is an error that speaks of an end
			return n, nil
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// readAt fills b.
func readAt(r io.ReaderAt, b []byte, off int64) error {
	n, err := r.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

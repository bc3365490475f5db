package digest

import (
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
)

// partLen is what one goroutine reads and hashes at a time: a power of two of chunks, small enough to stay in the
// processor's cache between reading and hashing, large enough that a system call does not count. Measured: mapping
// the file instead is slower, since BLAKE3 reads eight chunks at once and each waits for memory.
const partLen = 64 << 10

// PartsFrom is the size in bytes from which FromReaderAt uses more than one goroutine: 4 MiB are hashed in two
// milliseconds, and starting goroutines takes some microseconds.
const PartsFrom = 4 << 20

// part is the memory that hashing one part takes.
type part struct {
	bytes [partLen]byte
	room  [partLen / chunkLen]cv
}

var partPool = sync.Pool{New: func() any { return new(part) }}

// FromReaderAt returns the digest of the first size bytes of r. A large content is read and hashed in parts, by as many
// goroutines as there are processors, in memory of 64 KiB each and 32 bytes for every 64 KiB of content. The
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
				i := next.Add(1) - 1
				if i >= int64(len(parts)) {
					return
				}
				b := p.bytes[:min(partLen, size-i*partLen)]
				if err := readAt(r, b, i*partLen); err != nil {
					errs[w] = err
					failed.Store(true)
					return
				}
				parts[i] = subtree(b, uint64(i)*(partLen/chunkLen), p.room[:])
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

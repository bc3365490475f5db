package digest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"
)

// noise returns n bytes that differ by place.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(b)
	return b
}

func TestParts(t *testing.T) {
	b := noise(11*partLen + 77)
	for _, whole := range []int{2, 3, 4, 5, 7, 8, 11} {
		for _, rest := range []int{-groupLen - 1, -chunkLen, -1, 0, 1, 63, 64, 65, chunkLen - 1, chunkLen, chunkLen + 1, groupLen, groupLen + 5} {
			n := whole*partLen + rest
			if n > len(b) {
				continue
			}
			got, err := fromParts(bytes.NewReader(b[:n]), int64(n), 3)
			require.NoError(t, err)
			require.Equal(t, Of(b[:n]), got, "%d bytes", n)
		}
	}
	big := noise(PartsFrom + 1)
	for _, n := range []int{0, 1, PartsFrom - 1, PartsFrom, PartsFrom + 1} {
		got, err := FromReaderAt(bytes.NewReader(big), int64(n))
		require.NoError(t, err)
		require.Equal(t, Of(big[:n]), got, "%d bytes", n)
	}
}

func TestPartsOfWhatEndsEarly(t *testing.T) {
	for _, n := range []int64{1 << 10, PartsFrom, PartsFrom + 100} {
		_, err := FromReaderAt(bytes.NewReader(make([]byte, n-1)), n)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	}
	broken := errors.New("broken")
	_, err := FromReaderAt(failing{broken}, PartsFrom)
	require.ErrorIs(t, err, broken)
}

// failing is a disk that cannot be read.
type failing struct{ err error }

func (f failing) ReadAt([]byte, int64) (int, error) { return 0, f.err }

func FuzzParts(f *testing.F) {
	f.Add([]byte("x"), uint(2), uint(0))
	f.Add([]byte{}, uint(3), uint(1025))
	f.Add([]byte("some text"), uint(6), uint(8191))
	f.Fuzz(func(t *testing.T, seed []byte, parts, rest uint) {
		n := int(2+parts%5)*partLen + int(rest%partLen)
		b := make([]byte, n)
		r := rand.New(rand.NewPCG(uint64(len(seed)), uint64(Of(seed).Sum[0])))
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		for i := range seed {
			b[(i*4099)%n] = seed[i]
		}
		got, err := fromParts(bytes.NewReader(b), int64(n), 2)
		if err != nil || got != Of(b) {
			t.Fatalf("%d bytes: %v, %v; want %v", n, got, err, Of(b))
		}
	})
}

// BenchmarkLargeFile hashes a file of 2 GiB from the page cache. Raw is what BLAKE3 does on this machine at most: as many
// goroutines as there are processors hash as many bytes that are in memory already. The smaller raw is of bytes that
// stay in the processors' caches, which no file of this size does.
func BenchmarkLargeFile(b *testing.B) {
	const size, step = int64(2 << 30), 1 << 20
	f, err := os.Create(filepath.Join(b.TempDir(), "large"))
	require.NoError(b, err)
	defer f.Close()
	block := noise(step)
	for at := int64(0); at < size; at += step {
		_, err := f.WriteAt(block, at)
		require.NoError(b, err)
	}
	memory := make([]byte, size/4)
	copy(memory, block)
	var before, after runtime.MemStats
	b.SetBytes(size)
	raw, cached := time.Duration(0), time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		raw += rawSpeed(size, memory)
		cached += rawSpeed(size, block)
		runtime.ReadMemStats(&before)
		b.StartTimer()
		_, err := FromReaderAt(f, size)
		b.StopTimer()
		require.NoError(b, err)
		runtime.ReadMemStats(&after)
		b.StartTimer()
	}
	b.ReportMetric(100*raw.Seconds()/b.Elapsed().Seconds(), "%-of-raw")
	b.ReportMetric(100*cached.Seconds()/b.Elapsed().Seconds(), "%-of-cached")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/(1<<20), "MiB-allocated")
}

// rawSpeed hashes size bytes out of memory, on all processors, each its own part of it where it is large.
func rawSpeed(size int64, memory []byte) time.Duration {
	const step = 1 << 20
	workers := runtime.GOMAXPROCS(0)
	start := time.Now()
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			h := NewHasher()
			at := w * len(memory) / workers / step * step
			for done := int64(0); done < size/int64(workers); done += step {
				_, _ = h.Write(memory[at : at+step])
				at = (at + step) % len(memory)
			}
			_ = h.Digest()
		})
	}
	wg.Wait()
	return time.Since(start)
}

// TestCopy compares Copy with hashing in one go, at sizes around its stretches, with readers that give little at a time.
func TestCopy(t *testing.T) {
	for _, size := range []int{0, 1, partLen, stretch - 1, stretch, stretch + 1, stretch + partLen, 3*stretch - 1, 3 * stretch, 3*stretch + partLen + 5} {
		b := noise(size)
		var to bytes.Buffer
		d, err := Copy(&to, iotest.HalfReader(bytes.NewReader(b)))
		require.NoError(t, err)
		require.Equal(t, Of(b), d, size)
		require.True(t, bytes.Equal(b, to.Bytes()), size)
	}
	bad := errors.New("bad")
	for _, failure := range []error{bad, io.ErrUnexpectedEOF, fmt.Errorf("behind a proxy: %w", io.EOF)} {
		for _, size := range []int{7, stretch, stretch + 7} { // what a broken connection says is no end
			_, err := Copy(io.Discard, io.MultiReader(bytes.NewReader(noise(size)), iotest.ErrReader(failure)))
			require.ErrorIs(t, err, failure, size)
		}
	}
	r, w := io.Pipe()
	require.NoError(t, r.CloseWithError(bad))
	_, err := Copy(w, bytes.NewReader(noise(2*stretch)))
	require.ErrorIs(t, err, bad)
}

// BenchmarkCopy measures Copy to a file against hashing and writing one after the other.
func BenchmarkCopy(b *testing.B) {
	const size = 256 << 20
	src := noise(size)
	f, err := os.Create(filepath.Join(b.TempDir(), "copy"))
	require.NoError(b, err)
	defer f.Close()
	b.SetBytes(size)
	plain := time.Duration(0)
	for b.Loop() {
		b.StopTimer()
		_, err := f.Seek(0, io.SeekStart)
		require.NoError(b, err)
		begun := time.Now()
		h := NewHasher()
		_, err = io.CopyBuffer(io.MultiWriter(f, h), struct{ io.Reader }{bytes.NewReader(src)}, make([]byte, 1<<20))
		require.NoError(b, err)
		plain += time.Since(begun)
		_, err = f.Seek(0, io.SeekStart)
		require.NoError(b, err)
		b.StartTimer()
		_, err = Copy(f, bytes.NewReader(src))
		require.NoError(b, err)
	}
	b.ReportMetric(100*b.Elapsed().Seconds()/plain.Seconds(), "%-of-plain")
}

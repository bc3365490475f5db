package cachetest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// sizes are those around which stores change their ways: nothing, a block, the small limit of package disk, a read buffer.
var sizes = []int{0, 1, 90, 91, 92, 4095, 4096, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1<<20 + 1}

// noise returns n bytes that are the same each time.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(n), byte(n >> 8), byte(n >> 16)}).Read(b)
	return b
}

func blobsComeBack(t *testing.T, h Hooks) {
	s := h.open(t)
	for _, n := range sizes {
		b := noise(n)
		requireGone(t, s, digest.Of(b))
		for range 2 { // the second put finds the first
			d, err := s.Put(iotest.HalfReader(bytes.NewReader(b)))
			require.NoError(t, err)
			require.Equal(t, digest.Of(b), d)
		}
		requireBlob(t, s, b)
		require.Equal(t, digest.Of(b), put(t, s, b))
	}
	require.NoError(t, s.Sync())
	for _, n := range sizes {
		b := noise(n)
		requireBlob(t, s, b)
		r, err := s.Open(digest.Of(b))
		require.NoError(t, err)
		have, err := io.ReadAll(iotest.OneByteReader(io.LimitReader(r, 1000)))
		require.NoError(t, err)
		require.True(t, bytes.HasPrefix(b, have))
		require.NoError(t, r.Close())
	}
	_, err := cache.ReadAll(s, digest.Of(noise(4096)), 4095)
	require.Error(t, err)
}

func failingReader(t *testing.T, h Hooks) {
	s := h.open(t)
	// The second is what a connection says that broke, and a compressed stream that was cut.
	for _, broken := range []error{errors.New("broken"), io.ErrUnexpectedEOF, fmt.Errorf("behind a proxy: %w", io.EOF)} {
		for _, n := range sizes {
			b := noise(n)
			_, err := s.Put(io.MultiReader(bytes.NewReader(b), iotest.ErrReader(broken)))
			require.ErrorIs(t, err, broken)
			requireGone(t, s, digest.Of(b))
		}
	}
}

func concurrentPuts(t *testing.T, h Hooks) {
	s := h.open(t)
	var all sync.WaitGroup
	errs := make(chan error, 8*len(sizes)*2)
	for worker := range 8 {
		all.Go(func() {
			for _, n := range sizes {
				own := fmt.Appendf(noise(n), "of worker %d", worker)
				for _, b := range [][]byte{noise(n), own} {
					d, err := cache.PutBytes(s, b)
					if err == nil && d != digest.Of(b) {
						err = fmt.Errorf("put %s, got %s", digest.Of(b), d)
					}
					if _, read := cache.ReadAll(s, d, -1); err == nil {
						err = read
					}
					errs <- err
				}
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	for _, n := range sizes {
		requireBlob(t, s, noise(n))
	}
}

func missingBlobs(t *testing.T, h Hooks) {
	s := h.open(t)
	put(t, s, []byte("here"))
	wrongSize := digest.Of([]byte("here"))
	wrongSize.Size++
	for _, d := range []digest.Digest{{}, digest.Of([]byte("not here")), digest.Of(noise(1 << 20)), wrongSize} {
		requireGone(t, s, d)
		_, err := s.Open(d)
		require.True(t, cache.IsMissing(err), "%v", err)
		require.False(t, cache.IsCorrupt(err))
		_, err = cache.ReadAll(s, d, -1)
		require.True(t, cache.IsMissing(err), "%v", err)
		require.True(t, cache.IsMissing(cache.CopyBlob(io.Discard, s, d)))
	}
}

func readOpen(s cache.CAS, d digest.Digest) error {
	r, err := s.Open(d)
	if err != nil {
		return err
	}
	_, err = io.ReadAll(r)
	return errors.Join(err, r.Close())
}

func readCopy(s cache.CAS, d digest.Digest) error { return cache.CopyBlob(io.Discard, s, d) }

func corruptBlobs(t *testing.T, h Hooks) {
	if h.Corrupt == nil {
		t.Skip("no hook")
	}
	s := h.open(t)
	for i, n := range sizes[1:] {
		b := noise(n)
		d := put(t, s, b)
		h.Corrupt(t, s, d)
		read := []func(cache.CAS, digest.Digest) error{readOpen, readCopy}[i%2] // whoever reads it first may drop it
		err := read(s, d)
		require.True(t, cache.IsCorrupt(err), "%d bytes: %v", n, err)
		requireGone(t, s, d) // so that it is made again
		require.Equal(t, d, put(t, s, b))
		requireBlob(t, s, b)
		if h.Again != nil {
			requireBlob(t, h.again(t, s), b) // the good copy wins elsewhere too
		}
	}
}

func removedBlobs(t *testing.T, h Hooks) {
	if h.Remove == nil || h.Again == nil {
		t.Skip("no hook")
	}
	s := h.open(t)
	for _, n := range sizes {
		d := put(t, s, noise(n))
		h.Remove(t, s, d)
		other := h.again(t, s)
		requireGone(t, other, d)
		_, err := other.Open(d)
		require.True(t, cache.IsMissing(err) || cache.IsCorrupt(err), "%v", err)
		put(t, other, noise(n))
		requireBlob(t, other, noise(n))
	}
}

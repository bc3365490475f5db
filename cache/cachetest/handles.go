package cachetest

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
)

// patience bounds waits that end at once when the store is right.
const patience = 10 * time.Second

func handlesSeeEachOther(t *testing.T, h Hooks) {
	a := h.open(t)
	b := h.again(t, a)
	k := cache.KeyOf([]byte("m"))
	require.Empty(t, attempts(t, b, k))
	for n, s := range []cache.Store{a, b, a, b} {
		for i, r := range life(k, n+1) {
			require.NoError(t, s.Append(r))
			require.Len(t, attempts(t, a, k), n+1, "record %d", i)
			require.Equal(t, attempts(t, a, k), attempts(t, b, k))
		}
		for _, size := range sizes {
			blob := fmt.Appendf(noise(size), "%d", n)
			put(t, s, blob)
			requireBlob(t, a, blob)
			requireBlob(t, b, blob)
		}
		require.NoError(t, s.Sync())
	}
	third := h.again(t, a)
	require.Equal(t, attempts(t, a, k), attempts(t, third, k))
	require.NoError(t, third.RegisterCampaign("/c"))
	roots, err := b.Campaigns()
	require.NoError(t, err)
	require.Equal(t, []string{"/c"}, roots)
}

func reopened(t *testing.T, h Hooks) {
	s := h.open(t)
	k := cache.KeyOf([]byte("m"))
	for n := range 5 {
		s = h.again(t, s)
		appendAll(t, s, life(k, n+1)...)
		put(t, s, fmt.Appendf(nil, "blob %d", n))
		require.NoError(t, s.Close())
		s = h.again(t, s)
		require.Len(t, attempts(t, s, k), n+1)
		for i := range n + 1 {
			requireBlob(t, s, fmt.Appendf(nil, "blob %d", i))
		}
		require.NoError(t, s.Close())
	}
}

func lock(t *testing.T, h Hooks) {
	exclusion(t, h.open(t), nil)
}

func lockBetweenHandles(t *testing.T, h Hooks) {
	a := h.open(t)
	exclusion(t, a, h.again(t, a))
}

// exclusion proves that a key has one holder at a time over handles a and b, where b may be nil.
func exclusion(t *testing.T, a, b cache.Store) {
	if b == nil {
		b = a
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	k := cache.KeyOf([]byte("m"))
	release, err := a.Lock(ctx, k)
	require.NoError(t, err)

	elsewhere, err := b.Lock(ctx, cache.KeyOf([]byte("other")))
	require.NoError(t, err, "another key is free")
	elsewhere()

	given, giveUp := context.WithCancel(ctx)
	giveUp()
	_, err = b.Lock(given, k)
	require.ErrorIs(t, err, context.Canceled)
	third, err := b.Lock(given, cache.KeyOf([]byte("free")))
	require.NoError(t, err, "nobody has it")
	third()

	release()
	release() // once more does nothing
	again, err := b.Lock(ctx, k)
	require.NoError(t, err)
	release() // of an old holder: the new one keeps it
	_, err = a.Lock(given, k)
	require.ErrorIs(t, err, context.Canceled)
	again()

	var counter, inside atomic.Int64 // a kernel lock orders nothing that the race detector could see
	var all sync.WaitGroup
	errs := make(chan error, 30)
	for worker := range 6 {
		all.Go(func() {
			s := []cache.Store{a, b}[worker%2]
			for range 5 {
				release, err := s.Lock(ctx, k)
				if err != nil {
					errs <- err
					return
				}
				if n := inside.Add(1); n != 1 {
					errs <- fmt.Errorf("%d holders", n)
				}
				counter.Add(1)
				runtime.Gosched()
				inside.Add(-1)
				release()
			}
		})
	}
	all.Wait()
	close(errs)
	for err := range errs {
		require.NoError(t, err)
	}
	require.Equal(t, int64(30), counter.Load())
}

func campaigns(t *testing.T, h Hooks) {
	s := h.open(t)
	roots, err := s.Campaigns()
	require.NoError(t, err)
	require.Empty(t, roots)
	for _, root := range []string{"/home/b", "/home/a with space", "/home/b", "/home/b/"} {
		require.NoError(t, s.RegisterCampaign(root))
	}
	require.Error(t, s.RegisterCampaign("relative"))
	roots, err = s.Campaigns()
	require.NoError(t, err)
	require.Equal(t, []string{"/home/a with space", "/home/b"}, roots)
}

// Package cachetest is what every store must pass: one suite, run over each implementation.
//
// [TestStore] needs nothing but a way to open an empty store. [TestStoreWith] also proves what takes several handles or
// damage, as far as the [Hooks] allow it. [TestCAS] is the part about blobs, and [TestShared] is for what machines share.
package cachetest

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// Hooks say how to make and break the store under test. All but Open may be nil, which skips what needs them.
type Hooks struct {
	// Open returns a handle of a new, empty store.
	Open func(t *testing.T) cache.Store
	// Again returns another handle of the store that s is a handle of, as another process would have it.
	Again func(t *testing.T, s cache.Store) cache.Store
	// Corrupt changes a byte of a stored blob behind the store's back.
	Corrupt func(t *testing.T, s cache.Store, d digest.Digest)
	// Remove takes a stored blob away behind the store's back. Handles opened before may not notice.
	Remove func(t *testing.T, s cache.Store, d digest.Digest)
}

// TestStore proves that what open returns, each time a new and empty store, behaves as cache.Store says.
func TestStore(t *testing.T, open func(t *testing.T) cache.Store) {
	TestStoreWith(t, Hooks{Open: open})
}

// TestStoreWith is TestStore with hooks.
func TestStoreWith(t *testing.T, h Hooks) {
	runAll(t, h, []part{
		{"blobs come back", blobsComeBack},
		{"a failing reader stores nothing", failingReader},
		{"concurrent puts", concurrentPuts},
		{"missing blobs", missingBlobs},
		{"corrupt blobs", corruptBlobs},
		{"removed blobs", removedBlobs},
		{"one attempt's life", attemptLife},
		{"records in any order", anyOrder},
		{"concurrent appends", concurrentAppends},
		{"discard and restore", discardAndRestore},
		{"verdicts", verdicts},
		{"unknown records", unknownRecords},
		{"handles see each other", handlesSeeEachOther},
		{"reopened", reopened},
		{"lock", lock},
		{"lock between handles", lockBetweenHandles},
		{"campaigns", campaigns},
		{"broken records panic", brokenRecords},
	})
}

// part is one promise of a store.
type part struct {
	name string
	run  func(*testing.T, Hooks)
}

func runAll(t *testing.T, h Hooks, tests []part) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t, h) })
	}
}

func (h Hooks) open(t *testing.T) cache.Store {
	t.Helper()
	s := h.Open(t)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func (h Hooks) again(t *testing.T, s cache.Store) cache.Store {
	t.Helper()
	if h.Again == nil {
		t.Skip("the store has one handle only")
	}
	other := h.Again(t, s)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	return other
}

func put(t *testing.T, s cache.CAS, b []byte) digest.Digest {
	t.Helper()
	d, err := cache.PutBytes(s, b)
	require.NoError(t, err)
	return d
}

func requireBlob(t *testing.T, s cache.CAS, want []byte) {
	t.Helper()
	d := digest.Of(want)
	ok, err := s.Has(d)
	require.NoError(t, err)
	require.True(t, ok)
	have, err := cache.ReadAll(s, d, -1)
	require.NoError(t, err)
	require.Equal(t, digest.Of(want), digest.Of(have))
	var copied bytes.Buffer
	require.NoError(t, cache.CopyBlob(&copied, s, d))
	require.Equal(t, digest.Of(want), digest.Of(copied.Bytes()))
}

func requireGone(t *testing.T, s cache.CAS, d digest.Digest) {
	t.Helper()
	ok, err := s.Has(d)
	require.NoError(t, err)
	if _, far := s.(casOnly); far && d == digest.Of(nil) {
		return // nobody asks a server for it
	}
	require.False(t, ok)
}

func appendAll(t *testing.T, s cache.Actions, records ...cache.Record) {
	t.Helper()
	for _, r := range records {
		require.NoError(t, s.Append(r))
	}
}

func attempts(t *testing.T, s cache.Actions, k cache.Key) []cache.Attempt {
	t.Helper()
	all, err := s.Attempts(k)
	require.NoError(t, err)
	return all
}

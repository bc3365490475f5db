package cachetest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
)

// TestCAS proves that what open returns, each time new and empty, keeps blobs as cache.CAS says.
func TestCAS(t *testing.T, open func(t *testing.T) cache.CAS) {
	h := Hooks{Open: func(t *testing.T) cache.Store { return casOnly{CAS: open(t)} }}
	runAll(t, h, []part{
		{"blobs come back", blobsComeBack},
		{"a failing reader stores nothing", failingReader},
		{"concurrent puts", concurrentPuts},
		{"missing blobs", missingBlobs},
	})
}

// casOnly lets the parts of the suite that are about blobs run over a CAS alone.
type casOnly struct {
	cache.CAS
	cache.Actions
}

func (casOnly) Sync() error { return nil }
func (casOnly) Lock(context.Context, cache.Key) (func(), error) {
	return nil, errors.New("BUG: a CAS has no locks")
}
func (casOnly) Workdir() string               { return "" }
func (casOnly) RegisterCampaign(string) error { return errors.New("BUG: a CAS has no campaigns") }
func (casOnly) Campaigns() ([]string, error)  { return nil, errors.New("BUG: a CAS has no campaigns") }
func (casOnly) Close() error                  { return nil }

// SharedHooks say how to make and break what machines share.
type SharedHooks struct {
	// Open returns a new, empty one; Again another handle of it, as another machine has.
	Open  func(t *testing.T) cache.Shared
	Again func(t *testing.T, s cache.Shared) cache.Shared
	// Forget drops every blob that which names, and Corrupt changes a byte of it, behind the back of all. nil: it cannot be.
	Forget, Corrupt func(t *testing.T, which func(b []byte) bool)
	// FirstStays says that a server may go on with the first attempt that it got of a key.
	FirstStays bool
	// Local returns a new, empty store of a machine.
	Local func(t *testing.T) cache.Store
}

// TestShared proves that what the hooks open behaves as cache.Shared says.
func TestShared(t *testing.T, h SharedHooks) {
	for _, test := range []struct {
		name string
		run  func(*testing.T, SharedHooks)
	}{
		{"an attempt travels whole", travels},
		{"nothing is remembered of what is not there", notRemembered},
		{"the last one counts", lastCounts},
		{"a lost blob is a miss", lostBlob},
		{"wrong bytes are never taken", wrongBytes},
		{"an attempt is more than its texts", lostTexts},
	} {
		t.Run(test.name, func(t *testing.T) { test.run(t, h) })
	}
}

// freshManifest is one that no run of the suite ever had: a real server keeps what earlier runs stored.
func freshManifest() []byte { return []byte("manifest " + rand.Text()) }

// made is an attempt as a store has it, with a tree, files, and what is of its machine alone.
func made(t *testing.T, s cache.Store, k cache.Key, n int) cache.Attempt {
	t.Helper()
	blob := func(format string, args ...any) digest.Digest { return put(t, s, fmt.Appendf(nil, format, args...)) }
	tree := func(name string) digest.Digest {
		b, err := cache.Tree{
			Entries: []cache.Entry{
				{Path: name + "/a", Kind: cache.File, Mode: 0o755, Digest: blob("%s a %d", name, n)},
				{Path: name + "/\xff", Kind: cache.File, Mode: 0o600, Digest: put(t, s, noise(70_000))},
				{Path: name + "/empty", Kind: cache.File, Mode: 0o644, Digest: blob("")},
				{Path: name + "/l", Kind: cache.Link, Target: "a"}, {Path: "d", Kind: cache.Dir, Mode: 0o700},
			},
			Deleted: []string{"gone"}, Changed: []string{name + "/a"},
		}.Encode()
		require.NoError(t, err)
		return put(t, s, b)
	}
	cost := 1.5
	a := cache.Attempt{
		Key: k, Ordinal: n, Address: "task.review", Campaign: "/home/ann/campaign", Build: "b1", Manifest: blob("manifest"), Prompt: blob("prompt %d", n),
		Feedback: blob("feedback"), Reason: "first attempt", Rung: "large", Agent: cache.Agent{Adapter: "claude", Model: "m"},
		Owner: cache.Owner{PID: 7, BootID: "boot"}, Workspace: "/home/ann/work", StartedAt: when, EndedAt: when,
	}
	c := cache.Captured{
		Outputs: []cache.Output{
			{Name: "report", Exists: true, Digest: put(t, s, append(noise(3<<20), byte(n))), Mode: 0o644},
			{Name: "tests", Exists: true, Tree: true, Digest: tree("tests")}, {Name: "absent"},
		},
		Leftovers: blob("left"), Given: tree("given"), Log: blob("log %d", n), Usage: cache.Usage{CostUSD: &cost}, Duration: 90, Kept: []cache.Output{{Name: "k"}},
	}
	appendAll(t, s, cache.StartedRecord(a), cache.CapturedRecord(k, n, c), cache.EndedRecord(k, n, cache.OK, "", when))
	return attempts(t, s, k)[n-1]
}

func travels(t *testing.T, h SharedHooks) {
	here, there := h.Local(t), h.Local(t)
	k := cache.KeyOf(freshManifest())
	at := made(t, here, k, 1)
	shared := h.open(t)
	e := cache.ShareAttempt(at, "b1/1", "ann@desk")
	require.NoError(t, shared.Publish(t.Context(), e, here))

	other := h.again(t, shared)
	got, ok, err := other.Lookup(t.Context(), k)
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, e, got)
	require.True(t, got.Captured.Leftovers.IsZero(), "what was not declared stays")
	require.Nil(t, got.Captured.Kept)
	held, err := other.Holds(t.Context(), got)
	require.NoError(t, err)
	require.NoError(t, other.Take(t.Context(), got, there))
	for _, d := range held {
		b, err := cache.ReadAll(there, d, -1)
		require.NoError(t, err)
		require.Equal(t, d, digest.Of(b))
		r, err := other.Open(d)
		require.NoError(t, err)
		again, err := io.ReadAll(r)
		require.NoError(t, err)
		require.NoError(t, r.Close())
		require.Equal(t, d, digest.Of(again))
	}
	n := 0
	require.NoError(t, got.Blobs(there, func(d digest.Digest) error { n++; return nil }))
	require.Len(t, held, n+len(got.Texts()))
	ok, err = there.Has(digest.Of([]byte("left")))
	require.NoError(t, err)
	require.False(t, ok)
}

func notRemembered(t *testing.T, h SharedHooks) {
	here := h.Local(t)
	k := cache.KeyOf(freshManifest())
	shared := h.open(t)
	other := h.again(t, shared)
	_, ok, err := other.Lookup(t.Context(), k)
	require.NoError(t, err)
	require.False(t, ok)
	require.NoError(t, shared.Publish(t.Context(), cache.ShareAttempt(made(t, here, k, 1), "b1/1", ""), here))
	_, ok, err = other.Lookup(t.Context(), k)
	require.NoError(t, err)
	require.True(t, ok)
	_, ok, err = other.Lookup(t.Context(), cache.KeyOf(freshManifest()))
	require.NoError(t, err)
	require.False(t, ok)
}

func lastCounts(t *testing.T, h SharedHooks) {
	here := h.Local(t)
	k := cache.KeyOf(freshManifest())
	shared := h.open(t)
	for n := 1; n <= 2; n++ {
		require.NoError(t, shared.Publish(t.Context(), cache.ShareAttempt(made(t, here, k, n), fmt.Sprintf("b1/%d", n), ""), here))
	}
	got, ok, err := shared.Lookup(t.Context(), k)
	require.NoError(t, err)
	require.True(t, ok)
	if !h.FirstStays || got.Origin != "b1/1" {
		require.Equal(t, "b1/2", got.Origin)
	}
}

// parts calls do with each thing that a blob of a published attempt can be.
func parts(t *testing.T, h SharedHooks, do func(t *testing.T, shared cache.Shared, k cache.Key, which func([]byte) bool)) {
	for name, which := range map[string]func([]byte) bool{
		"an output":    func(b []byte) bool { return len(b) > 3<<20 },
		"a tree":       func(b []byte) bool { return len(b) > 13 && string(b[:13]) == "ufbuild tree " },
		"a file of it": func(b []byte) bool { return string(b) == "tests a 1" },
		"the attempt":  func(b []byte) bool { return len(b) > 10 && string(b[:10]) == `{"format":` },
	} {
		t.Run(name, func(t *testing.T) {
			here := h.Local(t)
			k := cache.KeyOf(freshManifest())
			shared := h.open(t)
			require.NoError(t, shared.Publish(t.Context(), cache.ShareAttempt(made(t, here, k, 1), "b1/1", ""), here))
			do(t, h.again(t, shared), k, which)
		})
	}
}

func lostBlob(t *testing.T, h SharedHooks) {
	if h.Forget == nil {
		t.Skip("no hook")
	}
	parts(t, h, func(t *testing.T, shared cache.Shared, k cache.Key, which func([]byte) bool) {
		h.Forget(t, which)
		e, ok, err := shared.Lookup(t.Context(), k)
		require.NoError(t, err)
		if !ok {
			return
		}
		require.True(t, cache.IsMissing(shared.Take(t.Context(), e, h.Local(t))))
		_, err = shared.Holds(t.Context(), e)
		require.True(t, cache.IsMissing(err), "%v", err)
	})
}

func wrongBytes(t *testing.T, h SharedHooks) {
	if h.Corrupt == nil {
		t.Skip("no hook")
	}
	parts(t, h, func(t *testing.T, shared cache.Shared, k cache.Key, which func([]byte) bool) {
		h.Corrupt(t, which)
		e, ok, err := shared.Lookup(t.Context(), k)
		if err == nil && ok {
			err = shared.Take(t.Context(), e, h.Local(t))
		}
		require.ErrorIs(t, err, cache.ErrPoisoned)
	})
}

// lostTexts: what only people read may be gone or damaged, and the attempt comes without it.
func lostTexts(t *testing.T, h SharedHooks) {
	for name, spoil := range map[string]func(*testing.T, func([]byte) bool){"gone": h.Forget, "damaged": h.Corrupt} {
		if spoil == nil {
			continue
		}
		t.Run(name, func(t *testing.T) {
			here, there := h.Local(t), h.Local(t)
			k := cache.KeyOf(freshManifest())
			shared := h.open(t)
			require.NoError(t, shared.Publish(t.Context(), cache.ShareAttempt(made(t, here, k, 1), "b1/1", ""), here))
			spoil(t, func(b []byte) bool { return string(b) == "log 1" || string(b) == "feedback" })
			other := h.again(t, shared)
			e, ok, err := other.Lookup(t.Context(), k)
			require.NoError(t, err)
			if !ok {
				return // a server may drop a result of which anything is lost
			}
			require.NoError(t, other.Take(t.Context(), e, there))
			lost := func(d digest.Digest) bool { ok, err := there.Has(d); require.NoError(t, err); return !ok }
			require.NoError(t, e.Blobs(there, func(d digest.Digest) error { require.False(t, lost(d)); return nil }))
			require.False(t, lost(e.Prompt))
			require.True(t, lost(e.Feedback))
			require.True(t, lost(e.Captured.Log))
			less := e.WithoutTexts(lost, "there")
			require.Equal(t, []digest.Digest{e.Prompt}, less.Texts())
			require.Equal(t, "it is damaged or gone at there", less.Captured.LogDamage)
			held, err := other.Holds(t.Context(), e)
			require.NoError(t, err)
			if name == "gone" {
				require.NotContains(t, held, e.Captured.Log)
			}
			require.Contains(t, held, e.Prompt)
		})
	}
}

func (h SharedHooks) open(t *testing.T) cache.Shared {
	t.Helper()
	s := h.Open(t)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	return s
}

func (h SharedHooks) again(t *testing.T, s cache.Shared) cache.Shared {
	t.Helper()
	other := h.Again(t, s)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	return other
}

package main

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
)

// smallBundle is a bundle of one attempt with two blobs.
func smallBundle(t testing.TB) []byte {
	store := mem.New(t.TempDir())
	manifest, err := cache.PutBytes(store, []byte("manifest"))
	require.NoError(t, err)
	out, err := cache.PutBytes(store, []byte("finding"))
	require.NoError(t, err)
	at := cache.Attempt{
		Key: cache.KeyOf([]byte("manifest")), Ordinal: 3, Address: "triage", Manifest: manifest, StartedAt: time.Unix(1, 0).UTC(),
		EndedAt: time.Unix(2, 0).UTC(), State: cache.Ended, Outcome: cache.OK,
		Captured: &cache.Captured{Outputs: []cache.Output{{Name: "f", Exists: true, Digest: out}}},
	}
	var b bytes.Buffer
	require.NoError(t, writeBundle(&b, store, "triage", []cache.Attempt{at}, []digest.Digest{manifest, out}))
	return b.Bytes()
}

func nothingHad(digest.Digest) (bool, error) { return false, nil }

// Whatever byte of a bundle is changed, it says the same or is refused; cut anywhere it is refused.
func TestBundleIsProved(t *testing.T) {
	whole := smallBundle(t)
	want, err := readBundle(bytes.NewReader(whole), digest.FromReader, nothingHad)
	require.NoError(t, err)
	require.Len(t, want, 1)
	require.Equal(t, 3, want[0].Ordinal)
	refused := 0
	for i := range whole {
		b := bytes.Clone(whole)
		b[i] ^= 1
		have, err := readBundle(bytes.NewReader(b), digest.FromReader, nothingHad)
		if err != nil {
			refused++
			continue
		}
		require.Equal(t, want, have, "byte %d", i)
	}
	require.Greater(t, refused, 1000)
	content := bytes.LastIndex(whole, []byte("}")) // behind it there is padding alone
	for n := range content {
		_, err := readBundle(bytes.NewReader(whole[:n]), digest.FromReader, nothingHad)
		require.Error(t, err, "cut to %d", n)
	}
}

func TestBundleLacksABlob(t *testing.T) {
	store := mem.New(t.TempDir())
	d, err := cache.PutBytes(store, []byte("manifest"))
	require.NoError(t, err)
	at := cache.Attempt{Key: cache.KeyOf([]byte("manifest")), Ordinal: 1, Manifest: d, Outcome: cache.OK}
	var b bytes.Buffer
	require.NoError(t, writeBundle(&b, store, "x", []cache.Attempt{at}, nil))
	_, err = readBundle(bytes.NewReader(b.Bytes()), digest.FromReader, nothingHad)
	require.ErrorIs(t, err, errBundle)
	_, err = readBundle(bytes.NewReader(b.Bytes()), digest.FromReader, store.Has)
	require.NoError(t, err)
}

func FuzzBundle(f *testing.F) {
	f.Add(smallBundle(f))
	f.Fuzz(func(t *testing.T, b []byte) {
		blobs := map[digest.Digest]bool{}
		attempts, err := readBundle(bytes.NewReader(b), func(r io.Reader) (digest.Digest, error) {
			d, err := digest.FromReader(r)
			blobs[d] = true
			return d, err
		}, nothingHad)
		if err != nil {
			return
		}
		for _, at := range attempts {
			for _, d := range at.Blobs() {
				require.True(t, blobs[d], "an attempt came in without its blob %s", d)
			}
		}
	})
}

func TestBundleOfALaterFormat(t *testing.T) {
	b := smallBundle(t)
	b = bytes.Replace(b, []byte(`{"format":1`), []byte(`{"format":2`), 1)
	_, err := readBundle(bytes.NewReader(b), digest.FromReader, nothingHad)
	require.ErrorContains(t, err, "hint: ")
	require.False(t, errors.Is(err, errBundle))
}

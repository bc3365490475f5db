package main

import (
	"reflect"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
)

// TestSurveyMissesNoBlob fills every field of an attempt that holds a digest, those that a later version adds too: what the
// survey does not find is trimmed, and lacks in bundles.
func TestSurveyMissesNoBlob(t *testing.T) {
	at := cache.Attempt{Captured: &cache.Captured{Outputs: []cache.Output{{}}, Kept: []cache.Output{{}}}}
	n := 0
	fillDigests(reflect.ValueOf(&at).Elem(), func() digest.Digest { n++; return digest.Of([]byte{byte(n)}) })
	require.Greater(t, n, 7, "the digests were not found")
	s := surveyed{Attempt: at}
	s.look(mem.New(""))
	for i := range n {
		d := digest.Of([]byte{byte(i + 1)})
		require.True(t, slices.ContainsFunc(s.blobs, func(b namedBlob) bool { return b.digest == d }), "the survey misses digest %d of %+v", i+1, at)
		require.Contains(t, at.Blobs(), d)
	}
}

// fillDigests sets every field of a value that is the digest of a blob.
func fillDigests(v reflect.Value, next func() digest.Digest) {
	switch {
	case v.Type() == reflect.TypeFor[digest.Digest]():
		v.Set(reflect.ValueOf(next()))
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillDigests(v.Field(i), next)
			}
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		fillDigests(v.Elem(), next)
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			fillDigests(v.Index(i), next)
		}
	}
}

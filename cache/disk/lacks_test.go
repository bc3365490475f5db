package disk_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/disk"
)

// TestLacks: Lacks says of many what Has says of each, small and large, also of what another handle put meanwhile.
func TestLacks(t *testing.T) {
	dir := t.TempDir()
	open := func() *disk.Store {
		s, err := disk.Open(dir, disk.Options{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, s.Close()) })
		return s
	}
	s, other := open(), open()
	digests := []digest.Digest{{}, digest.Of(nil)}
	for i, size := range []int{1, 100, 4 << 10, 64<<10 - 1, 64 << 10, 64<<10 + 1, 1 << 20, 3 << 20} {
		for j, in := range []cache.CAS{s, other, nil} {
			b := bytes.Repeat(fmt.Appendf(nil, "%d %d ", i, j), size/4+1)
			digests = append(digests, digest.Of(b))
			if in != nil {
				_, err := cache.PutBytes(in, b)
				require.NoError(t, err)
			}
		}
	}
	lacks, err := s.Lacks(digests)
	require.NoError(t, err)
	var want []digest.Digest
	for _, d := range digests {
		has, err := s.Has(d)
		require.NoError(t, err)
		if !has {
			want = append(want, d)
		}
	}
	require.Equal(t, want, lacks)
	require.Len(t, lacks, 10)
}

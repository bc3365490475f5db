package mem_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/cachetest"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
)

func TestStore(t *testing.T) {
	cachetest.TestStoreWith(t, cachetest.Hooks{
		Open:    func(*testing.T) cache.Store { return mem.New("/work") },
		Again:   func(_ *testing.T, s cache.Store) cache.Store { return s.(*mem.Store).Handle() },
		Corrupt: func(_ *testing.T, s cache.Store, d digest.Digest) { s.(*mem.Store).Corrupt(d) },
		Remove:  func(_ *testing.T, s cache.Store, d digest.Digest) { s.(*mem.Store).Remove(d) },
	})
}

func TestWorkdir(t *testing.T) {
	require.Equal(t, "/work", mem.New("/work").Handle().Workdir())
}

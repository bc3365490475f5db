package local

import (
	"testing"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor"
	"github.com/ufbuild/ufbuild/executor/runnertest"
)

func TestRunner(t *testing.T) {
	runnertest.TestRunner(t, func(t *testing.T) (executor.Runner, cache.Store) {
		store := mem.New(t.TempDir())
		r := New(store, Options{})
		t.Cleanup(func() { r.Close() })
		return r, store
	})
}

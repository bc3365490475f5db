package runnertest

import (
	"testing"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/mem"
	"github.com/ufbuild/ufbuild/executor"
)

func TestFake(t *testing.T) {
	TestRunner(t, func(t *testing.T) (executor.Runner, cache.Store) {
		store := mem.New(t.TempDir())
		return &Fake{Store: store, Do: Behave}, store
	})
}

package executor

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/cache"
	"github.com/ufbuild/ufbuild/cache/digest"
	"github.com/ufbuild/ufbuild/cache/mem"
)

// What another machine left out would come back as feedback of a contract in a prompt that is paid.
func TestResultOfAnotherMachineHasEveryOutput(t *testing.T) {
	a := &Action{Outputs: []OutputSpec{{Name: "o", Path: "o"}, {Name: "p", Path: "p"}}}
	cas := mem.New(t.TempDir())
	o := cache.Output{Name: "o", Exists: true, Digest: digest.Of([]byte("x")), Mode: 0o644}
	require.ErrorContains(t, fitsAction(a, cache.Captured{Outputs: []cache.Output{o}}, cas), "1 of 2")
	require.NoError(t, fitsAction(a, cache.Captured{Outputs: []cache.Output{o, {Name: "p"}}}, cas), "it was not produced, which a contract may allow")
	require.ErrorContains(t, fitsAction(a, cache.Captured{Outputs: []cache.Output{o, o}}, cas), "does not declare")
	require.ErrorContains(t, fitsAction(a, cache.Captured{Outputs: []cache.Output{o, {Name: "p", Tree: true}}}, cas), "not of the kind")
}

package executor

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// TestLefts: what a node left is found by its address and can be replaced, among few and among many.
func TestLefts(t *testing.T) {
	var l lefts
	at := func(i int) lang.Address { return lang.Address{Task: "t", Key: fmt.Sprint(i)} }
	for _, status := range []string{"failed", "ok"} {
		for i := range 3 * shortLefts {
			l.set(at(i), left{done: true, status: status})
			require.Equal(t, status, l.of(at(i)).status)
		}
		require.Len(t, l.list, 3*shortLefts)
	}
	require.False(t, l.of(at(-1)).done)
}

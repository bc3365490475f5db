package source

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEach(t *testing.T) {
	for _, n := range []int{0, 1, spreadFrom - 1, 2 * spreadFrom, 1000} {
		seen := make([]atomic.Int32, n)
		require.NoError(t, Each(n, func(i int) error { seen[i].Add(1); return nil }))
		for i := range seen {
			require.Equal(t, int32(1), seen[i].Load(), "%d of %d", i, n)
		}
	}
	for range 200 {
		err := Each(1000, func(i int) error {
			if i == 7 || i >= 8 && i%3 == 0 {
				return fmt.Errorf("no %d", i)
			}
			return nil
		})
		require.EqualError(t, err, "no 7", "the lowest index wins, whoever is first")
	}
}

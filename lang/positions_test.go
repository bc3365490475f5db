package lang

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestPositions: things keep the number of their first appearance, whether they are few or many.
func TestPositions(t *testing.T) {
	var p positions[int]
	_, ok := p.find(0)
	require.False(t, ok)
	for round := range 2 {
		for i := range 3 * few {
			n, added := p.add(7 * i)
			require.Equal(t, i, n)
			require.Equal(t, round == 0, added)
		}
	}
	n, ok := p.find(7)
	require.True(t, ok)
	require.Equal(t, 1, n)
	_, ok = p.find(8)
	require.False(t, ok)
	require.Len(t, p.keys, 3*few)
}

package graph

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSpan wants what lies between and nothing beside it, along edges of every kind.
func TestSpan(t *testing.T) {
	g := newCamp().task("a").task("b", "a").task("side").task("c", ">b", "side").task("d", "~c").task("other", "b").build(t)
	span := func(from, to string) []string {
		var names []string
		for _, id := range g.Span(g.OfTask(from), g.OfTask(to)) {
			names = append(names, g.Node(id).Address.String())
		}
		return names
	}
	require.Equal(t, []string{"b", "c", "d"}, span("b", "d"))
	require.Equal(t, []string{"a", "b", "other"}, span("a", "other"))
	require.Equal(t, []string{"c"}, span("c", "c"))
	require.Empty(t, span("side", "other"))
	require.Empty(t, span("d", "c"), "not against the edges")
}

package graph

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// items makes run-time instances of a task that need what its symbolic instance needs.
func items(t *lang.Task, keys ...string) []*lang.Instance {
	var out []*lang.Instance
	for _, key := range keys {
		out = append(out, &lang.Instance{Settings: &lang.Settings{}, Task: t, Address: lang.Address{Task: t.Name, Key: key}, Needs: t.Instances[0].Needs})
	}
	return out
}

func TestWithExpansion(t *testing.T) {
	b := newCamp().task("plan").expand("goals", "plan").task("report", "~goals").task("other")
	g := b.build(t)
	template := id(t, g, "goals")
	require.True(t, g.Node(template).Template)
	_, known := g.Expansion(template)
	require.False(t, known)

	x := g.WithExpansion(template, items(b.c.Tasks[1], "b", "a"))
	require.Equal(t, 4, g.Len(), "the old graph is as it was")
	require.Len(t, slices.Collect(g.Dependents(template)), 1)
	require.Equal(t, names(g, []NodeID{0, 1, 2, 3}), names(x, []NodeID{0, 1, 2, 3}), "old numbers stay")
	require.Equal(t, []string{"plan", "goals", "goals/b", "goals/a", "report", "other"}, names(x, x.Order()))
	ids, known := x.Expansion(template)
	require.True(t, known)
	require.Equal(t, []string{"goals/b", "goals/a"}, names(x, ids))

	report := x.Deps(id(t, x, "report"))
	require.Len(t, report, 3)
	for _, e := range report {
		require.True(t, e.Tolerate)
	}
	require.Equal(t, []string{"goals", "goals/b", "goals/a", "report"}, names(x, x.Cone(template)))
	require.Equal(t, []string{"goals/a", "report"}, names(x, x.Cone(id(t, x, "goals/a"))))
	sel, err := x.Select([]string{"goals"}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"goals", "goals/b", "goals/a"}, names(x, sel))
	_, err = x.Select([]string{"goals/none"}, nil)
	require.Error(t, err, "the instances are known now")
}

func TestEmptyExpansionLetsReadersProceed(t *testing.T) {
	b := newCamp().expand("goals").task("report", "goals")
	g := b.build(t)
	x := g.WithExpansion(0, nil)
	ids, known := x.Expansion(0)
	require.True(t, known)
	require.Empty(t, ids)
	require.Equal(t, []string{"goals", "report"}, names(x, x.Order()))
}

func TestTwoExpansionsInEitherOrder(t *testing.T) {
	b := newCamp().expand("p").expand("q", "p").task("end", "q", "p")
	g := b.build(t)
	p, q := items(b.c.Tasks[0], "1", "2"), items(b.c.Tasks[1], "3")
	one := g.WithExpansion(0, p).WithExpansion(1, q)
	two := g.WithExpansion(1, q).WithExpansion(0, p)
	for _, x := range []*Graph{one, two} {
		require.ElementsMatch(t, []string{"p", "p/1", "p/2"}, names(x, neededBy(x, id(t, x, "q/3"), "p")))
		require.Len(t, x.Deps(id(t, x, "end")), 5)
	}
}

// neededBy returns the nodes of a task that id needs.
func neededBy(g *Graph, id NodeID, task string) []NodeID {
	var ids []NodeID
	for _, e := range g.Deps(id) {
		if g.Node(e.To).Address.Task == task {
			ids = append(ids, e.To)
		}
	}
	return ids
}

func TestExpandingTwiceIsABug(t *testing.T) {
	b := newCamp().expand("goals").task("x")
	g := b.build(t)
	require.Panics(t, func() { g.WithExpansion(0, nil).WithExpansion(0, nil) })
	require.Panics(t, func() { g.WithExpansion(1, nil) })
}

func TestTemplateWithoutSymbolicInstanceUsesItsReferences(t *testing.T) {
	b := newCamp().task("plan").expand("goals", "plan")
	b.last().Instances = nil
	g := b.build(t)
	require.Equal(t, []string{"plan", "goals"}, names(g, g.Order()))
	require.Len(t, g.Deps(1), 1)
}

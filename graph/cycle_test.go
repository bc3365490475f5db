package graph

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

func TestCycleIsReportedOnceWithEveryEdge(t *testing.T) {
	b := newCamp().task("first").task("a", "b", "first").task("b", "c").task("c", "a").task("after", "c")
	b.c.Tasks[2].Refs[0].How = "refers to (through local.x)"
	g, ds := Build(b.c)
	require.Len(t, ds, 1)
	d := ds[0]
	require.Equal(t, "UF3001", d.Code)
	require.Equal(t, lang.Error, d.Severity)
	require.Equal(t, "Tasks need each other: task.a -> task.b -> task.c -> task.a.", d.Summary)
	require.EqualValues(t, 11, d.Subject.Start.Line)
	var lines []string
	for _, r := range d.Related {
		lines = append(lines, fmt.Sprintf("%s %s", r.Range, r.Message))
	}
	require.Equal(t, []string{
		"campaign.hcl:12:3 task.a refers to task.b here",
		"campaign.hcl:22:3 task.b refers to task.c here (through local.x)",
		"campaign.hcl:32:3 task.c refers to task.a here",
	}, lines)

	require.Equal(t, []string{"first", "after"}, names(g, g.Order()), "what is outside the cycle is still ordered")
	require.Len(t, g.Cycles(), 1)
	require.Equal(t, []string{"a", "b", "c"}, names(g, g.Cycles()[0]))
	require.Len(t, g.Cone(id(t, g, "a")), 4)
}

func TestShortestCycleOfAComponent(t *testing.T) {
	_, ds := Build(newCamp().task("a", "b").task("b", "c").task("c", "d", "b").task("d", "a").c)
	require.Len(t, ds, 1)
	require.Contains(t, ds[0].Summary, "task.b -> task.c -> task.b")
}

func TestOneDiagnosticForEachComponent(t *testing.T) {
	_, ds := Build(newCamp().task("a", "b").task("b", "a").task("x", "y", "a").task("y", ">x").c)
	require.Len(t, ds, 2)
	require.Contains(t, ds[0].Summary, "task.a -> task.b -> task.a")
	require.Contains(t, ds[1].Summary, "task.x -> task.y -> task.x")
	require.Equal(t, "task.y comes after task.x here", ds[1].Related[1].Message)
}

func TestTasksAreCyclicEvenWhenInstancesAreNot(t *testing.T) {
	b := newCamp().task("a", "b").task("b", "a")
	for _, task := range b.c.Tasks {
		task.Instances[0].Needs = nil
	}
	g, ds := Build(b.c)
	require.Len(t, ds, 1)
	require.Empty(t, g.Cycles())
}

func TestLongRingIsFoundInLinearSpace(t *testing.T) {
	const n = 5000
	b := newCamp()
	for i := range n {
		b.task(fmt.Sprintf("t%d", i), fmt.Sprintf("t%d", (i+1)%n))
	}
	g, ds := Build(b.c)
	require.Len(t, ds, 1)
	require.Len(t, ds[0].Related, n)
	require.Len(t, g.Cycles()[0], n)
	require.Empty(t, g.Order())
}

func TestUnreachedTasksAreWarnedOf(t *testing.T) {
	b := newCamp().task("a").task("b", ">a").task("old").task("c", "b")
	b.c.Default = []string{"c"}
	_, ds := Build(b.c)
	require.Len(t, ds, 1)
	require.Equal(t, "UF3003", ds[0].Code)
	require.Equal(t, lang.Warning, ds[0].Severity)
	require.Contains(t, ds[0].Summary, "task.old")
}

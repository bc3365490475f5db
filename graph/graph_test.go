package graph

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// camp builds campaigns by hand: camp{}.task("b", "a") is a task b with one instance that needs a.
type camp struct{ c *lang.Campaign }

func newCamp() *camp { return &camp{&lang.Campaign{Out: "out"}} }

// task adds a task with one instance. Needs are task names; "~x" tolerates x, ">x" is order only,
// "!x" is in depends_on.
func (b *camp) task(name string, needs ...string) *camp {
	return b.keyed(name, []string{""}, needs...)
}

func (b *camp) keyed(name string, keys []string, needs ...string) *camp {
	t := &lang.Task{Name: name, Kind: lang.Command, Range: at(len(b.c.Tasks)*10 + 1)}
	for i, need := range needs {
		n, mark := need, byte(0)
		if strings.ContainsRune("~>!", rune(need[0])) {
			n, mark = need[1:], need[0]
		}
		ref := lang.Ref{Task: n, Kind: lang.DataRef, How: "refers to", Range: at(int(t.Range.Start.Line) + 1 + i)}
		if mark == '>' {
			ref.Kind, ref.How = lang.OrderRef, "comes after"
		}
		ref.Tolerate = mark == '~'
		t.Refs = append(t.Refs, ref)
	}
	for _, key := range keys {
		inst := &lang.Instance{Settings: &lang.Settings{}, Task: t, Address: lang.Address{Task: name, Key: key}}
		for i, ref := range t.Refs {
			for _, on := range b.addresses(ref.Task) {
				inst.Needs = append(inst.Needs, lang.Need{On: &on, Kind: ref.Kind, Tolerate: ref.Tolerate, All: needs[i][0] == '!'})
			}
		}
		t.Instances = append(t.Instances, inst)
	}
	t.Keyed = len(keys) > 1
	b.c.Tasks = append(b.c.Tasks, t)
	return b
}

func (b *camp) expand(name string, needs ...string) *camp {
	b.task(name, needs...)
	t := b.last()
	t.Keyed, t.Expand = true, &lang.Expand{Range: t.Range}
	return b
}

func (b *camp) last() *lang.Task { return b.c.Tasks[len(b.c.Tasks)-1] }

func (b *camp) addresses(task string) []lang.Address {
	for _, t := range b.c.Tasks {
		if t.Name == task && t.Expand == nil {
			var as []lang.Address
			for _, i := range t.Instances {
				as = append(as, i.Address)
			}
			return as
		}
	}
	return []lang.Address{{Task: task}}
}

func at(line int) lang.Range {
	l := int32(line)
	return lang.Range{File: "campaign.hcl", Start: lang.Pos{Line: l, Column: 3}, End: lang.Pos{Line: l, Column: 9}}
}

func (b *camp) build(t *testing.T) *Graph {
	t.Helper()
	g, ds := Build(b.c)
	require.Empty(t, ds)
	return g
}

// names prints nodes by address.
func names(g *Graph, ids []NodeID) []string {
	out := []string{}
	for _, id := range ids {
		out = append(out, g.Node(id).Address.String())
	}
	return out
}

func id(t *testing.T, g *Graph, address string) NodeID {
	t.Helper()
	a, err := lang.ParseAddress(address)
	require.NoError(t, err)
	id, ok := g.Find(a)
	require.True(t, ok, "no node %s", address)
	return id
}

func diamond() *camp {
	return newCamp().task("top", "left", "right").task("left", "bottom").task("right", "bottom").task("bottom")
}

func TestOrderIsTopologicalAndStable(t *testing.T) {
	g := diamond().build(t)
	require.Equal(t, []string{"bottom", "left", "right", "top"}, names(g, g.Order()))

	g = newCamp().task("b").task("a").task("c").build(t)
	require.Equal(t, []string{"b", "a", "c"}, names(g, g.Order()), "declaration order among equals")
}

func TestEdgesKnowWhatTheyCarryAndWhereTheyStand(t *testing.T) {
	g := newCamp().task("a").task("b").task("c").task("d").
		task("x", "a", "~b", ">c", "!d").build(t)
	edges := g.Deps(id(t, g, "x"))
	require.Len(t, edges, 4)
	for i, want := range []struct {
		to            string
		kind          EdgeKind
		tolerate, all bool
	}{{"a", Data, false, false}, {"b", Data, true, false}, {"c", Order, false, false}, {"d", Data, false, true}} {
		e := edges[i]
		require.Equal(t, want.to, g.Node(e.To).Address.Task)
		require.Equal(t, want.kind, e.Kind)
		require.Equal(t, want.tolerate, e.Tolerate)
		require.Equal(t, want.all, e.All)
		require.Equal(t, 42+i, int(e.Range.Start.Line))
	}
	require.Equal(t, "comes after", edges[2].How)
	require.Equal(t, []*Edge{&edges[0]}, slices.Collect(g.Dependents(id(t, g, "a"))))
}

func TestConeFollowsContentOnly(t *testing.T) {
	g := newCamp().task("src").task("read", "src").task("wait", ">src").task("far", "read").
		task("guard", "~read").task("else").build(t)
	require.Equal(t, []string{"src", "read", "far", "guard"}, names(g, g.Cone(id(t, g, "src"))))
	require.Equal(t, []string{"src", "read", "wait", "far", "guard"}, names(g, g.Users(id(t, g, "src"))))
	require.Equal(t, []string{"src", "wait"}, names(g, g.Closure(id(t, g, "wait"))))
	require.Empty(t, g.Cone())
}

func TestPathIsShortest(t *testing.T) {
	g := newCamp().task("a").task("b", "a").task("c", "b").task("d", "c", "b").build(t)
	var hops []string
	for _, e := range g.Path([]NodeID{id(t, g, "d")}, []NodeID{id(t, g, "a")}) {
		hops = append(hops, fmt.Sprintf("%s>%s", g.Node(e.From).Address, g.Node(e.To).Address))
	}
	require.Equal(t, []string{"d>b", "b>a"}, hops)
	require.Nil(t, g.Path([]NodeID{id(t, g, "a")}, []NodeID{id(t, g, "d")}))
}

func TestSeriesIsAChainInOneTask(t *testing.T) {
	b := newCamp().task("s")
	task := b.last()
	task.Series, task.Instances = true, nil
	for i := range 3 {
		inst := &lang.Instance{Settings: &lang.Settings{}, Task: task, Address: lang.Address{Task: "s", Loop: i, Looped: true}}
		if i > 0 {
			inst.Needs = []lang.Need{{On: &lang.Address{Task: "s", Loop: i - 1, Looped: true}, Kind: lang.DataRef}}
		}
		task.Instances = append(task.Instances, inst)
	}
	g := b.build(t)
	require.Equal(t, []string{"s#0", "s#1", "s#2"}, names(g, g.Order()))
	require.Equal(t, "follows", g.Deps(1)[0].How)
	require.Empty(t, g.Cycles())
}

func TestBuildSurvivesBrokenCampaigns(t *testing.T) {
	b := newCamp().task("a", "nowhere").task("a").task("b", "a")
	b.c.Tasks = append(b.c.Tasks, &lang.Task{Name: "empty"})
	g, _ := Build(b.c)
	require.Equal(t, []string{"a", "b"}, names(g, g.Order()))
	require.Empty(t, g.Deps(0))
}

// TestAPathBetweenManyEndsLooksAtEachEdgeOnce asks for the path between all nodes of a long chain, of which there are 10^10
// pairs.
func TestAPathBetweenManyEndsLooksAtEachEdgeOnce(t *testing.T) {
	const n = 100_000
	c := layered(n)
	for i, task := range c.Tasks {
		task.Refs, task.Instances[0].Needs = nil, nil
		if i > 0 {
			task.Instances[0].Needs = []lang.Need{{On: &lang.Address{Task: c.Tasks[i-1].Name}, Kind: lang.DataRef}}
		}
	}
	g, _ := Build(c)
	all := g.Declared()
	require.Len(t, g.Path(all, all), 1)
	require.Len(t, g.Path(all[n-1:], all[:1]), n-1)
}

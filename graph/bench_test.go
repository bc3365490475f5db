package graph

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// layered is a campaign of n tasks, each with three data needs in the layer before.
func layered(n int) *lang.Campaign {
	const width = 100
	c := &lang.Campaign{Out: "out", Tasks: make([]*lang.Task, n)}
	for i := range n {
		t := &lang.Task{Name: fmt.Sprintf("t%d", i)}
		inst := &lang.Instance{Settings: &lang.Settings{}, Task: t, Address: lang.Address{Task: t.Name}}
		for k := range 3 {
			if up := (i/width-1)*width + (i*7+k*31)%width; up >= 0 {
				on := c.Tasks[up].Name
				t.Refs = append(t.Refs, lang.Ref{Task: on, Kind: lang.DataRef, How: "refers to"})
				inst.Needs = append(inst.Needs, lang.Need{On: &lang.Address{Task: on}, Kind: lang.DataRef})
			}
		}
		t.Instances = []*lang.Instance{inst}
		c.Tasks[i] = t
	}
	return c
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			c := layered(n)
			b.ReportAllocs()
			for b.Loop() {
				Build(c)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/node")
		})
	}
}

func BenchmarkCone(b *testing.B) {
	g, _ := Build(layered(100_000))
	for b.Loop() {
		g.Cone(0)
	}
}

// TestBuildAllocatesLinearly keeps the build from growing faster than the campaign: memory is
// counted, since a wall clock lies on a busy machine.
func TestBuildAllocatesLinearly(t *testing.T) {
	perNode := func(n int) float64 {
		c := layered(n)
		return testing.AllocsPerRun(1, func() { Build(c) }) / float64(n)
	}
	small, large := perNode(1_000), perNode(20_000)
	require.Less(t, large, 1.5*small+1)
}

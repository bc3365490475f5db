package graph

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

// mention makes a task b that mentions a in the given ways, one a line, below a text of its block.
func mention(text string, ways ...string) *lang.Campaign {
	c := newCamp().task("a").task("b").c
	b := c.Tasks[1]
	c.Files = []lang.SourceFile{{Path: "campaign.hcl", Bytes: []byte(text)}}
	b.Block = lang.Range{File: "campaign.hcl", End: lang.Pos{Byte: int32(len(text))}}
	for i, way := range ways {
		ref := lang.Ref{Task: "a", Kind: lang.DataRef, How: way, Tolerate: way == "tolerates", Range: at(20 + i)}
		ref.Range.Start.Byte, ref.Range.End.Byte = int32(i), int32(i+6)
		b.Mentions = append(b.Mentions, ref)
	}
	return c
}

func TestMentions(t *testing.T) {
	for name, tc := range map[string]struct {
		c    *lang.Campaign
		want string
	}{
		"one way":                    {mention("", "refers to"), ""},
		"redundant":                  {mention("", "depends on", "refers to"), "UF3004@20>21"},
		"redundant in either order":  {mention("", "refers to", "depends on"), "UF3004@21>20"},
		"a group is not redundant":   {mention("group.g", "depends on", "refers to"), ""},
		"through a local is no echo": {mention("", "refers to through local.x", "depends on"), ""},
		"both":                       {mention("", "depends on", "tolerates"), "UF3005@21>20"},
		"both, other order":          {mention("", "tolerates", "depends on"), "UF3005@21>20"},
		"no tree":                    {mention("", "tolerates", "inherits"), "UF3007@21>20"},
	} {
		_, ds := Build(tc.c)
		var got []string
		for _, d := range ds {
			got = append(got, fmt.Sprintf("%s@%d>%d", d.Code, d.Subject.Start.Line, d.Related[0].Range.Start.Line))
		}
		require.Equal(t, tc.want, strings.Join(got, " "), name)
	}
}

func TestNeedingATaskThatNeverRuns(t *testing.T) {
	for way, want := range map[string]int{"refers to": 1, "depends on": 1, "inherits": 1, "tolerates": 0} {
		c := mention("", way)
		c.Tasks[0].Never = true
		_, ds := Build(c)
		require.Len(t, ds, want, way)
		if want > 0 {
			require.Equal(t, "UF3008", ds[0].Code)
			require.EqualValues(t, 20, ds[0].Subject.Start.Line)
		}
	}
}

package graph

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/lang"
)

var update = flag.Bool("update", false, "write golden files anew")

// hostile has a cycle, a fan-out, every kind of edge and labels that try to break out.
func hostile() *Graph {
	b := newCamp().task("plan").keyed("lens", []string{"a", "b"}, "plan").expand("goals", "plan").
		task("report", "~lens", "goals", ">plan").task("x", "y").task("y", "x", "report")
	b.c.Name = `evil"]; -->\`
	b.c.Groups = []*lang.Group{{Name: "g", Label: "say \"hi\"\n]; end <b>#1</b> `x`", Color: "#aabbcc"}}
	b.c.Tasks[1].Group, b.c.Tasks[3].Group = "g", "g"
	g, _ := Build(b.c)
	return g
}

func TestRender(t *testing.T) {
	g := hostile()
	state := func(id NodeID) string { return []string{"fresh", "fresh", "stale", "unknown", "failed", "", ""}[id] }
	for _, tc := range []struct {
		file   string
		render func(io.Writer, RenderOptions) error
		o      RenderOptions
	}{
		{"nodes.dot", g.DOT, RenderOptions{State: state}},
		{"tasks.dot", g.DOT, RenderOptions{ByTask: true}},
		{"nodes.mmd", g.Mermaid, RenderOptions{State: state}},
		{"tasks.mmd", g.Mermaid, RenderOptions{ByTask: true, State: state}},
		{"nodes.txt", g.Text, RenderOptions{State: state}},
		{"tasks.txt", g.Text, RenderOptions{ByTask: true}},
		{"some.txt", g.Text, RenderOptions{Only: []NodeID{0, 1, 4}}},
		{"some-tasks.txt", g.Text, RenderOptions{ByTask: true, Only: []NodeID{0, 1, 4}}},
		{"nodes.svg", g.SVG, RenderOptions{State: state}},
		{"nodes.json", g.JSON, RenderOptions{State: state}},
	} {
		var out bytes.Buffer
		require.NoError(t, tc.render(&out, tc.o))
		file := filepath.Join("testdata", tc.file)
		if *update {
			require.NoError(t, os.MkdirAll("testdata", 0o755))
			require.NoError(t, os.WriteFile(file, out.Bytes(), 0o644))
		}
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want), out.String(), tc.file)
	}
}

func TestRenderedJSONParses(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, hostile().JSON(&out, RenderOptions{ByTask: true}))
	var doc jsonGraph
	require.NoError(t, json.Unmarshal(out.Bytes(), &doc))
	require.Len(t, doc.Nodes, 6)
	require.Equal(t, [][]string{{"x", "y"}}, doc.Cycles)
}

func TestDrawingIsXML(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, hostile().SVG(&out, RenderOptions{}))
	d := xml.NewDecoder(&out)
	for {
		_, err := d.Token()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
	}
	out.Reset()
	empty, _ := Build(newCamp().c)
	require.NoError(t, empty.SVG(&out, RenderOptions{}))
	require.Contains(t, out.String(), "</svg>")
}

func FuzzQuotesStayClosed(f *testing.F) {
	f.Add("a\"b\\\"c\n\x00#<")
	f.Fuzz(func(t *testing.T, s string) {
		inner := func(q string) string { return q[1 : len(q)-1] }
		require.NotContains(t, inner(mermaidQuote(s)), `"`)
		open := strings.NewReplacer(`\\`, "", `\"`, "").Replace(inner(dotQuote(s)))
		require.NotContains(t, open, `"`)
		require.NotContains(t, open, `\`)
		require.NotContains(t, dotQuote(s), "\n")
	})
}

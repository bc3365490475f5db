package query

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/ufbuild/ufbuild/graph"
	"github.com/ufbuild/ufbuild/lang"
)

// chain is a -> b-1 -> c, d -> c, and e alone; c reads src/*.go and writes c.txt.
func chain() *graph.Graph {
	c := &lang.Campaign{Out: "out"}
	add := func(name string, needs ...string) *lang.Instance {
		t := &lang.Task{Name: name}
		inst := &lang.Instance{Settings: &lang.Settings{}, Task: t, Address: lang.Address{Task: name}}
		for _, n := range needs {
			t.Refs = append(t.Refs, lang.Ref{Task: n, Kind: lang.DataRef})
			inst.Needs = append(inst.Needs, lang.Need{On: &lang.Address{Task: n}, Kind: lang.DataRef})
		}
		t.Instances = []*lang.Instance{inst}
		c.Tasks = append(c.Tasks, t)
		return inst
	}
	add("a", "b-1")
	add("b-1", "c")
	inst := add("c")
	inst.Inputs = []lang.Input{{Globs: []string{"src/*.go"}}}
	inst.Outputs = []lang.Output{{Name: "o", Path: "c.txt"}}
	add("d", "c")
	add("e")
	g, _ := graph.Build(c)
	return g
}

func TestRun(t *testing.T) {
	g := chain()
	for query, want := range map[string]string{
		"a":                           "a",
		"deps(a)":                     "c b-1",
		"deps( a )":                   "c b-1",
		"rdeps(c)":                    "b-1 a d",
		"cone(b-1)":                   "b-1 a",
		"path(a, c)":                  "a b-1 c",
		"path(c, a)":                  "",
		"path(e, a)":                  "",
		"path(a + d, c)":              "d c",
		"producer(out/c/c.txt)":       "c",
		"producer(:out/c/c.txt)":      "c",
		"producer(nothing)":           "",
		"consumers(src/x.go)":         "c",
		"deps(a) + e":                 "c b-1 e",
		"rdeps(c) & deps(a)":          "b-1",
		"rdeps(c) - cone(b-1)":        "d",
		"rdeps(c) - (d + a)":          "b-1",
		"rdeps(c) - d + d":            "b-1 a d",
		"deps(deps(a))":               "",
		"cone(producer(out/c/c.txt))": "c b-1 a d",
		`"a"`:                         "a",
		`task.a`:                      "a",
		"deps(path(a, b-1))":          "c",
	} {
		r, err := Run(g, query, nil)
		require.NoError(t, err, query)
		var names []string
		for _, id := range r.Nodes {
			names = append(names, g.Node(id).Address.String())
		}
		require.Equal(t, want, strings.Join(names, " "), query)
	}
}

func TestAnEmptyAnswerSaysWhy(t *testing.T) {
	g := chain()
	for query, want := range map[string]string{
		"a":                            "",
		"path(c, a)":                   "c does not need a; it is the other way round: path(a, c)",
		"path(e, a)":                   "e does not need a",
		"path(c - c, a)":               "no task is meant by this",
		"path(c - (d - a), a)":         "c - (d - a) does not need a; it is the other way round: path(a, c - (d - a))",
		"producer(nothing)":            "no task writes nothing",
		`producer("a b, c")`:           `no task writes "a b, c"`,
		"consumers(:x)":                "no task names :x",
		"deps(c)":                      "c needs no task",
		"rdeps(a)":                     "no task needs a",
		"rdeps(producer(nothing))":     "no task writes nothing",
		"cone(a - a)":                  "no task is meant by this",
		"rdeps( deps(a)+a & a )":       "no task needs deps(a) + a & a",
		"@failed":                      "no task failed",
		"deps(@stale)":                 "no task is stale",
		"path(c, producer(out/x/x.y))": "no task writes out/x/x.y",
	} {
		r, err := Run(g, query, nil)
		require.NoError(t, err, query)
		require.Equal(t, want, r.None, query)
	}
}

func TestPathTellsTheEdges(t *testing.T) {
	r, err := Run(chain(), "path(a,c)", nil)
	require.NoError(t, err)
	require.Len(t, r.Edges, 2)
}

func TestMistakesAreExplained(t *testing.T) {
	g := chain()
	for query, want := range map[string]string{
		"":                  "missing at the end",
		"dep(a)":            `did you mean "deps"?`,
		"frob(a)":           "there are cone, consumers",
		"deps(a":            "not closed",
		"deps()":            "takes 1 argument",
		"path(a)":           "takes 2 argument",
		"(a":                "closing parenthesis",
		`"a`:                "closing quote",
		"a b":               `"b" is left over`,
		"a + ":              "missing at the end",
		"deps(aa)":          "No task matches",
		"producer(deps(a))": "takes a path",
	} {
		_, err := Run(g, query, nil)
		require.ErrorContains(t, err, want, query)
	}
	_, err := Run(g, strings.Repeat("(", 500), nil)
	require.ErrorContains(t, err, "nested")
}

func FuzzParseNeverPanics(f *testing.F) {
	for _, s := range []string{`deps(a) + "b" - (task.x["k"] & path(a,b))`, "((", `"`, "[", "a)"} {
		f.Add(s)
	}
	g := chain()
	f.Fuzz(func(t *testing.T, s string) {
		_, first := Run(g, s, nil)
		_, again := Run(g, s, nil)
		require.Equal(t, first == nil, again == nil)
	})
}
